"""In: every design is judged, gets the next free number, and its report keeps what it was elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from designs import HONEST, flawed
from hypothesis import given
from hypothesis import strategies as st
from parcels import family, held, ids, source

from spade_envs.admission import Admission, Report, Settings, many
from spade_envs.admission import judge as real_judge
from spade_envs.cli import verdicts
from spade_envs.contract import file_sha256
from spade_envs.registry import Registry, refused_designs
from spade_envs.transfer import Arrival, chosen, export, import_
from spade_envs.transfer.order import parents_first

Run = Callable[..., tuple[int, str, str]]
Judged = Callable[..., list[str]]
NAMES = ["pool", "pool.zip", "pool_envs-1.0-py3-none-any.whl", "pool.jsonl"]


@pytest.mark.parametrize("name", NAMES)
def test_numbers_hashes_and_parents(tmp_path: Path, judged: Judged, name: str) -> None:
    """Where the names are taken by others, all are renumbered, and parents are named as they stand here."""
    judged()
    there = family(tmp_path / "shelf")
    export(tmp_path / name, chosen(registry=there))
    here = Registry(tmp_path / "here")
    for k, taken in enumerate(("Root", "Root", "Middle", "Leaf")):
        here.add(source(f"spade/{taken}-v0", f"other {k}"), {})
    became = import_(tmp_path / name, here, jobs=1)
    admitted = [admission.id for _, admission in became if isinstance(admission, Admission)]
    assert admitted == ["spade/Root-v2", "spade/Middle-v1", "spade/Leaf-v1", "spade/Leaf-v2"]

    text, report = held(here, "spade/Leaf-v1")
    before = there.source(there.ids()[0])
    assert text == before.replace("Leaf-v0", "Leaf-v1").replace("Middle-v0", "Middle-v1")
    assert report["imported"] == {
        "id": "spade/Leaf-v0",
        "file_sha256": file_sha256(before),
        "from": became[2][0],
        "parent": "spade/Middle-v0",
    }
    assert became[2][0].startswith(f"{tmp_path / name}")
    assert report["file_sha256"] == file_sha256(text)
    assert 'parent = "spade/Root-v2"' in held(here, "spade/Middle-v1")[0]
    assert 'parent = "spade/Elsewhere-v4"' in held(here, "spade/Leaf-v2")[0], "it did not come along"
    assert "parent" not in held(here, "spade/Root-v2")[1]["imported"]  # type: ignore[operator]


def test_what_is_here_already_is_a_parent_too(tmp_path: Path, judged: Judged) -> None:
    seen = judged()
    export(tmp_path / "pool.zip", chosen(registry=family(tmp_path / "shelf")))
    here = Registry(tmp_path / "here")
    here.add(source("spade/Root-v0", "other"), {})
    here.add(source("spade/Root-v0", "root"), {})
    first, second, *_ = import_(tmp_path / "pool.zip", here, jobs=1)
    assert isinstance(first[1], Admission)
    assert first[1].id is None
    assert first[1].report.findings[0].rule == "novelty.duplicate"
    assert isinstance(second[1], Admission)
    assert 'parent = "spade/Root-v1"' in held(here, str(second[1].id))[0]
    assert "spade/Root-v0" not in seen
    again = import_(tmp_path / "pool.zip", here, jobs=1)
    assert [isinstance(a, Admission) and a.id for _, a in again] == [None] * 4
    assert len(seen) == 3, "what stands here is not judged again"


def test_what_is_refused_is_kept_with_where_it_came_from(tmp_path: Path, judged: Judged) -> None:
    judged()
    registry = Registry(tmp_path / "shelf")
    registry.add(source("spade/Root-v0", "REFUSE"), {})
    registry.add(source("spade/Leaf-v0", "leaf", "spade/Root-v0"), {})
    export(tmp_path / "pool.zip", chosen(registry=registry))
    here = Registry(tmp_path / "here")
    (_, root), (_, leaf) = import_(tmp_path / "pool.zip", here, jobs=1)
    assert isinstance(root, Admission)
    assert isinstance(leaf, Admission)
    assert (root.id, leaf.id) == (None, "spade/Leaf-v0")
    assert 'parent = "spade/Root-v0"' in held(here, "spade/Leaf-v0")[0]
    (kept,) = refused_designs(here.root)
    assert kept.report["imported"]["id"] == "spade/Root-v0"


def test_designs_are_really_judged(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = Settings(reset_seeds=20, expert_seeds=10, more_expert_seeds=0, replayed_seeds=2)
    monkeypatch.setattr(many, "judge", lambda text, **how: real_judge(text, **{**how, "settings": quick}))
    registry = Registry(tmp_path / "shelf")
    registry.add(HONEST.replace("LampHunt", "LampCame"), {})
    registry.add(flawed("solvable.expert").replace("LampHunt", "LampLost"), {})
    export(tmp_path / "pool.zip", chosen(registry=registry))
    code, out, _ = run("import", "pool.zip", "--registry", "here", "--jobs", 1)
    assert code == 1
    assert "pool.zip:LampCame/v0.py: spade/LampCame-v0 admitted" in out
    assert "[solvable.expert]" in out
    assert "1 of 2 admitted" in out
    text, report = held(Registry(tmp_path / "here"), "spade/LampCame-v0")
    assert text == HONEST.replace("LampHunt", "LampCame")
    assert [gate["name"] for gate in report["gates"]][:2] == ["form", "runs"]  # type: ignore[attr-defined]


def test_the_command_prints_json_as_admit_does(run: Run, tmp_path: Path, judged: Judged) -> None:
    judged()
    export(tmp_path / "pool.jsonl", chosen(registry=family(tmp_path / "shelf")))
    code, out, _ = run("import", "pool.jsonl", "--jobs", 1, "--json")
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["path"] for row in rows] == [f"pool.jsonl:{line}" for line in (4, 3, 1, 2)]
    assert [row["registered_as"] for row in rows] == [row["imported"]["id"] for row in rows]
    assert ids(Registry(tmp_path / "user")) == [row["registered_as"] for row in rows[2:] + rows[1::-1]]


def test_an_interrupt_leaves_no_child_without_its_parent(run: Run, tmp_path: Path, judged: Judged) -> None:
    judged()
    registry = Registry(tmp_path / "shelf")
    registry.add(source("spade/Aunt-v0", "aunt"), {})
    registry.add(source("spade/Root-v0", "STOP"), {})
    registry.add(source("spade/Leaf-v0", "leaf", "spade/Root-v0"), {})
    export(tmp_path / "pool.zip", chosen(registry=registry))
    code, out, err = run("import", "pool.zip", "--jobs", 1)
    assert (code, err.strip()) == (130, "stopped")
    assert "spade/Aunt-v0 admitted" in out
    assert ids(Registry(tmp_path / "user")) == ["spade/Aunt-v0"]


def test_a_child_that_is_judged_first_waits_for_its_parent(
    run: Run, tmp_path: Path, judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the parent's verdict comes or, as here, Ctrl-C."""
    judged()
    registry = Registry(tmp_path / "shelf")
    registry.add(source("spade/Root-v0", "root"), {})
    registry.add(source("spade/Leaf-v0", "leaf", "spade/Root-v0"), {})
    export(tmp_path / "pool.zip", chosen(registry=registry))

    def backwards(sources: list[str], **_: Any) -> Iterator[tuple[int, Report]]:
        yield 1, many.judge(sources[1])
        raise KeyboardInterrupt

    monkeypatch.setattr(verdicts, "judge_many", backwards)
    code, out, _ = run("import", "pool.zip")
    assert (code, out) == (130, "")
    assert not (tmp_path / "user" / "Leaf").exists()


