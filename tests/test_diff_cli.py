"""The command diff: what changed from one version to another."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from designs import HONEST

from spade_envs.registry import Registry

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def shelf(run: Run, tmp_path: Path) -> Registry:
    """Three versions of one name, the last with another header only, and one that was derived from the second."""
    registry = Registry(tmp_path / "user")
    child = HONEST.replace("LampHunt", "LampChild").replace(
        "# license", '# parent = "spade/LampHunt-v1"\n# license'
    )
    for text in (HONEST, HONEST + "# changed\n", HONEST.replace("Lamp hunt", "Hunt") + "# changed\n", child):
        registry.add(text, {})
    return registry


def test_two_versions(run: Run, shelf: Registry) -> None:
    code, out, err = run("diff", "spade/LampHunt-v0", "spade/LampHunt-v1")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[:3] == ["--- spade/LampHunt-v0", "+++ spade/LampHunt-v1", "@@ -1,5 +1,5 @@"]
    assert [line for line in lines if line[0] in "+-"][2:] == [
        '-# id = "spade/LampHunt-v0"',
        '+# id = "spade/LampHunt-v1"',
        "+# changed",
    ]


def test_one_id_with_what_it_came_from(run: Run, shelf: Registry) -> None:
    assert run("diff", "spade/LampHunt-v1") == run("diff", "spade/LampHunt-v0", "spade/LampHunt-v1")
    assert run("diff", "spade/LampHunt")[1].startswith("--- spade/LampHunt-v1\n+++ spade/LampHunt-v2\n")
    assert run("diff", "spade/LampChild")[1].startswith("--- spade/LampHunt-v1\n+++ spade/LampChild-v0\n")
    code, _, err = run("diff", "spade/LampHunt-v0")
    assert code == 3
    assert "neither a parent nor an earlier version" in err


def test_where_only_the_header_differs(run: Run, shelf: Registry) -> None:
    code, out, err = run("diff", "spade/LampHunt-v1", "spade/LampHunt-v2")
    assert (code, err) == (0, "only the header differs\n")
    assert '+# title = "Hunt"' in out
    assert run("diff", "spade/LampHunt-v1", "spade/LampHunt-v1") == (0, "", "there is no difference\n")


def test_json(run: Run, shelf: Registry) -> None:
    data = json.loads(run("diff", "spade/LampHunt-v2", "--json")[1])
    assert (data["from"], data["to"], data["only_header"]) == ("spade/LampHunt-v1", "spade/LampHunt-v2", True)
    assert data["diff"] == run("diff", "spade/LampHunt-v2")[1].rstrip("\n")
    same = json.loads(run("diff", "spade/LampHunt-v0", "spade/LampHunt-v0", "--json")[1])
    assert (same["diff"], same["only_header"]) == ("", False)


def test_colours_on_a_terminal(run: Run, shelf: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf.add(HONEST + "# odd \x1b[2J\n", {})
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = run("diff", "spade/LampHunt-v0", "spade/LampHunt-v3")[1]
    assert "\x1b[31m-# id = " in out
    assert "\x1b[32m+# odd \\x1b[2J" in out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in run("diff", "spade/LampHunt-v0", "spade/LampHunt-v3")[1]


def test_unknown_ids(run: Run, shelf: Registry) -> None:
    for ids in (["spade/LampHnt-v0"], ["spade/LampHunt-v0", "spade/LampHnt-v0"]):
        code, _, err = run("diff", *ids)
        assert code == 3
        assert "did you mean spade/LampHunt-v" in err
