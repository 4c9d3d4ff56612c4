"""What a verdict leads to: one version however many ask at once, and refused designs with their reasons."""

from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from designs import HONEST, flawed

from spade_envs.admission import GateResult, Report, Settings, admit
from spade_envs.admission.admit import settle
from spade_envs.contract import EnvId, Finding, code_sha256
from spade_envs.errors import RegistryError
from spade_envs.records import reading
from spade_envs.registry import Registry, refused_designs, stack

QUICK = Settings(reset_seeds=20, expert_seeds=10, more_expert_seeds=0, replayed_seeds=2)
NAME = "LampHuntSettled"
SOURCE = HONEST.replace("LampHunt", NAME)


@pytest.fixture(autouse=True)
def own_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPADE_REGISTRY", str(tmp_path / "user"))
    monkeypatch.setenv(stack.ADDED, "")


def report(source: str, passed: bool = True) -> Report:
    findings = () if passed else (Finding("solvable.expert", "it fails", "Mend it."),)
    return Report(
        f"spade/{NAME}-v0", code_sha256(source), (GateResult("solvable", passed, {}, findings),), 0.1
    )


def _admit_at_once(root: Path, meeting: Any, answers: Any) -> None:
    """Admit the design, with a judge that waits for all the others' judges."""
    from spade_envs.admission import admit as admitting

    def judge(source: str, **_: Any) -> Report:
        meeting.wait(60)
        return report(source)

    sys.modules["spade_envs.admission.admit"].judge = judge  # type: ignore[attr-defined]
    answers.put(admitting(SOURCE, Registry(root)).id)


def test_processes_that_admit_the_same_code_at_once_make_one_version(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    meeting, answers = context.Barrier(3), context.Queue()
    asked = [
        context.Process(target=_admit_at_once, args=(tmp_path / "own", meeting, answers)) for _ in range(3)
    ]
    for process in asked:
        process.start()
    ids = [answers.get(timeout=120) for _ in asked]
    for process in asked:
        process.join(60)
    assert sorted(ids, key=str) == [None, None, f"spade/{NAME}-v0"]
    assert [str(env_id) for env_id in Registry(tmp_path / "own").ids()] == [f"spade/{NAME}-v0"]


def test_the_one_who_comes_too_late_learns_of_the_version(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "own")
    assert settle(SOURCE, report(SOURCE), registry).id == f"spade/{NAME}-v0"
    late = settle(SOURCE, report(SOURCE), registry)
    assert late.id is None
    assert late.report.gates[-1].findings[0].rule == "novelty.duplicate"


def test_a_refused_design_is_kept_with_its_reasons(tmp_path: Path) -> None:
    registry, source = Registry(tmp_path / "own"), flawed("solvable.expert")
    assert admit(source, registry, run="r", round=2, settings=QUICK).id is None
    (kept,) = refused_designs(registry.root)
    assert kept.path.read_text() == source
    assert kept.path.stem == code_sha256(source)[:16]
    assert (kept.id, kept.gate) == ("spade/LampHunt-v0", "solvable")
    assert "[solvable.expert]" in kept.reasons[0]
    assert (kept.report["run"], kept.report["round"], kept.report["times"]) == ("r", 2, 1)
    assert registry.ids() == []
    assert not admit(source, registry, settings=QUICK, keep_refused=False).report.admitted
    assert [entry.report["times"] for entry in refused_designs(registry.root)] == [1]


def _full(*_: Any, **__: Any) -> Any:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("passed", [True, False])
@pytest.mark.parametrize("operation", ["fdopen", "fsync", "link", "replace"])
def test_a_full_disk_leaves_nothing_half_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, operation: str, passed: bool
) -> None:
    """``fdopen`` stands for the write: its file fails there."""
    if operation == ("replace" if passed else "link"):
        pytest.skip("not used there")
    registry = Registry(tmp_path / "own")
    settle("first\n", report("first\n", False), registry)
    before = contents(registry.root)
    with monkeypatch.context() as patch:
        patch.setattr(os, operation, _writes_nothing if operation == "fdopen" else _full)
        with pytest.raises(RegistryError, match="No space left"):
            settle(SOURCE, report(SOURCE, passed), registry)
    assert contents(registry.root) == before
    settle(SOURCE, report(SOURCE, passed), registry)  # there is room again
    assert len(contents(registry.root)) == len(before) + 2


def _writes_nothing(descriptor: int, *arguments: Any, **options: Any) -> Any:
    real: Callable[..., Any] = open
    file = real(descriptor, *arguments, **options)
    file.write = _full
    return file


def contents(root: Path) -> dict[str, str]:
    """Every file but the records, which grow by pages."""
    files = [path for path in root.rglob("*") if path.is_file() and not path.name.startswith("records.db")]
    return {str(path.relative_to(root)): path.read_text() for path in files}


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or os.system(f"mount -t tmpfs -o size=640k none {disk} 2>/dev/null"):
        pytest.skip("no small disk can be mounted here")
    registry = Registry(disk / "own")
    try:
        settle("first\n", report("first\n", False), registry)
        with pytest.raises(OSError, match="No space"):
            (disk / "ballast").write_bytes(b"0" * (1 << 20))
        for passed in (True, False):
            with pytest.raises(RegistryError, match=r"No space left|disk is full"):
                settle(SOURCE, report(SOURCE, passed), registry)
        kept = sorted(path.suffix for path in registry.root.rglob("*") if path.is_file() and path.suffix)
        assert [suffix for suffix in kept if not suffix.startswith(".db")] == [".json", ".py"]
        (disk / "ballast").unlink()
        assert settle(SOURCE, report(SOURCE), registry).id == f"spade/{NAME}-v0"
    finally:
        registry.own_records.close()
        os.system(f"umount {disk}")


def test_a_registry_that_is_read_only_keeps_nothing(tmp_path: Path) -> None:
    with pytest.raises(RegistryError, match="read-only"):
        settle(SOURCE, report(SOURCE, False), Registry(tmp_path / "own", read_only=True))
    assert not (tmp_path / "own").exists()


def test_the_report_beside_a_version_has_its_scores(tmp_path: Path) -> None:
    admission = admit(SOURCE, Registry(tmp_path / "own"), settings=QUICK)
    assert admission.path is not None
    record = json.loads(admission.path.with_suffix(".json").read_text())
    assert 0.6 < record["scores"]["total"] <= 1
    assert 0 < record["scores"]["stability"] < 1
    assert record["active_pool"] == {"enters": True, "reasons": []}
    assert "enters the active pool" in admission.report.text()


def test_how_a_design_was_made_is_kept_in_its_report_and_on_record(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "own")
    how = {"designer": "a model", "sampling": {"temperature": 1.0}}
    admitted = settle(SOURCE, report(SOURCE), registry, run="r", round=3, provenance=how)
    assert registry.report(EnvId("LampHuntSettled", 0))["provenance"] == how
    with registry.records.reading() as connection:
        found = reading.one(connection, str(admitted.id))
    assert found is not None
    assert (found.provenance, found.run, found.round) == (how, "r", 3)
