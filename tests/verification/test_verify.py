"""Verify: each corrupted file is found, by its rule, and stops nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from designs import HONEST

from spade_envs.admission import GateResult, Report, Surroundings
from spade_envs.contract import Finding, code_sha256, file_sha256
from spade_envs.errors import IsolationError, SpadeError, UnknownEnvironment
from spade_envs.registry import Registry, shipped_registry
from spade_envs.verification import Verified, chosen, places, verify, verifying

Run = Callable[..., tuple[int, str, str]]
SAW = {
    "rules": "One lamp of a row is lit. Name a lamp, and learn whether the lit one is further left or right.",
    "tools": 0,
    "observation space": "MultiDiscrete([60 60])",
    "action space": "Discrete(60)",
}
REPORT = {"admitted": True, "gates": [{"name": "form", "passed": True, "saw": SAW, "findings": []}]}


def version(name: str, change: Callable[[str], str] = str) -> str:
    return change(HONEST).replace("LampHunt", name)


@pytest.fixture
def shelf(tmp_path: Path) -> Registry:
    """Three sound versions; tests break the middle one."""
    registry = Registry(tmp_path / "shelf")
    for name in ("Ahead", "Broken", "Behind"):
        registry.add(version(name), REPORT)
    return registry


def outcome(registry: Registry, jobs: int = 1, **options: Any) -> dict[str, list[str]]:
    """What is found of each version, by its id or its folder's name."""
    results: dict[str, list[str]] = {}
    for place, result in verify(places([registry]), jobs=jobs, **options):
        assert isinstance(result, Verified), result
        name = str(place.id) if place.id else place.path.name
        results[name] = [finding.rule for finding in result.findings]
        assert result.sound == all(finding.severity == "warn" for finding in result.findings)
    return results


def rewritten(change: Callable[[str], str]) -> Callable[[Path], None]:
    """Another source with right hashes, as if it had been admitted by another policy."""

    def rewrite(folder: Path) -> None:
        text = version("Broken", change)
        assert text != version("Broken")
        report = json.loads((folder / "v0.json").read_text())
        report |= {"file_sha256": file_sha256(text), "code_sha256": code_sha256(text)}
        (folder / "v0.py").write_text(text)
        (folder / "v0.json").write_text(json.dumps(report))

    return rewrite


def reported(**parts: Any) -> Callable[[Path], None]:
    def report(folder: Path) -> None:
        path = folder / "v0.json"
        path.write_text(json.dumps({**json.loads(path.read_text()), **parts}))

    return report


def seen(**parts: Any) -> Callable[[Path], None]:
    return reported(gates=[{"name": "form", "saw": {**SAW, **parts}}])


BROKEN: dict[str, tuple[Callable[[Path], Any], list[str]]] = {
    "source changed": (lambda f: (f / "v0.py").write_text(version("Broken") + "\nX = 1\n"), ["files.hash"] * 2),
    "source cut off": (lambda f: os.truncate(f / "v0.py", 700), ["files.hash"] * 2 + ["language.syntax"]),
    "source missing": (lambda f: (f / "v0.py").unlink(), ["files.unreadable"]),
    "report missing": (lambda f: (f / "v0.json").unlink(), ["files.unreadable", "verify.not-recorded"]),
    "report cut off": (lambda f: os.truncate(f / "v0.json", 50), ["files.unreadable", "verify.not-recorded"]),
    "no hash": (reported(file_sha256=None), ["files.hash"]),
    "older report": (reported(gates=[]), ["verify.not-recorded"]),
    "header broken": (rewritten(lambda s: s.replace('"games"', '"fun"')), ["files.header"]),
    "another id": (rewritten(lambda s: s.replace("Hunt-v0", "Hunt-v1")), ["files.place"]),
    "report of another": (reported(id="spade/Ahead-v0"), ["files.place"]),
    "rules": (seen(rules="Guess."), ["verify.form"]),
    "tools": (seen(tools=2), ["verify.form"]),
    "spaces": (
        seen(**{"action space": "Discrete(61)", "observation space": "MultiDiscrete([61 61])"}),
        ["verify.form"] * 2,
    ),
    "no longer compiles": (rewritten(lambda s: s.replace("import gym", "import os, gym")), ["language.import"]),
    "no longer starts": (rewritten(lambda s: s.replace("(60, 120)", "(60, 120)[9]")), ["runs.raised"]),
    "no longer answers": (rewritten(lambda s: s.replace("found = action", "found = None.x, action")), ["runs.raised"]),
    "expert loses": (rewritten(lambda s: s.replace("// 2\n", "// 9\n")), ["solvable.expert"] * 2),
}  # fmt: skip


@pytest.mark.parametrize("fault", BROKEN)
def test_each_fault_is_found_and_the_rest_is_sound(shelf: Registry, fault: str) -> None:
    spoil, rules = BROKEN[fault]
    spoil(shelf.root / "Broken")
    assert outcome(shelf) == {"spade/Ahead-v0": [], "spade/Behind-v0": [], "spade/Broken-v0": rules}


