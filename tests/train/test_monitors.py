"""Each scripted cheat is caught by its monitor; honest runs of 20 rounds are silent; state goes there and back."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import pytest
from monitors import alarms
from simulated_rounds import CHEATS, HONEST, Simulation

from spade_train.monitors import (
    Alarm,
    DesignSeen,
    EnvironmentSeen,
    History,
    Limits,
    RoundSeen,
    echoes,
    is_quarantined,
    reward_ceiling,
    watch,
)
from spade_train.monitors.cheats import _lately
from spade_train.monitors.history import ENVIRONMENTS, ROUNDS, SEEDS, Past
from spade_train.rewards.uncertainty import Tally

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
@pytest.mark.parametrize("name", [name for name in HONEST if name != "forgets fast, hints always solve"])
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
    assert len(history.entropies) == len(history.agent_blocks) == ROUNDS
    assert max(len(past.plain) for past in history.environments.values()) <= ROUNDS
    many = tuple(EnvironmentSeen(f"e{n}", {s: Tally(1, 2) for s in range(9)}) for n in range(300))
    for number in range(9):
        history, _ = watch(history, RoundSeen(number, many))
    assert len(history.environments) == len(many)  # a round is never forgotten while it is judged
    history, _ = watch(history, RoundSeen(9, many[:3]))
    assert len(history.environments) == ENVIRONMENTS
    assert list(history.environments)[-3:] == ["e0", "e1", "e2"]
    assert max(len(past.seeds) for past in history.environments.values()) == SEEDS


def spread(wins: int, number: int) -> dict[int, Tally]:
    """Return the wins of 16 plays from four seeds of a round."""
    return {4 * number + n: Tally((wins + n) // 4, 4) for n in range(4)}


def heard(rounds: list[tuple[int, int]], others: int = 0) -> set[tuple[str, str | None]]:
    """Return who spoke in the last round, in which environment; each round is its wins without and with the hint.

    ``others`` environments have been played as often, too, and nothing has changed in them.
    """
    history, last = History(), ()
    for number, (plain, hinted) in enumerate(rounds):
        one = EnvironmentSeen("e", spread(plain, number), spread(hinted, number))
        same = [EnvironmentSeen(f"o{n}", spread(8, number), spread(8, number)) for n in range(others)]
        history, last = watch(history, RoundSeen(number, (one, *same)))
    return {(one.monitor, one.env_id) for one in last}


def test_who_forgets_everything_does_not_sabotage() -> None:
    assert heard([(15, 16)] * 6 + [(0, 0)] * 3) == set()
    assert heard([(15, 16)] * 6 + [(0, 16)] * 3) == {("sabotage", "e"), ("sabotage", None)}


def test_near_the_ceiling_hinted_play_seems_to_lose_less_and_that_is_no_sabotage() -> None:
    """Two from the log-odds of both: from .88 to .50 without the hint, from .98 to .88 with it."""
    assert heard([(14, 16)] * 6 + [(8, 14)] * 3) == set()
    assert heard([(15, 16)] * 6 + [(6, 16)] * 3) == set(), "so few plays may all succeed by chance"


def test_a_fall_in_one_environment_among_many_is_found_there() -> None:
    assert heard([(15, 16)] * 6 + [(0, 16)] * 3, others=9) == {("sabotage", "e")}


def test_a_little_in_each_of_many_environments_is_found_in_all_together() -> None:
    history, last = History(), ()
    for number in range(12):
        wins = 3 if number < 9 else 0
        seen = [
            EnvironmentSeen(f"e{n}", {number: Tally(wins, 4)}, {number: Tally(3, 4)})
            for n in range(number % 3, 24, 3)  # each in every third round
        ]
        history, last = watch(history, RoundSeen(number, tuple(seen)))
    assert {(one.monitor, one.env_id) for one in last} == {("sabotage", None)}
    assert reward_ceiling(last, "another") == 0.0  # the run's alarm is about every design


def test_harder_environments_that_come_late_are_no_fall() -> None:
    """Easy ones early, hard ones late: the mean falls, and in none of them has anything changed."""
    history = History()
    for number in range(12):
        late = number >= 9
        seen = [
            EnvironmentSeen("easy", spread(15, number), spread(12, number)),
            *(
                EnvironmentSeen(f"hard{n}", spread(1, number), spread(12, number))
                for n in range(6 if late or number == 0 else 0)
            ),
        ]
        history, last = watch(history, RoundSeen(number, tuple(seen)))
        assert last == ()


def test_lately_is_the_last_three_rounds() -> None:
    tallies = tuple(Tally(n, 8) for n in range(5))
    past = Past((1, 7, 8, 9, 10), plain=tallies, hinted=tallies)
    assert _lately(past, 10) == (Tally(9, 24), Tally(1, 16)) * 2
    assert _lately(past, 20) == (Tally(0, 0), Tally(10, 40)) * 2


def test_play_below_random_play_is_sabotage() -> None:
    def said(plain: int, hinted: int) -> set[str]:
        seen = EnvironmentSeen("e", spread(plain, 0), spread(hinted, 0), random=Tally(22, 25))
        return {one.monitor for one in watch(History(), RoundSeen(0, (seen,)))[1]}

    assert said(0, 16) == {"sabotage"}
    assert said(0, 0) == said(14, 16) == set()


def test_a_learner_that_goes_from_never_to_always_is_not_bimodal() -> None:
    history = History()
    for number in range(12):
        wins = 8 if number >= 6 else 0
        seen = EnvironmentSeen("e", {2 * number: Tally(wins, 8), 2 * number + 1: Tally(wins, 8)})
        history, heard = watch(history, RoundSeen(number, (seen,)))
        assert heard == ()


def test_an_agent_that_always_says_the_same_makes_no_design_bimodal() -> None:
    said: dict[float | None, set[str]] = {}
    for entropy in (None, 0.2, 0.001):
        history, heard = History(), []
        for number in range(12):
            seeds = {2 * number: Tally(8, 8), 2 * number + 1: Tally(0, 8)}
            once = EnvironmentSeen("e", seeds)
            history, alarms = watch(history, RoundSeen(number, (once, replace(once, plain={})), entropy))
            heard += alarms
            assert len(alarms) == len({(one.monitor, one.env_id) for one in alarms}), "each is said once"
        said[entropy] = {one.monitor for one in heard}
    assert said == {None: {"bimodal"}, 0.2: {"bimodal"}, 0.001: {"entropy"}}


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


def test_only_the_idea_that_is_left_earns_nothing() -> None:
    history, designs = (
        History(),
        (DesignSeen("a", "spade/A-v0"), DesignSeen("a"), DesignSeen("b", "spade/B-v0")),
    )
    last: tuple[Alarm, ...] = ()
    for number in range(16):
        history, last = watch(
            history, RoundSeen(number, designs=designs if number == 15 else (DesignSeen("a"),) * 3)
        )
    assert {(one.env_id, one.consequence) for one in last} == {("spade/A-v0", "capped"), (None, "reported")}
    assert (reward_ceiling(last, "spade/A-v0"), reward_ceiling(last, "spade/B-v0")) == (0.0, None)
    assert "47 of the last 48 designs have one idea (effectively 1.0 ideas)" in last[0].what
    _, silent = watch(history, RoundSeen(16))
    assert silent == (), "a round without designs says nothing of them"


def test_a_history_of_an_earlier_version_has_no_ideas() -> None:
    kept = History().as_json()
    del kept["ideas"]
    assert History.from_json(kept) == History()


@pytest.mark.parametrize(
    ("same", "others", "speaks"), [(12, 0, False), (14, 0, True), (40, 8, True), (30, 20, False)]
)
def test_few_designs_or_a_slight_majority_are_no_collapse(same: int, others: int, speaks: bool) -> None:
    designs = (DesignSeen("a"),) * same + tuple(DesignSeen(f"b{n}") for n in range(others))
    _, heard = watch(History(), RoundSeen(0, designs=designs))
    assert ({one.monitor for one in heard} == {"collapse"}) == speaks
