"""Refused designs: counted, bounded in number, and listed the newest first."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from spade_envs.registry import Registry, RegistryWarning, keep_refused, refused_designs


def report(code: int, found: str = "it fails", severity: str = "refuse") -> dict[str, Any]:
    finding = {"rule": "solvable.expert", "found": found, "remedy": "Mend it.", "severity": severity}
    gates = [{"name": "form", "passed": True, "findings": []}]
    gates += [{"name": "solvable", "passed": False, "findings": [finding]}]
    return {"id": None, "code_sha256": f"{code:064x}"[::-1], "gates": gates}


def test_the_same_code_is_counted_and_its_last_report_stands(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    first = keep_refused(registry, "one", report(1, "old"))
    assert keep_refused(registry, "one\n", report(1, "new")) == first
    (kept,) = refused_designs(tmp_path)
    assert kept.report["times"] == 2
    assert kept.report["first_refused_at"] <= kept.report["last_refused_at"]
    assert kept.reasons == ("new [solvable.expert]",)
    assert (kept.gate, kept.path.read_text()) == ("solvable", "one\n")
    assert kept.as_dict()["path"] == str(first)


def test_only_the_newest_are_kept(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    for number in range(5):
        path = keep_refused(registry, str(number), report(number), most=3)
        os.utime(path.with_suffix(".json"), (number, number))
    assert [entry.path.read_text() for entry in refused_designs(tmp_path)] == ["4", "3", "2"]
    keep_refused(registry, "2", report(2), most=3)
    assert [entry.path.read_text() for entry in refused_designs(tmp_path)] == ["2", "4", "3"]
    assert len(list((tmp_path / "refused").iterdir())) == 6


def test_a_warning_is_no_reason(tmp_path: Path) -> None:
    keep_refused(Registry(tmp_path), "x", report(1, severity="warn"))
    assert next(refused_designs(tmp_path)).reasons == ()


def test_broken_reports_are_skipped_and_begin_anew(tmp_path: Path) -> None:
    registry = Registry(tmp_path)
    path = keep_refused(registry, "x", report(1))
    path.with_suffix(".json").write_text("{")
    with pytest.warns(RegistryWarning, match=r"\.json: it is no report"):
        assert list(refused_designs(tmp_path)) == []
    keep_refused(registry, "x", report(1))
    assert next(refused_designs(tmp_path)).report["times"] == 1


def test_odd_texts_are_kept(tmp_path: Path) -> None:
    path = keep_refused(Registry(tmp_path), "\ud800 \u00e9\r\n", report(1, "\ud800"))
    assert path.read_bytes() == b"\xed\xa0\x80 \xc3\xa9\r\n"
    assert "\ud800" in next(refused_designs(tmp_path)).reasons[0]


def test_a_registry_without_refused_designs_has_none(tmp_path: Path) -> None:
    assert list(refused_designs(tmp_path / "none")) == []
    keep_refused(Registry(tmp_path), "x", report(1))
    assert Registry(tmp_path).ids() == []
