"""Code is made once for each source, policy and Python, and by workers that have run nothing yet."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from small_designs import design

from spade_envs.contract import Rejection
from spade_envs.isolation import Worker, code_cache
from spade_envs.language import names


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The cache's folder, empty; nothing is in memory."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    code_cache.forget()
    code_cache._folder.cache_clear()
    yield code_cache._folder()
    code_cache.forget()
    code_cache._folder.cache_clear()


def first_observation(source: str = design(), spoil: Any = None) -> Any:
    worker = Worker.start()
    try:
        loaded = worker.load(source)
        assert not isinstance(loaded, Rejection)
        worker.make()
        return worker.reset(0, 0)[0]
    finally:
        worker.close()


def test_a_source_is_compiled_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first_observation()
    (name,) = os.listdir(folder)
    kept: list[str] = []
    monkeypatch.setattr(code_cache, "keep", lambda *arguments: kept.extend(arguments))
    code_cache.forget()  # as another process begins
    assert first_observation() == 0
    assert kept == []
    first_observation(design(reward="0.5"))
    assert len(kept) == 2
    assert os.listdir(folder) == [name]


def test_kept_code_is_what_runs() -> None:
    """Otherwise the tests above would pass with a cache that nobody reads."""
    other = design(observation_space="spaces.Discrete(9)", observation="7")
    first_observation(other)
    code_cache.keep(design(), code_cache.recall(other) or b"")
    assert first_observation() == 7


@pytest.mark.parametrize("damage", [lambda code: code[:-1], lambda code: b"", lambda code: b"x" + code])
def test_a_damaged_file_is_no_file(folder: Path, damage: Any) -> None:
    first_observation()
    (path,) = folder.iterdir()
    path.write_bytes(damage(path.read_bytes()))
    code_cache.forget()
    assert code_cache.recall(design()) is None
    assert first_observation() == 0
    assert code_cache.recall(design()) is not None


def test_refused_sources_are_not_kept(folder: Path) -> None:
    worker = Worker.start()
    assert isinstance(worker.load(design(step="import os")), Rejection)
    worker.close()
    assert not folder.exists()


def test_a_worker_that_ran_a_design_is_not_believed(folder: Path) -> None:
    worker = Worker.start()
    worker.load(design())
    worker.make()
    worker.load(design(reward="0.5"))
    worker.close()
    assert len(os.listdir(folder)) == 1


def test_a_folder_that_cannot_be_written_is_done_without(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.parent.parent.mkdir(parents=True)
    folder.parent.write_text("a file where the folder would be")
    assert first_observation() == first_observation() == 0
    code_cache.forget()
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    assert first_observation() == 0


def test_another_policy_has_a_folder_of_its_own(folder: Path) -> None:
    assert f"policy{names.POLICY_VERSION}-cpython" in folder.name


def test_the_oldest_files_go_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "MOST_FILES", 4)
    for number in range(5):
        code_cache.keep(f"source {number}", b"code")
        os.utime(folder / code_cache._key(f"source {number}"), (number, number))
    code_cache.forget()
    assert [code_cache.recall(f"source {number}") is not None for number in range(5)] == [False, False] + [
        True
    ] * 3


def test_memory_holds_a_bounded_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code_cache, "MOST_IN_MEMORY", 3)
    for number in range(9):
        code_cache._remember(str(number), b"")
    assert list(code_cache._memory) == ["6", "7", "8"]
