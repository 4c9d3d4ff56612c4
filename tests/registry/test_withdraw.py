"""What a run takes back moves aside; nothing is deleted, and its number is free again."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import pytest
from small_designs import design

from spade_envs import Registry, add_registry, keep_only, make_text
from spade_envs.records import Query, reading
from spade_envs.registry import stack


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    registry = Registry(tmp_path / "own")
    for number in range(3):
        registry.add(design(step=f"self.number = {number}").replace("Sample", "Withdrawn"), {})
    return registry


def test_what_is_not_kept_moves_aside(registry: Registry, tmp_path: Path) -> None:
    (registry.root / "Withdrawn" / "v3.json").write_text("{}")  # a write that was cut off
    (registry.root / "refused").mkdir()
    (registry.root / "refused" / "abc.py").write_text("kept")
    source = registry.root / "Withdrawn" / "v1.py"
    text = source.read_text()
    moved = keep_only(registry, {"spade/Withdrawn-v0"}, tmp_path / "aside")
    assert sorted(path.name for path in moved) == ["v1.json", "v1.py", "v2.json", "v2.py", "v3.json"]
    assert (tmp_path / "aside" / "Withdrawn" / "v1.py").read_text() == text
    assert [str(env_id) for env_id in registry.ids()] == ["spade/Withdrawn-v0"]
    assert registry.next_version("Withdrawn") == 1
    assert (registry.root / "refused" / "abc.py").exists()


def test_an_empty_folder_goes_and_a_second_time_does_nothing(registry: Registry, tmp_path: Path) -> None:
    assert len(keep_only(registry, (), tmp_path / "aside")) == 6
    assert not (registry.root / "Withdrawn").exists()
    assert keep_only(registry, (), tmp_path / "aside") == []
    assert keep_only(Registry(tmp_path / "nowhere"), (), tmp_path / "aside") == []
    assert not (tmp_path / "nowhere").exists()


def test_what_another_process_admits_is_met_when_it_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(stack.ADDED, "")
    add_registry(tmp_path / "own")
    name = "spade/MetLater-v0"
    with pytest.raises(gymnasium.error.NameNotFound):
        make_text(name)
    Registry(tmp_path / "own").add(design().replace("Sample", "MetLater"), {})  # as another process does
    env = make_text(name)
    try:
        assert "turn 0" in env.reset(seed=0)[0]
    finally:
        env.close()


def test_the_next_version_takes_nothing_over_from_one_that_went(registry: Registry, tmp_path: Path) -> None:
    keep_only(registry, {"spade/Withdrawn-v0"}, tmp_path / "aside")
    again = registry.add(design(step="self.number = 9").replace("Sample", "Withdrawn"), {})
    with registry.records.reading() as connection:
        (found,) = reading.listed(connection, Query(text="withdrawn"))
        assert (found.id, found.skills) == (str(again), ("counting",))
