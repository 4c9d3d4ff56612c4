"""One registry: versions are immutable, hashed, never lost or doubled, and a bad file stops nothing."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import stat
import threading
import time
import warnings
from pathlib import Path

import pytest

from spade_envs.contract import EnvId, code_sha256, file_sha256
from spade_envs.errors import RegistryError, UnknownEnvironment
from spade_envs.registry import Registry, RegistryWarning, files

SOURCE = """# /// spade
# id = "spade/{name}-v0"
# title = "A design"
# summary = "For tests of the registry; never run."
# domain = "games"
# skills = ["testing"]
# origin = "seed"
# max_episode_steps = 5
# license = "Apache-2.0"
# contract = 1
# ///
ANSWER = {answer}
"""


def source(name: str = "Widget", answer: int = 0) -> str:
    return SOURCE.format(name=name, answer=answer)


def test_what_is_added_can_be_read_by_another_process(tmp_path: Path) -> None:
    env_id = Registry(tmp_path).add(source(), {"gates": [], "run": "r"})
    other = Registry(tmp_path)
    assert other.ids() == [env_id] == [EnvId("Widget", 0)]
    assert other.source(env_id) == source()
    assert other.header(env_id).title == "A design"
    report = other.report(env_id)
    assert report["run"] == "r"
    assert report["id"] == "spade/Widget-v0"
    assert report["code_sha256"] == code_sha256(source())
    assert report["file_sha256"] == file_sha256(other.path(env_id).read_text())
    assert other.find_code(code_sha256(source())) == env_id
    assert other.find_code(code_sha256(source(answer=1))) is None


def test_versions_count_up_and_the_id_line_follows(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    ids = [registry.add(source(answer=k), {}) for k in range(3)]
    assert [i.version for i in ids] == [0, 1, 2]
    assert 'id = "spade/Widget-v2"' in registry.source(ids[2])
    assert registry.add(source(answer=9), {}, floor=7).version == 7
    assert [str(i) for i in registry.ids()][-1] == "spade/Widget-v7"


def test_versions_sort_as_numbers_and_a_number_is_not_used_twice(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    for k in range(11):
        registry.add(source(answer=k), {})
    assert [i.version for i in registry.ids()] == list(range(11))
    registry.path(EnvId("Widget", 10)).unlink()  # as after a crash between the two files
    assert registry.add(source(answer=99), {}).version == 11


def test_nothing_is_left_but_the_two_files(tmp_path: Path) -> None:
    Registry(tmp_path).add(source(), {})
    assert sorted(p.name for p in (tmp_path / "Widget").iterdir()) == ["v0.json", "v0.py"]
    assert stat.S_IMODE((tmp_path / "Widget" / "v0.py").stat().st_mode) == 0o644


def _add_many(root: Path, worker: int, count: int) -> None:
    registry = Registry(root)
    for k in range(count):
        registry.add(source(answer=1000 * worker + k), {"worker": worker})


def test_processes_that_add_at_once_lose_and_double_nothing(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork" if os.name == "posix" else "spawn")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork in a process with threads
        workers = [context.Process(target=_add_many, args=(tmp_path, k, 8)) for k in range(3)]
        for worker in workers:
            worker.start()
    for worker in workers:
        worker.join(60)
    registry = Registry(tmp_path)
    assert [i.version for i in registry.ids()] == list(range(24))
    answers = {registry.source(i).split("ANSWER = ")[1] for i in registry.ids()}
    assert len(answers) == 24


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda path: path.write_text(path.read_text() + "\n# note"), "hash"),
        (lambda path: path.write_text(path.read_text()[:40]), "hash"),
        (lambda path: path.write_bytes(b"\xff\xfe\x00"), "cannot be read"),
        (lambda path: path.with_suffix(".json").unlink(), "v1.json is missing"),
        (lambda path: path.with_suffix(".json").write_text("{"), "cannot be read"),
        (lambda path: path.with_suffix(".json").write_text("[]"), "hash"),
    ],
)
def test_a_damaged_version_is_skipped_with_one_warning_that_names_it(tmp_path, damage, says) -> None:
    registry = Registry(tmp_path)
    for k in range(3):
        registry.add(source(answer=k), {})
    path = registry.path(EnvId("Widget", 1))
    damage(path)
    with pytest.warns(RegistryWarning, match=says) as caught:
        assert [i.version for i in registry.ids()] == [0, 2]
    assert str(path) in str(caught[0].message)
    assert len(caught) == 1
    assert [i.version for i in registry.ids()] == [0, 2]  # silent the second time


def test_a_version_that_was_moved_is_skipped(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    path = registry.path(registry.add(source(), {}))
    for old in (path, path.with_suffix(".json")):
        old.rename(old.with_stem("v5"))
    with pytest.warns(RegistryWarning, match="its place says spade/Widget-v5"):
        assert Registry(tmp_path).ids() == []


def test_a_repaired_version_is_read_again(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    env_id = registry.add(source(), {})
    path = registry.path(env_id)
    good = path.read_text()
    path.write_text("broken")
    with pytest.warns(RegistryWarning):
        assert registry.ids() == []
    path.write_text(good)
    assert registry.ids() == [env_id]


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnknownEnvironment, match="Widget-v0"):
        Registry(tmp_path / "none").entry(EnvId("Widget", 0))
    assert Registry(tmp_path / "none").ids() == []


def test_a_folder_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="read-only"):
        Registry(tmp_path, read_only=True).add(source(), {})
    (tmp_path / "Widget").write_text("a file where a folder should be")
    with pytest.raises(RegistryError, match="cannot write Widget"):
        Registry(tmp_path).add(source(), {})
    with pytest.raises(RegistryError, match="header"):
        Registry(tmp_path).add("print(1)", {})


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry(tmp_path)
    registry.add(source(), {})

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RegistryError, match="No space left"):
        registry.add(source(answer=1), {})
    monkeypatch.undo()
    assert sorted(p.name for p in (tmp_path / "Widget").iterdir()) == ["v0.json", "v0.py"]
    assert registry.add(source(answer=1), {}).version == 1


def test_a_crash_at_any_point_leaves_a_registry_that_opens(tmp_path: Path, monkeypatch) -> None:
    """Every file operation of `add` fails in turn; what can be read afterwards is whole."""
    for operation in ("link", "unlink", "fsync", "fchmod"):
        for nth in range(4):
            root = tmp_path / f"{operation}{nth}"
            Registry(root).add(source(), {})
            calls = iter(range(100))
            real = getattr(os, operation)

            def failing(*args, _real=real, _calls=calls, _nth=nth):
                if next(_calls) == _nth:
                    raise OSError(5, "Input/output error")
                return _real(*args)

            with monkeypatch.context() as patch:
                patch.setattr(os, operation, failing)
                with contextlib.suppress(RegistryError):
                    Registry(root).add(source(answer=1), {})
            registry = Registry(root)
            for env_id in registry.ids():
                assert json.loads(registry.path(env_id).with_suffix(".json").read_text())["id"] == str(env_id)
            assert registry.add(source(answer=2), {}) in registry.ids()


def test_who_waits_long_for_the_lock_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(files, "SILENCE_S", 0.1)

    def wait() -> None:
        with Registry(tmp_path).locked():
            pass

    wait()
    assert caplog.messages == []
    with Registry(tmp_path).locked():
        waiting = threading.Thread(target=wait)
        waiting.start()
        end = time.monotonic() + 10
        while not caplog.messages and time.monotonic() < end:
            time.sleep(0.01)
        assert caplog.messages == [f"waiting for another process, which holds {tmp_path}/.lock"]
        assert waiting.is_alive()
    waiting.join(10)
    assert not waiting.is_alive()


def test_a_number_too_long_for_an_id_is_no_version(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    registry.add(source(), {})
    (tmp_path / "Widget" / "v99999999999.py").write_text("")
    assert registry.ids() == [EnvId("Widget", 0)]
    assert registry.next_version("Widget") == 1


def test_a_folder_that_says_so_is_read_only_for_everybody(tmp_path: Path) -> None:
    Registry(tmp_path).add(source(), {})
    (tmp_path / ".read-only").touch()
    with pytest.raises(RegistryError, match="is read-only"):
        Registry(tmp_path).add(source(answer=1), {})
