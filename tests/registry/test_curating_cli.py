"""What commands tell of an environment's life and how they change it: show, history, lineage, retire, rollback ..."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from life import admitted, lived
from test_lineage import born

from spade_envs.cli import completing
from spade_envs.registry import Registry, add_registry, keep_refused

Run = Callable[..., tuple[int, str, str]]
LAMP = "spade/LampRow-v0"


def document(answer: tuple[int, str, str]) -> Any:
    assert answer[0] == 0, answer[2]
    return json.loads(answer[1])


def test_show_tells_where_it_stands_and_what_was_measured(run: Run, user: Registry) -> None:
    _, out, _ = run("show", "spade/Widget-v0")
    assert "retired since" in out
    assert "it is like the next one" in out
    assert "v0, v1" in out
    assert "run, round 0" in out
    assert out.count("8+8") == 3
    told = document(run("show", "spade/Widget-v0", "--json"))
    assert (told["status"], told["status_reason"]) == ("retired", "it is like the next one")
    assert [one["round"] for one in told["measurements"]] == [0, 1, 2]
    assert told["versions"] == ["spade/Widget-v0", "spade/Widget-v1"]
    assert told["report"]["scores"]["difficulty"] == 0.5
    admitted(user, "Cog", provenance={"designer": "some/model", "prompt_sha256": "ab" * 32})
    assert "some/model" in run("show", "spade/Cog")[1]
    born(user, "Child", "spade/Cog-v0")
    assert document(run("show", "spade/Cog", "--json"))["children"] == ["spade/Child-v0"]


def test_history_tells_all_in_the_order_of_time(run: Run, user: Registry) -> None:
    events = document(run("history", "spade/Widget-v0", "--json"))
    assert [event["at"] for event in events] == sorted(event["at"] for event in events)
    kinds = [event["kind"] for event in events]
    assert sorted(kinds) == ["choice"] * 3 + ["measurement"] * 3 + ["status"] * 3
    assert kinds[:2] == ["status", "status"]
    _, out, _ = run("history", "spade/Widget-v0")
    assert "measured in 8 plays and 8 with the hint: success 0.50, - with the hint, regret 0.25" in out
    assert "chosen: it was its turn" in out
    assert "retired: it is like the next one" in out


def test_lineage_is_a_tree_in_which_the_asked_one_is_marked(run: Run, user: Registry) -> None:
    first = born(user, "First", "spade/Lost-v1")
    second = born(user, "Second", first)
    born(user, "Third", second)
    _, out, _ = run("lineage", second)
    assert [line.strip("│└─ ").split(" ")[0] for line in out.splitlines()] == [
        "spade/Lost-v1",
        first,
        second,
        "spade/Third-v0",
    ]
    assert "spade/Lost-v1 (no registry holds it)" in out
    assert f"{second}  A design  admitted  <- this one" in out
    told = document(run("lineage", second, "--json"))
    assert [one["id"] for one in told["ancestors"]] == ["spade/Lost-v1", first]
    assert told["children"][0]["id"] == "spade/Third-v0"
    assert "more below" in run("lineage", first, "--depth", 1)[1]
    last = first
    for k in range(25):
        last = born(user, "Long", last, k)
    assert "6 more above" in run("lineage", last)[1]
    joined = born(user, "Joined", first, made={"parents": [first, second]})
    assert f"{joined}  A design  admitted  and from {second}" in run("lineage", first)[1]
    circle = [born(user, "Yin", "spade/Yang-v0"), born(user, "Yang", "spade/Yin-v0")]
    assert "go in a circle" in run("lineage", circle[0])[2]


def test_retired_and_activated_again(run: Run, user: Registry) -> None:
    (made,) = document(run("retire", LAMP, "--reason", "known by heart", "--json"))
    assert (made["before"], made["status"], made["reason"]) == ("active", "retired", "known by heart")
    assert [one["id"] for one in document(run("list", "--status", "retired", "--json"))] == [LAMP]
    code, out, err = run("retire", "spade/LampRow", "spade/Gadget-v0", "--reason", "both")
    assert code == 0
    assert "spade/Gadget-v0" in out
    assert err == f"{LAMP} is retired already\n"
    (back,) = document(run("activate", LAMP, "--json"))
    assert (back["before"], back["status"], back["reason"]) == ("retired", "active", "activated by hand")
    code, out, err = run("retire", LAMP, "spade/lamprow-v9", "--reason", "neither")
    assert (code, out) == (3, "")
    assert f"did you mean {LAMP}" in err
    assert document(run("show", LAMP, "--json"))["status"] == "active"
    assert run("retire", LAMP)[0] == 3
    code, _, err = run("retire", LAMP, "--reason", " ")
    assert code == 3
    assert "no reason is given" in err


def test_another_registry_may_say_it(run: Run, user: Registry, tmp_path: Path) -> None:
    added = add_registry(tmp_path / "added")
    env_id = admitted(added, "Cog")
    assert document(run("retire", env_id, "--reason", "seen from here", "--json"))
    with added.records.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM statuses").scalar_one() == 3
    document(run("activate", env_id, "--json"))
    _, _, err = run("retire", env_id, "--reason", "said below", "--registry", "user")
    assert f"a registry further up says that {env_id} is active, and that counts" in err
    shelf = lived(tmp_path / "shelf")
    assert document(run("retire", "spade/Gadget-v0", "--reason", "there", "--registry", shelf.root, "--json"))
    assert run("retire", LAMP, "--reason", "there", "--registry", tmp_path / "none")[0] == 3


def test_a_run_is_rolled_back_by_name_and_by_folder(run: Run, user: Registry, tmp_path: Path) -> None:
    would = document(run("rollback", "run", 0, "--dry-run", "--json"))
    assert [(one["id"], one["before"], one["status"]) for one in would] == [
        ("spade/Widget-v1", "active", "retired")
    ]
    assert document(run("show", "spade/Widget-v1", "--json"))["status"] == "active"
    _, out, _ = run("rollback", "run", 0)
    assert "rolled back to the end of round 0 of run" in out
    assert f"1 environments changed in {user.root}" in out
    assert document(run("show", "spade/Widget-v1", "--json"))["status"] == "retired"
    assert document(run("rollback", "run", 0, "--json")) == []
    assert document(run("rollback", "run", 1, "--json"))[0]["status"] == "active"
    code, _, err = run("rollback", "rum", 0)
    assert code == 3
    assert "nothing of a run 'rum' is on record" in err
    assert "did you mean run?" in err
    assert "name its folder, or its registry" in run("rollback", "xyzzy", 0)[2]

    lived(tmp_path / "runs" / "run" / "registry")
    assert len(document(run("rollback", "runs/run", 0, "--json"))) == 1
    assert document(run("rollback", "run", 0, "--registry", "runs/run/registry", "--json")) == []


def test_rebuild_says_what_it_did(run: Run, user: Registry) -> None:
    _, out, err = run("rebuild")
    assert out.splitlines()[0] == "on record: 3 versions"
    assert (
        "kept from the old records: 1 version that has no file here, 2 status changes, 12 measurements" in out
    )
    assert out.splitlines()[-1] == "nothing was lost"
    assert err == ""
    (user.root / "records.db").write_bytes(b"garbage" * 999)
    (user.root / "records.db-wal").unlink(missing_ok=True)
    _, out, _ = run("rebuild", "--registry", "user")
    assert "lost: measurements, nobody can tell how many" in out
    (kept,) = user.root.glob("records.db.broken-*")
    assert f"the old records lie in {kept}" in out
    assert document(run("rebuild", "--json"))["lost"] == {}
    for path in user.root.glob("records.db*"):
        path.unlink()
    assert "there were no records" in run("rebuild")[1]
    assert run("rebuild", "--registry", "none")[0] == 3


def test_refused_designs_are_read_from_the_records(run: Run, user: Registry) -> None:
    gates = [
        {"name": "novelty", "passed": False, "findings": [{"found": "known", "rule": "novelty.duplicate"}]}
    ]
    path = keep_refused(user, "x", {"code_sha256": "e" * 64, "gates": gates, "run": 7, "id": ["no id"]})
    assert [one["code_sha256"][0] for one in document(run("refused", "--json"))] == ["e", "f"]
    (one,) = document(run("refused", "--gate", "novelty", "--json"))
    assert (one["path"], one["reasons"]) == (str(path), ["known [novelty.duplicate]"])
    assert "1 of 2 refused designs" in run("refused", "--last", 1)[1]
    code, out, err = run("refused", "--gate", "noveltie")
    assert code == 0
    assert "0 of 0 refused designs" in out
    assert "did you mean novelty?" in err
    path.with_suffix(".json").unlink()
    assert document(run("refused", "--gate", "novelty", "--json"))[0]["path"] is None


def test_a_shell_is_offered_ids(run: Run, user: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    assert completing.ids("spade/Wid") == completing.ids("Wid") == ["spade/Widget-v1", "spade/Widget-v0"]
    assert completing.ids("spade/Widget-v") == ["spade/Widget-v1", "spade/Widget-v0"]
    assert completing.ids("spade/Widget-v0") == ["spade/Widget-v0"]
    assert LAMP in completing.ids("")
    assert completing.ids("\udcff/..") == []
    monkeypatch.setattr(completing, "MOST", 3)
    assert "spade/LampRow" in completing.ids("spade/")
    assert completing.domains("ga") == ["games"]
    assert completing.statuses("re") == ["retired"]
    assert "rank" not in completing.orders("")
    monkeypatch.setattr("spade_envs.registry.stack.registries", lambda: 1 / 0)
    assert completing.ids("spade/") == []


def test_a_shell_asks_the_command_itself(run: Run, user: Registry) -> None:
    words = {"COMP_WORDS": "spade-envs retire spade/Wid", "COMP_CWORD": "2"}
    environment = {**os.environ, **words, "_SPADE_ENVS_COMPLETE": "complete_bash"}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    script = "import sys; sys.argv[0] = 'spade-envs'; from spade_envs.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert (done.stdout.split(), done.stderr) == (["spade/Widget-v1", "spade/Widget-v0"], "")
