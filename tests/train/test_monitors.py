"""Each scripted cheat is caught by its monitor; honest runs of 20 rounds are silent; state goes there and back."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import pytest

from spade_train.monitors import (
    Alarm,
    EnvironmentSeen,
    History,
    Limits,
    RoundSeen,
    echoes,
    is_quarantined,
    reward_ceiling,
    watch,
)
from spade_train.monitors.history import ENVIRONMENTS, ROUNDS, SEEDS
from spade_train.rewards.uncertainty import Tally

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

from monitors import alarms
from simulated_rounds import CHEATS, HONEST, Simulation

BOTH = {0: Tally(4, 8), 1: Tally(4, 8)}


@pytest.mark.parametrize("group", [4, 8])
@pytest.mark.parametrize("name", CHEATS)
def test_a_cheat_is_caught_and_pays(name: str, group: int) -> None:
    cheat = CHEATS[name]
    heard = [one for one in alarms(cheat, 3, group, 20) if one.monitor == cheat.monitor]
    assert heard
    assert heard[0].round >= cheat.start
    first = heard[0]
    capped = first.consequence != "reported"
    assert reward_ceiling([first], first.env_id or "any") == (0.0 if capped else None)
    assert capped == (cheat.monitor not in ("entropy", "flat", "negative"))
    assert json.dumps(first.__dict__)


@pytest.mark.parametrize("group", [4, 8])
@pytest.mark.parametrize("name", [name for name in HONEST if name != "forgets"])
def test_twenty_honest_rounds_are_silent(name: str, group: int) -> None:
    for seed in (0, 1):
        assert alarms(HONEST[name], seed, group, 20) == []


def test_the_history_is_bounded_and_survives_json() -> None:
    run, history = Simulation(random.Random(0), 8), History()
    for number in range(2 * ROUNDS):
        seen = run.round(number)
        again = History.from_json(json.loads(json.dumps(history.as_json())))
        assert again == history
        assert watch(again, seen) == watch(history, seen)
        history, _ = watch(history, seen)
    assert len(history.entropies) == len(history.held_out) == ROUNDS
    assert max(len(past.plain) for past in history.environments.values()) <= ROUNDS
    many = tuple(EnvironmentSeen(f"e{n}", {s: Tally(1, 2) for s in range(9)}) for n in range(300))
    for number in range(9):
        history, _ = watch(history, RoundSeen(number, many))
    assert len(history.environments) == len(many)  # a round is never forgotten while it is judged
    history, _ = watch(history, RoundSeen(9, many[:3]))
    assert len(history.environments) == ENVIRONMENTS
    assert list(history.environments)[-3:] == ["e0", "e1", "e2"]
    assert max(len(past.seeds) for past in history.environments.values()) == SEEDS


def test_who_forgets_everything_does_not_sabotage() -> None:
    """The first policy was good with and without the hint; now it is good at neither."""
    lost = EnvironmentSeen(
        "e", {0: Tally(0, 16)}, {0: Tally(0, 16)}, base=Tally(15, 16), base_hinted=Tally(16, 16)
    )
    assert watch(History(), RoundSeen(0, (lost,)))[1] == ()
    kept = EnvironmentSeen(
        "e", {0: Tally(0, 16)}, {0: Tally(16, 16)}, base=Tally(15, 16), base_hinted=Tally(16, 16)
    )
    heard = watch(History(), RoundSeen(0, (kept,)))[1]
    assert {(one.monitor, one.env_id) for one in heard} == {("sabotage", "e"), ("sabotage", None)}
    assert reward_ceiling(heard, "another") == 0.0  # the run's alarm is about every design


def test_a_learner_that_goes_from_never_to_always_is_not_bimodal() -> None:
    history = History()
    for number in range(12):
        wins = 8 if number >= 6 else 0
        seen = EnvironmentSeen("e", {2 * number: Tally(wins, 8), 2 * number + 1: Tally(wins, 8)})
        history, heard = watch(history, RoundSeen(number, (seen,)))
        assert heard == ()


def test_held_out_play_that_falls_too_is_no_sabotage() -> None:
    def heard(held_out_now: int) -> set[str]:
        history, last = History(), ()
        for number in range(9):
            wins = 8 if number < 6 else 0
            seen = EnvironmentSeen("e", {number: Tally(wins, 8)}, {number: Tally(8, 8)})
            held_out = Tally(30 if number < 6 else held_out_now, 32)
            history, last = watch(history, RoundSeen(number, (seen,), held_out=held_out))
        return {one.monitor for one in last}

    assert heard(30) == {"sabotage"}
    assert heard(2) == set()


@pytest.mark.parametrize(
    ("blind", "silent"), [(Tally(8, 8), False), (Tally(6, 8), True), (Tally(3, 12), True), (None, True)]
)
def test_the_hint_alone(blind: Tally | None, silent: bool) -> None:
    heard = watch(History(), RoundSeen(0, (EnvironmentSeen("e", BOTH, BOTH, blind=blind),)))[1]
    assert (not heard) == silent
    assert is_quarantined(heard, "e") == (not silent)
    assert not is_quarantined(heard, "f")


def test_echoes_finds_only_what_the_hint_alone_tells() -> None:
    rules = "Walk north, south, east or west. Say the word at the gate."
    assert echoes(["say Xyzzy"], "The word is XYZZY.", [rules])
    assert not echoes(["north"], "Go north first.", [rules])
    assert not echoes(["say abracadabra"], "The word is XYZZY.", [rules])


def test_a_higher_limit_is_quieter() -> None:
    seen = RoundSeen(0, (EnvironmentSeen("e", BOTH, BOTH, blind=Tally(8, 8)),))
    assert watch(History(), seen, Limits(blind=0.9))[1] == ()


def test_alarms_that_only_report_change_nothing() -> None:
    alarm = Alarm("flat", None, 1, 32, 32, "", "reported")
    assert reward_ceiling([alarm], "e") is None
