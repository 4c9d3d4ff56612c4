"""Gates are pure functions: each is shown evidence that was made up, good and bad."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from designs import HONEST
from gymnasium import spaces

from spade_envs.admission import gates, hint_gate, level_gate, short_cut_gate
from spade_envs.admission.evidence import Episode, Evidence, Fault, Memory
from spade_envs.admission.settings import Settings
from spade_envs.admission.severity import severity_of
from spade_envs.admission.sheet import Sheet
from spade_envs.contract import Header, parse_header


def evidence(*episodes: Episode, **changes: Any) -> Evidence:
    header = parse_header(HONEST)
    assert isinstance(header, Header)
    return Evidence(replace(header, difficulty_levels=2), episodes=list(episodes), **changes)


def rules(gate: Any, seen: Evidence) -> set[str]:
    sheet = Sheet("gate")
    gate(seen, Settings(), sheet)
    return {finding.rule for finding in sheet.result().findings}


def won(**changes: Any) -> Episode:
    base = Episode("expert", 1, 0, (3, 4), 1.0, terminated=True, success=True, hints=("Halve it.",) * 2)
    return replace(base, **changes)


def lost(**changes: Any) -> Episode:
    return replace(won(), total=0.0, success=False, terminated=False, truncated=True, **changes)


def test_every_success_must_return_more_than_every_failure_of_its_level() -> None:
    assert rules(gates.reward, evidence(won(), lost())) == set()
    assert rules(gates.reward, evidence(won(total=0.3), lost(policy="uniform"), won(level=2))) == set()
    worse = lost(policy="uniform")
    assert rules(gates.reward, evidence(won(), replace(worse, total=1.0))) == {"reward.order"}
    assert rules(gates.reward, evidence(won(), replace(worse, total=1.0, level=2))) == set()
    assert rules(gates.reward, evidence(won(), replace(worse, total=1.0, truncated=False))) == set()


@pytest.mark.parametrize(("total", "broken"), [(1.0, False), (-1.0, False), (1.001, True), (-1.2, True)])
def test_the_bound_on_returns(total: float, broken: bool) -> None:
    assert ("reward.bound" in rules(gates.runs, evidence(won(total=total)))) is broken


def test_breaches_are_named_once() -> None:
    odd = won(breaches=(("reward.goes-on", "it goes on"),))
    assert rules(gates.reward, evidence(odd, replace(odd, seed=1))) == {"reward.goes-on"}


def test_one_lost_seed_is_enough_to_refuse() -> None:
    both = [won(seed=k, level=level) for k in range(19) for level in (1, 2)]
    assert rules(gates.solvable, evidence(*both)) == set()
    assert rules(gates.solvable, evidence(*both, lost(seed=19))) == {"solvable.expert"}


def test_repeated_episodes_must_agree_in_every_turn() -> None:
    first = won(trace=(1, 2, 3), views=(7, 8))
    same, other, shorter = (
        replace(first, views=()),
        replace(first, trace=(1, 9, 3)),
        replace(first, trace=(1, 2)),
    )
    assert gates.first_difference(first, same) is None
    assert gates.first_difference(first, other) == 1
    assert gates.first_difference(first, shorter) == 2
    assert gates.first_difference(first, replace(first, views=(7, 9))) == 1
    assert rules(gates.determinism, evidence(pairs=[(first, same)])) == set()
    assert rules(gates.determinism, evidence(pairs=[(first, same), (first, other)])) == {
        "determinism.differs"
    }


def test_a_fault_is_reported_with_the_episode_that_met_it() -> None:
    sheet = Sheet("runs")
    failing = lost(seed=5, policy="held 2", fault=Fault("raised", "step: IndexError"))
    gates.faults(evidence(failing), sheet)
    result = sheet.result()
    assert not result.passed
    assert result.findings[0].rule == "runs.raised"
    assert "seed 5" in result.findings[0].found
    assert result.as_dict()["saw"]["episode"] == {
        "policy": "held 2",
        "level": 1,
        "seed": 5,
        "actions": [3, 4],
    }


def plays(policy: str, wins: int, of: int, level: int = 1) -> list[Episode]:
    return [(won if k < wins else lost)(policy=policy, seed=k, level=level) for k in range(of)]


@pytest.mark.parametrize(
    ("policy", "rule"),
    [
        ("uniform", "short-cut.random"),
        ("another's actions", "short-cut.replay"),
        ("hint's text", "short-cut.hint"),
        ("hint's words", "short-cut.hint-words"),
        ("hints, step by step", "short-cut.hint-steps"),
        ("every answer at once", "short-cut.superset"),
        ("wrong answer", "short-cut.verifier"),
        ("held 3", "short-cut.constant"),
    ],
)
def test_a_short_cut_may_win_a_quarter(policy: str, rule: str) -> None:
    assert rules(short_cut_gate.short_cut, evidence(*plays(policy, 30, 100))) == set()
    assert rules(short_cut_gate.short_cut, evidence(*plays(policy, 40, 100))) == {rule}
    assert rules(
        short_cut_gate.short_cut, evidence(*plays(policy, 0, 12), *plays(policy, 9, 12, level=2))
    ) == {rule}


def test_a_wrong_answer_proves_nothing_where_no_answer_is_needed() -> None:
    shown = [*plays("wrong answer", 12, 12), *plays("empty answer", 12, 12)]
    assert rules(short_cut_gate.short_cut, evidence(*shown)) == set()


def test_the_expert_is_no_short_cut() -> None:
    assert (
        rules(short_cut_gate.short_cut, evidence(*plays("expert", 20, 20), *plays("spoilt expert", 20, 20)))
        == set()
    )


def test_levels_are_compared_by_random_success_first() -> None:
    easier = [*plays("uniform", 2, 100), *plays("uniform", 20, 100, level=2)]
    assert rules(level_gate.difficulty, evidence(*easier)) == {"difficulty.order"}
    harder = [*plays("uniform", 20, 100), *plays("uniform", 2, 100, level=2)]
    assert rules(level_gate.difficulty, evidence(*harder)) == set()


def test_levels_are_compared_by_the_experts_steps_where_random_play_never_wins() -> None:
    long = [won(seed=k, actions=(0,) * (9 + k % 3)) for k in range(20)]
    short = [won(seed=k, actions=(0,) * (3 + k % 3)) for k in range(20)]
    down = [*long, *(replace(e, level=2) for e in short)]
    up = [*short, *(replace(e, level=2) for e in long)]
    assert rules(level_gate.difficulty, evidence(*down)) == {"difficulty.order"}
    assert rules(level_gate.difficulty, evidence(*up)) == set()
    random = [*plays("uniform", 3, 50), *plays("uniform", 3, 50, level=2)]
    assert rules(level_gate.difficulty, evidence(*down, *random)) == set()


def test_levels_that_play_alike_are_noted() -> None:
    def shown(level: int, steps: int, task: str, wins: int) -> list[Episode]:
        experts = [won(seed=k, level=level, actions=(0,) * steps, first=(task, {})) for k in range(20)]
        return [*experts, *plays("uniform", wins, 25, level)]

    easy = shown(1, 3, "add one", 0)
    same = evidence(*easy, *shown(2, 3, "add two", 0))
    assert rules(level_gate.difficulty, same) == {"difficulty.alike"}
    assert severity_of("difficulty.alike") == "warn"
    for harder in (shown(2, 4, "add one", 0), shown(2, 3, "add one, two", 0)):
        assert rules(level_gate.difficulty, evidence(*easy, *harder)) == set()
    rarer = evidence(*shown(1, 3, "add one", 10), *shown(2, 3, "add one", 0))
    assert rules(level_gate.difficulty, rarer) == set()
    tighter = evidence(*shown(1, 3, "8 left", 0), *shown(2, 3, "6 left", 0))
    assert rules(level_gate.difficulty, tighter) == set()


def looks(*blocks: int, steps: int = 100, peak_mb: int = 60) -> dict[str, list[Memory]]:
    return {"an episode": [Memory(steps, 20, held, peak_mb) for held in blocks]}


def test_what_every_repetition_keeps_is_a_leak() -> None:
    assert rules(gates.runs, evidence(won(), memory=looks(0, 900, 900))) == set()  # a cache that fills
    assert rules(gates.runs, evidence(won(), memory=looks(0, 100, 200, 300))) == {"runs.memory"}
    assert rules(gates.runs, evidence(won(), memory=looks(0, 100, 200, 200))) == set()
    both = looks(0, 0, 0) | {"another": looks(0, 100, 200)["an episode"]}
    assert rules(gates.runs, evidence(won(), memory=both)) == {"runs.memory"}


def instance(space: spaces.Space, **changes: Any) -> Any:
    return SimpleNamespace(**{"action_space": space, "tools": [], "action_names": None, **changes})


MANY, FEW = spaces.Discrete(100), spaces.Discrete(4)
TEXT = spaces.Text(40)
LETTERS = instance(spaces.Discrete(12), action_names=tuple(f"door {c}" for c in "abcdefghijkl"))
GRID = instance(spaces.MultiDiscrete([5, 5]))
TOOL = instance(TEXT, tools=[{"function": {"name": "open"}}])


@pytest.mark.parametrize(
    ("action", "said", "where", "leaks"),
    [
        (37, "Try 37 now.", instance(MANY), True),
        (37, "Try 137 now.", instance(MANY), False),
        (3, "Go 3 up.", instance(FEW), False),
        (2, "Open door C.", LETTERS, True),
        (2, "Open a door.", LETTERS, False),
        ((2, 3), "Choose (2, 3).", GRID, True),
        ((2, 3), "2 of 3 are left.", GRID, False),
        ("anchor", "It is an Anchor.", instance(TEXT), True),
        ("a", "Ask for a letter.", instance(TEXT), False),
        ("7", "It is 7.", instance(TEXT), True),
        ({"name": "open", "arguments": {"order": "A123"}}, "Look A123 up.", TOOL, True),
        ({"name": "open", "arguments": {"order": "A1", "all": True}}, "Look A1 up.", TOOL, False),
        ({"name": "open", "arguments": {}}, "Open it.", TOOL, False),
    ],
)
def test_a_hint_leaks_when_it_names_an_action_that_is_hard_to_guess(action, said, where, leaks) -> None:
    episode = won(actions=(action,), hints=(said,))
    assert (hint_gate.leaked(episode, where) is not None) is leaks


@pytest.mark.parametrize(
    ("action", "said", "where", "leaks"),
    [
        ("anchor", "Spell it: A-N-C-H-O-R.", instance(TEXT), True),
        ("anchor", "Begin with an a, then n and c; h, o, r end it.", instance(TEXT), True),
        ("anchor", "It begins with 'anc' and ends with 'hor'.", instance(TEXT), True),
        ("red blue green", "First red, after that blue and at last green.", instance(TEXT), True),
        ("12 5 7", "There are 12 in the first row, 5 in the next, 7 below.", instance(TEXT), True),
        ((12, 5, 37), "Set 12 and 5, and the last to 37.", instance(spaces.MultiDiscrete([50] * 3)), True),
        ({"name": "open", "arguments": {"code": "X7K9"}}, "The code is X7, then K9.", TOOL, True),
        ("anchor", "Ships hold on to the ground by it.", instance(TEXT), False),
        ("12 5 7", "Of 12 rows, look at the 7th and the 5th.", instance(TEXT), False),
        ("an", "A, then n.", instance(TEXT), False),  # too short to tell it from chance
    ],
)
def test_a_hint_leaks_that_tells_an_action_in_pieces(action, said, where, leaks) -> None:
    assert (hint_gate.leaked(won(actions=(action,), hints=(said,)), where) is not None) is leaks


def test_a_hint_may_not_be_spread_over_the_states() -> None:
    shown = won(actions=("look", "anchor"), hints=("First comes anc.", "Then comes hor."))
    assert hint_gate.leaked(shown, instance(TEXT)) == "anchor"
    assert hint_gate.leaked(replace(shown, hints=("First comes anc.", "Look again.")), instance(TEXT)) is None


def test_a_coincidence_is_no_leak() -> None:
    named, quiet = won(actions=(37,), hints=("Try 37.",)), won(actions=(37,), hints=("Halve it.",))
    for leaks, expected in ((2, set()), (8, {"hint.leak"})):
        shown = [replace(named if k < leaks else quiet, seed=k) for k in range(20)]
        assert rules(hint_gate.hint, evidence(*shown, instances={1: instance(MANY)})) == expected


def test_hints_are_short_and_there() -> None:
    assert rules(hint_gate.hint, evidence(won(hints=("word " * 100,)))) == set()
    assert rules(hint_gate.hint, evidence(won(hints=("word " * 101,)))) == {"hint.long"}
    assert rules(hint_gate.hint, evidence(won(hints=("go", " ")))) == {"hint.empty"}
