"""Gates of other packages: they are found where they are installed, refuse, and are named where they are broken."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from designs import HONEST

from spade_envs.admission import Settings, judge
from spade_envs.admission.extensions import extensions
from spade_envs.errors import UsageError

QUICK = Settings(reset_seeds=20, expert_seeds=10, more_expert_seeds=0, replayed_seeds=2)
MODULE = """
def short(evidence, settings, sheet):
    sheet.saw["characters"] = len(evidence.source)
    if len(evidence.source) > LIMIT:
        sheet.fail("short.long", "the source is long", "Write less.")

def breaks(evidence, settings, sheet):
    raise KeyError("lost")

LIMIT = 10
number = 3
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Install a package with some entry points into a folder on the path."""

    def install(**points: str) -> None:
        (tmp_path / "spade_more_gates.py").write_text(MODULE)
        folder = tmp_path / "spade_more-1.2.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: spade-more\nVersion: 1.2\n")
        lines = [f"{name.replace('_', ' ')} = {value}" for name, value in points.items()]
        (folder / "entry_points.txt").write_text("\n".join(["[spade_envs.gates]", *lines]) + "\n")

    monkeypatch.syspath_prepend(str(tmp_path))
    yield install
    sys.modules.pop("spade_more_gates", None)


def test_without_any_there_are_none() -> None:
    assert extensions() == ()


def test_an_installed_gate_judges_after_all_others(install) -> None:
    install(short="spade_more_gates:short")
    report = judge(HONEST, settings=QUICK)
    assert report.gates[-1].name == "short"
    assert report.gates[-1].saw == {"characters": len(HONEST)}
    assert [finding.rule for finding in report.gates[-1].findings] == ["short.long"]
    assert report.gates[-2].name == "content"


def test_a_gate_that_breaks_down_refuses_and_is_named(install) -> None:
    install(breaks="spade_more_gates:breaks")
    report = judge(HONEST, settings=QUICK)
    (finding,) = report.gates[-1].findings
    assert finding.rule == "extension.broken"
    assert "'breaks' of spade-more 1.2" in finding.found
    assert "KeyError" in finding.found


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("gone", "spade_more_gates:gone", "cannot be loaded"),
        ("nowhere", "spade_nowhere:gate", "cannot be loaded"),
        ("number", "spade_more_gates:number", "is a int, not a function"),
        ("novelty", "spade_more_gates:short", "has the name of another gate"),
        ("review", "spade_more_gates:short", "has the name of another gate"),
    ],
)
def test_a_broken_extension_is_named_before_anything_is_played(install, name, value, message) -> None:
    install(**{name: value})
    with pytest.raises(UsageError, match=message) as error:
        judge(HONEST, settings=QUICK)
    assert f"'{name}' of spade-more 1.2" in str(error.value)
