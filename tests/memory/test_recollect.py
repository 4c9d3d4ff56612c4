"""A registry remembers for whoever designs outside of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from spade_envs import Registry, admit
from spade_envs.records import Measured
from spade_envs.registry import keep_round
from spade_train.cli import main
from spade_train.designer.slots import render, templates
from spade_train.memory.recollect import recollect

FOX = render(templates()["hunt"].examples[0], 3)


def test_what_a_registry_holds_and_refused_is_remembered_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    registry = Registry(tmp_path / "mine")
    assert len(recollect(registry)) == 0
    made = admit(FOX, registry, run="r", round=3)
    assert made.id is not None
    keep_round(
        registry, "r", 3, measured=[Measured(made.id, "r", 3, 8, 8, 0, 0.5, 0.5, 0.75, 0.25, 0.0, 0.5)]
    )
    broken = FOX.replace("Fox Den", "Fox Hole").replace(
        "return self._possible[len(self._possible) // 2]", "return 1"
    )
    assert admit(broken, registry, run="r", round=4).id is None
    memory = recollect(registry)
    good, bad = memory.records
    assert (good.id, good.success, good.regret, good.round) == (made.id, 0.5, 0.25, 3)
    assert (bad.refused, bad.round) == (True, 4)
    assert [one.kind for one in memory.recall(5)] == ["good"], "they have one idea"
    (lesson,) = memory.lessons()
    assert "expert" in lesson.reason
    assert len(recollect(registry, limit=2)) == 2
    words = ["design", "--dry_run", "--no_corpus", "--registry", str(registry.root)]
    main(words)
    assert "Good before: Fox Den: Name the secret number of the fox. Success 0.50" in capsys.readouterr().out
    main([*words, "--no_memory"])
    assert "before" not in capsys.readouterr().out.partition("--- user")[2]