names = st.sampled_from([f"spade/{letter}-v{number}" for letter in "ABCD" for number in (0, 1, 10)])


@given(st.dictionaries(names, names, max_size=12))
def test_parents_come_first(parents: dict[str, str]) -> None:
    """Whoever has a parent that came along stands behind it; a circle has a beginning somewhere."""
    came = [Arrival(env_id, source(env_id, env_id, parent)) for env_id, parent in parents.items()]
    order = [arrival.place for arrival in parents_first(came)]
    assert sorted(order) == sorted(parents)
    for place, env_id in enumerate(order):
        line, one = {env_id}, parents[env_id]
        while one in parents and one not in line:
            line.add(one)
            one = parents[one]
        if one not in line:
            assert parents[env_id] not in order[place:]
    assert order == [arrival.place for arrival in parents_first(came[::-1])]


def test_versions_keep_their_order(tmp_path: Path, judged: Judged) -> None:
    """As numbers, not as text."""
    seen = judged()
    registry = Registry(tmp_path / "shelf")
    for k in range(12):
        registry.add(source("spade/Many-v0", k), {})
    export(tmp_path / "pool.zip", chosen(registry=registry))
    import_(tmp_path / "pool.zip", Registry(tmp_path / "here"), jobs=1)
    assert seen == [f"spade/Many-v{k}" for k in range(12)]
