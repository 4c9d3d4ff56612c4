"""Of runs that one subsystem holds back, the triage names it; of healthy ones it is silent, and of short ones, too."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest
from run_stories import HEALTHY, Story, tell

from spade_train.report.checks import limits
from spade_train.report.checks.limits import LEAST
from spade_train.report.reading import read_run
from spade_train.report.series import rise
from spade_train.report.triage import CHECKS, findings, holds_back, triage
from spade_train.report.values import Designs, Played, RoundFacts, RunFacts
from spade_train.report.verdict import Finding
from spade_train.rewards.uncertainty import Tally
from spade_train.runs.folder import RunFolder
from spade_train.runs.views import view_run

ILL = {
    "designs": (replace(HEALTHY, compiles=0.5), "in compiling"),
    "designs, runs": (replace(HEALTHY, runs=0.5), "in running"),
    "gates": (replace(HEALTHY, admits=0.2), "solvable.expert refuses most"),
    "difficulty, easy": (replace(HEALTHY, begins=(0.93, 1.0), learns=0.0), "were won nearly always:"),
    "difficulty, hard": (replace(HEALTHY, begins=(0.0, 0.04), learns=0.0, hint=0.0), "hardly ever won"),
    "regret": (replace(HEALTHY, hint=-0.1), "The hint does not help"),
    "agent": (replace(HEALTHY, learns=0.0, rounds=60), "does not get better"),
    "curriculum": (replace(HEALTHY, chooses="old", learns=0.02, rounds=45), "is old"),
    "held-out": (replace(HEALTHY, held_out=-0.3), "while the pool rises"),
    "forgetting": (replace(HEALTHY, forgets=0.2), "of the run's history"),
}


@pytest.mark.parametrize("name", ILL)
def test_what_holds_a_run_back_is_named_first(name: str, tmp_path: Path) -> None:
    story, words = ILL[name]
    found = findings(read_run(tell(tmp_path / "run", story, seed=1)))
    assert found[0][0] == name.partition(",")[0]
    assert words in found[0][1].found
    assert found[0][1].tries
    assert any(character.isdigit() for _, value in found[0][1].evidence for character in value)


@pytest.mark.parametrize(
    ("entropies", "said"), [((0.3, 0.001), True), ((0.3, 0.2), False), ((0.01, 0.01), False)]
)
def test_an_agent_that_came_to_say_the_same_is_taken_back(entropies: tuple[float, float], said: bool) -> None:
    view = view_run(RunFolder(Path("nowhere")))
    rounds = tuple(RoundFacts(n, signal=Tally(0, 5), entropy=entropies[n > 0]) for n in range(6))
    found = holds_back(triage(RunFacts(view, rounds=rounds)))
    assert found is not None
    assert isinstance(found.found, Finding)
    assert ("rollback" in found.found.tries[0]) == said


@pytest.mark.parametrize("seed", range(20))
def test_of_a_healthy_run_nothing_is_found(seed: int, tmp_path: Path) -> None:
    draw = random.Random(seed).uniform
    story = Story(
        rounds=round(draw(10, 30)),
        compiles=draw(0.9, 1),
        runs=draw(0.93, 1),
        admits=draw(0.6, 1),
        begins=(draw(0.1, 0.3), draw(0.4, 0.6)),
        learns=draw(0.04, 0.1),
        held_out=draw(0.05, 0.3),
        hint=draw(0.05, 0.4),
    )
    assert findings(read_run(tell(tmp_path / "run", story, seed))) == ()


def round_of(number: int, wins: int, plays: int, designs: Designs | None = None) -> RoundFacts:
    one = Played("spade/A-v0", 1, True, "", Tally(wins, plays), Tally(wins, plays))
    return RoundFacts(number, designs=designs or Designs(), played=(one,), signal=Tally(1, 1))


def run_of(template: RunFacts, *rounds: RoundFacts) -> RunFacts:
    return replace(template, rounds=rounds, evaluations=())


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> RunFacts:
    return read_run(tell(tmp_path_factory.mktemp("empty") / "run", replace(HEALTHY, rounds=0)))


def test_of_too_little_nothing_is_said(empty: RunFacts) -> None:
    assert {one.state for one in triage(empty)} == {"unknown"}
    three = run_of(empty, *(round_of(n, 0, 1, Designs(1, 0, 0, 0, 0)) for n in range(3)))
    assert {one.state for one in triage(three)} <= {"unknown", "fine"}
    assert holds_back(triage(three)) is None


def test_uncertainty_counts(empty: RunFacts) -> None:
    """The same share is a finding of many designs, and none of few."""
    for designs, found in ((LEAST - 1, False), (LEAST, False), (10 * LEAST, True)):
        ran = round(0.7 * designs)
        one = run_of(empty, round_of(0, 1, 2, Designs(designs, ran, ran, ran, ran)))
        assert any(name == "designs" for name, _ in findings(one)) == found


def test_what_was_mended_is_forgotten(empty: RunFacts) -> None:
    bad, good = Designs(32, 0, 0, 0, 0), Designs(32, 32, 32, 32, 32)
    bad_first = run_of(empty, *(round_of(n, 1, 2, bad if n < 2 else good) for n in range(4)))
    bad_last = run_of(empty, *(round_of(n, 1, 2, good if n < 2 else bad) for n in range(4)))
    assert findings(bad_first) == ()
    assert [name for name, _ in findings(bad_last)] == ["designs"]


def test_every_setting_that_is_named_exists(tmp_path: Path) -> None:
    """The trainer's own and TRL's: what a person is told to try must be there to be tried."""
    root = Path(__file__).parents[2] / "spade_train"
    texts = "".join(path.read_text() for path in (root / "report" / "checks").glob("*.py"))
    known = (root / "config.py").read_text()
    trl = {"learning_rate", "num_generations", "temperature", "max_completion_length", "beta", "status"}
    named = set(re.findall(r"--([a-z_]+)", texts))
    assert named
    assert {one for one in named - trl if f"    {one}: " not in known} == set()


def test_checks_are_asked_in_the_order_in_which_they_spoil_each_other() -> None:
    assert [one.name for one in CHECKS][:7] == [
        "designs",
        "gates",
        "difficulty",
        "regret",
        "agent",
        "curriculum",
        "held-out",
    ]
    assert all(one.asks.endswith("?") for one in CHECKS)


def test_a_finding_is_data(empty: RunFacts) -> None:
    one = run_of(empty, round_of(0, 1, 2, Designs(100, 0, 0, 0, 0, {"language.name": 100})))
    (verdict,) = [each for each in triage(one) if isinstance(each.found, Finding)]
    data = verdict.as_dict()
    assert data["state"] == "holds back"
    assert data["evidence"]["refused by language.name"] == "100"


def test_the_reference_knows_every_check_and_every_line() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "findings.md").read_text()
    rows = {row[1]: row[0] for row in re.findall(r"^(\| `([a-z-]+)` \|.*)$", page, re.MULTILINE)}
    assert list(rows) == [one.name for one in CHECKS]
    for one in CHECKS:
        assert f"| {one.subsystem} |" in rows[one.name]
    lines = {
        "designs": (limits.RUNS, limits.LEAST),
        "gates": (limits.ADMITTED, limits.LEAST),
        "difficulty": (limits.SEEN, limits.EXTREME, limits.EASY, limits.HARD, limits.PLAYS),
        "agent": (limits.SIGNAL, limits.FLAT, limits.ROUNDS),
        "curriculum": (limits.STALE, limits.ROUNDS, limits.LEAST),
        "forgetting": (limits.CHANCE,),
        "machine": (limits.FAULTS, limits.CUT),
    }
    for name, values in lines.items():
        for value in values:
            assert re.search(rf"\b{value}\b", rows[name]), (name, value)
    assert str(limits.LATELY) in page


def rising(empty: RunFacts, before: int, after: int, plays: int, rounds: int = 20) -> RunFacts:
    return run_of(empty, *(round_of(n, before if n < rounds // 2 else after, plays) for n in range(rounds)))


def test_a_small_rise_that_is_sure_is_no_finding(empty: RunFacts) -> None:
    for after, state in ((430, "fine"), (400, "holds back")):
        verdict = next(one for one in triage(rising(empty, 400, after, 1000)) if one.check == "agent")
        assert verdict.state == state
    few = next(one for one in triage(rising(empty, 4, 4, 10)) if one.check == "agent")
    assert few.state == "unknown", "a rise of ten points is not ruled out by a hundred plays"


def test_plays_of_one_seed_are_alike(empty: RunFacts) -> None:
    """The interval is that of a third as many independent plays."""
    found = rise(rising(empty, 500, 500, 1000).rounds)
    assert found is not None
    change, environments = found
    assert (change.value, environments) == (0.0, 1)
    assert change.high == pytest.approx(1.96 * (3 * 2 * 0.25 / 10_000) ** 0.5, rel=0.01)


def test_what_was_mastered_from_the_beginning_cannot_rise(empty: RunFacts) -> None:
    assert rise(rising(empty, 950, 960, 1000).rounds) is None


def test_what_is_not_played_to_its_end_is_said(empty: RunFacts) -> None:
    whole = [replace(round_of(n, 4, 8), ends={"terminated": 60, "context": 4}) for n in range(5)]
    cut = [replace(round_of(n, 4, 8), ends={"terminated": 30, "context": 30}) for n in range(5)]
    faulty = [replace(round_of(n, 4, 8), ends={"terminated": 50, "fault": 10}) for n in range(5)]
    skipped = [replace(one, skipped="no space") for one in whole]
    words = {"50% of the plays ran out of tokens": cut, "17% of the plays ended by a fault": faulty}
    for said, rounds in (words | {"5 rounds were skipped": skipped}).items():
        found = dict(findings(run_of(empty, *rounds)))["machine"]
        assert (said in found.found, found.severity) == (True, "look")
    assert "machine" not in dict(findings(run_of(empty, *whole)))


def test_what_the_watch_said_is_repeated(empty: RunFacts) -> None:
    rounds = [
        replace(round_of(n, 4, 8), alarms=("collapse: one idea (reported)",) if n == 9 else ())
        for n in range(20)
    ]
    assert "watch" not in dict(findings(run_of(empty, *rounds)))
    assert "collapse" in dict(findings(run_of(empty, *rounds[:15])))["watch"].found