def test_folders_that_hold_no_version(shelf: Registry) -> None:
    (shelf.root / "Broken").rename(shelf.root / "broken_one")
    (shelf.root / "refused").mkdir()
    (shelf.root / "refused" / "0123456789abcdef.py").write_text("")
    (shelf.root / "notes.txt").write_text("")
    assert outcome(shelf) == {"spade/Ahead-v0": [], "spade/Behind-v0": [], "broken_one": ["files.place"]}
    assert places([Registry(shelf.root / "none")]) == []


def test_a_registry_that_cannot_be_read_stops_no_other(
    shelf: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    locked = Registry(shelf.root.parent / "locked")
    locked.root.mkdir()
    real = Path.iterdir

    def iterdir(path: Path) -> Any:
        if path in (locked.root, shelf.root / "Broken"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    found = {str(place.path.name): place.finding for place in places([locked, shelf])}
    assert [name for name, finding in found.items() if finding] == ["locked", "Broken"]
    assert "Permission denied" in str(found["locked"])


def test_several_at_once_come_in_their_order(shelf: Registry) -> None:
    (shelf.root / "Broken" / "v0.py").write_text("cut off")
    alone, together = outcome(shelf, jobs=1), outcome(shelf, jobs=2)
    assert list(together.items()) == list(alone.items())


def test_what_is_chosen(shelf: Registry) -> None:
    shelf.add(version("Broken") + "# again\n", REPORT)
    (shelf.root / "Broken" / "v1.py").write_text("cut off")
    among = places([shelf])
    assert [str(place) for place in chosen(["spade/Broken", "spade/Ahead-v0"], among)] == [
        "spade/Ahead-v0",
        "spade/Broken-v1",
    ]
    with pytest.raises(UnknownEnvironment, match="did you mean spade/Broken-v1"):
        chosen(["spade/Brokn"], among)


def test_judging_again(shelf: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    (shelf.root / "Behind" / "v0.py").write_text("cut off")
    asked: list[str] = []

    def judge(source: str, *, around: Surroundings) -> Report:
        asked.append(source)
        leak = (Finding("hint.leak", "the hint tells", "Do not."),) if "Broken" in source else ()
        return Report(None, "", (GateResult("hint", not leak, {}, leak),), 0.0)

    monkeypatch.setattr(verifying, "judge", judge)
    found = outcome(shelf, around=Surroundings())
    assert found["spade/Broken-v0"] == ["verify.verdict"]
    assert found["spade/Ahead-v0"] == []
    assert asked == [version("Ahead"), version("Broken")], "what has no header is not judged"
    assert outcome(shelf)["spade/Broken-v0"] == []


def test_the_command(run: Run, shelf: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = run("verify", "--registry", "shelf", "--jobs", 1)
    assert code == 0
    assert out.splitlines()[1].split() == [str(shelf.root), "3", "3", "0", "0", "0"]
    reported(gates=[])(shelf.root / "Ahead")
    (shelf.root / "Broken" / "v0.py").write_text("cut \x1b off")
    code, out, _ = run("verify", "--registry", "shelf", "--jobs", 1)
    assert code == 1
    assert "spade/Broken-v0: its file_sha256 is" in out
    assert "spade/Ahead-v0: the report has no record of its rules" in out
    assert out.splitlines()[-1].split()[1:] == ["3", "2", "1", "1", "0"]
    assert len(out.splitlines()) == 1 + 3 + 2, "one line a finding, and the table"

    code, out, _ = run(
        "verify", "spade/Broken-v0", "spade/Behind", "--registry", "shelf", "--json", "--jobs", 1
    )
    assert code == 1
    behind, broken = (json.loads(line) for line in out.splitlines())
    assert (behind["id"], behind["sound"], behind["findings"]) == ("spade/Behind-v0", True, [])
    assert broken["path"] == str(shelf.root / "Broken" / "v0.py")
    assert broken["findings"][0]["rule"] == "files.hash"

    code, _, err = run("verify", "spade/Ahed-v0", "--registry", "shelf")
    assert code == 3
    assert "did you mean spade/Ahead-v0" in err

    code, _, err = run("verify", "--registry", "shelv")
    assert code == 3
    assert "shelv does not exist" in err

    def none_here(*_: Any) -> Any:
        raise IsolationError("no workers here")

    monkeypatch.setattr(verifying, "gather", none_here)
    code, out, _ = run("verify", "spade/Ahead-v0", "--registry", "shelf")
    assert code == 2
    assert "spade/Ahead-v0: could not be verified: no workers here" in out
    (row,) = run("verify", "spade/Ahead-v0", "--registry", "shelf", "--json")[1].splitlines()
    assert json.loads(row)["sound"] is None


def test_the_shipped_registry_is_sound() -> None:
    results = list(verify(places([Registry(shipped_registry(), read_only=True)]), jobs=1))
    assert len(results) >= 30
    faults = {str(place): r if isinstance(r, SpadeError) else r.findings for place, r in results}
    assert not {name: found for name, found in faults.items() if found}
