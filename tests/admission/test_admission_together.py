"""A block of designs comes to the same whichever is judged first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from designs import HONEST, flawed

from spade_envs import Panel, Registry
from spade_envs.admission import GateResult, Report, Settings, together
from spade_envs.contract import Finding, code_sha256
from spade_envs.errors import IsolationError
from spade_envs.registry import refused_designs, stack

QUICK = Settings(reset_seeds=20, expert_seeds=10, more_expert_seeds=0, replayed_seeds=2)
SOURCES = [HONEST.replace("LampHunt", f"Together{name}") for name in ("One", "Two")]


@pytest.fixture(autouse=True)
def own_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPADE_REGISTRY", str(tmp_path / "user"))
    monkeypatch.setenv(stack.ADDED, "")


def report(source: str, passed: bool = True) -> Report:
    findings = () if passed else (Finding("solvable.expert", "it fails", "Mend it."),)
    name = "TogetherOne" if "TogetherOne" in source else "TogetherTwo"
    return Report(
        f"spade/{name}-v0", code_sha256(source), (GateResult("solvable", passed, {}, findings),), 0.1
    )


def backwards(monkeypatch: pytest.MonkeyPatch, *, broken: bool = False) -> list[dict[str, Any]]:
    """Judges whose last verdict comes first; return what they were told."""
    told: list[dict[str, Any]] = []

    def judge_many(sources: Sequence[str], **options: Any) -> Iterator[tuple[int, Any]]:
        told.append({"sources": list(sources), **options})
        for place in reversed(range(len(sources))):
            yield place, IsolationError("no workers") if broken else report(sources[place])

    monkeypatch.setattr(together, "judge_many", judge_many)
    return told


def test_designs_are_settled_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = backwards(monkeypatch)
    registry = Registry(tmp_path / "own")
    panel = Panel(registry, run="r", round=3, document="A long text.")
    sources = [SOURCES[0], SOURCES[0], SOURCES[1]]
    done = panel.settle(sources, panel.judge(sources))
    names = ["spade/TogetherOne-v0", "spade/TogetherOne-v0", "spade/TogetherTwo-v0"]
    assert [one.id for one in done] == names, "the same run and round gets its version back"
    assert told[0]["around"].document == "A long text."
    assert registry.report(registry.ids()[0])["round"] == 3


def test_a_round_that_is_repeated_is_not_judged_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = backwards(monkeypatch)
    registry = Registry(tmp_path / "own")
    for _ in range(2):
        panel = Panel(registry, run="r", round=0)
        (done,) = panel.settle(SOURCES[:1], panel.judge(SOURCES[:1]))
        assert done.id == "spade/TogetherOne-v0"
    assert [len(call["sources"]) for call in told] == [1, 0]
    other = Panel(registry, run="other", round=0)
    (refused,) = other.settle(SOURCES[:1], other.judge(SOURCES[:1]))
    assert refused.id is None


def test_a_machine_that_cannot_judge_is_no_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    backwards(monkeypatch, broken=True)
    with pytest.raises(IsolationError, match="no workers"):
        Panel(Registry(tmp_path / "own")).judge(SOURCES)
    assert not (tmp_path / "own").exists() or Registry(tmp_path / "own").ids() == []


def test_real_judges_see_what_is_wrong_with_one_of_two(tmp_path: Path) -> None:
    registry, sources = Registry(tmp_path / "own"), [flawed("solvable.expert"), "no python ("]
    panel = Panel(registry, settings=QUICK)
    done = panel.settle(sources, panel.judge(sources, jobs=2))
    assert [one.id for one in done] == [None, None]
    assert len(list(refused_designs(registry.root))) == 2
