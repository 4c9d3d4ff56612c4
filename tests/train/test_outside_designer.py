"""Whole runs whose designs come from a server: the agent alone learns, costs are on record, a key is nowhere."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from random import Random
from typing import Any

import pytest
from killing import Started, lucky_registry, start, wait_for
from web_server import Request, completion, serving

from spade_train.ahead import Queue
from spade_train.designer.slots import random_specification
from spade_train.runs.folder import RunFolder

KEY = "sk-never-to-be-seen"


def words(model: Path, runs: Path, name: str, rounds: int, url: str, *more: str) -> list[str]:
    said = (
        f"--model_name_or_path {model} --runs {runs} --run_name {name} --rounds {rounds} --num_generations 2 "
        "--per_device_train_batch_size 3 --max_completion_length 120 --turn_tokens 6 --learning_rate 1e-2 "
        "--upper_layers 1 --bf16 false --curriculum spade/Lucky-v0 --action_format raw --admission_jobs 1 "
        f"--schedule designer_frozen --designer_backend openai:{url}#small --designer_price 1 10"
    )
    return [*said.split(), *more]


def specification(request: Request) -> str:
    """A design in slots that follows from the seed: no two are alike."""
    return json.dumps(random_specification(Random(request.body["seed"])))


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lucky_registry(tmp_path_factory.mktemp("lucky"))


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPADE_DESIGNER_KEY", KEY)


def lines(run: Path, name: str) -> list[dict[str, Any]]:
    return RunFolder(run).read(f"{name}.jsonl")


def ended(process: Started, output: Path) -> None:
    process.join(600)
    assert process.exitcode == 0, output.read_text()


def nowhere(folder: Path) -> None:
    """No file below a folder holds the key, in its bytes or in its name."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 10
    for path in files:
        assert KEY not in str(path)
        assert KEY.encode() not in path.read_bytes(), path


@pytest.mark.soak
def test_an_external_designer_is_paid_in_money_and_never_learns(
    model_folder: Path, registry: Path, tmp_path: Path
) -> None:
    def act(request: Request) -> None:
        """A design, an error, a design that repeats the key, a page: whatever happens, each is one slot."""
        assert f"Authorization: Bearer {KEY}" in request.head
        match request.number:
            case 1:
                request.reply(json.dumps({"error": f"{KEY} may not do that"}).encode(), "400 Bad")
            case 2:
                request.reply(completion(f"I was called with {KEY}", usage=(100, 20)))
            case 3:
                request.reply(b"<html>")
            case _:
                request.reply(completion(specification(request), usage=(100, 20)))

    output = tmp_path / "output.txt"
    with serving(act) as web:
        more = ("--designer_parallel", "1", "--designer_temperature", "0.7", "--designer_tokens", "99")
        ended(start(words(model_folder, tmp_path, "out", 2, web.url, *more), registry, output), output)
    run = tmp_path / "out"
    nowhere(tmp_path)
    assert KEY not in output.read_text()
    assert "200 tokens read, 40 written, cost 0.0006; 2 of 4 asks got no reply" in output.read_text()
    body = web.requests[0].body
    assert (body["temperature"], body["max_tokens"], body["model"]) == (0.7, 99, "small")
    assert "anyOf" in body["response_format"]["json_schema"]["schema"]
    designs = lines(run, "designs")
    assert [one["completion_tokens"] for one in designs] == [20, None, 20, None]
    assert [one["cost"] for one in designs] == [0.0003, None, 0.0003, None]
    assert "[key] may not do that" in designs[1]["refusal"]
    assert "[key]" in designs[2]["reply"]
    assert "slots.json" in designs[2]["refusal"] or "no JSON" in designs[2]["refusal"]
    assert "web page" in designs[3]["refusal"]
    assert all(one["reward"] is None for one in designs)
    entries = lines(run, "rounds")
    assert [one["backend"] for one in entries] == [
        {"asks": 2, "failed": 1, "prompt_tokens": 100, "completion_tokens": 20, "cost": 0.0003}
    ] * 2
    assert all(one["tokens"]["designer"] == 20 for one in entries)
    assert all(one["gradient"].get("designer", 0.0) == 0.0 for one in entries)
    assert all(one["gradient"]["agent"] >= 0 and one["designer_reward"] is None for one in entries)
    assert [one["stock"] for one in entries] == [None, None]


@pytest.mark.soak
def test_designs_are_made_beside_training_and_neither_a_kill_nor_control_c_loses_one(
    model_folder: Path, registry: Path, tmp_path: Path
) -> None:
    def act(request: Request) -> None:
        time.sleep(0.3)
        request.reply(completion(specification(request), usage=(100, 20)))

    output, run = tmp_path / "output.txt", tmp_path / "beside"
    with serving(act) as web:
        said = words(model_folder, tmp_path, "beside", 99, web.url, "--designer_ahead", "2")
        process = start(said, registry, output)
        wait_for(run / "ahead" / "000002.json", process)  # a round has taken the first designs, and goes on
        process.kill()
        kept = orders(run)
        process = start(["resume", str(run)], registry, output)
        end = time.monotonic() + 600
        while len(played(run)) < sum(len(order["seeds"]) for order in kept):
            if process.exitcode is not None or time.monotonic() > end:
                process.kill()
                pytest.fail(output.read_text())
            time.sleep(0.1)
        os.kill(process.pid, signal.SIGINT)
        process.join(120)
    assert process.exitcode == 130, output.read_text()
    assert f"to go on: spade-train resume {run}" in output.read_text()
    nowhere(run)
    entries, replies = lines(run, "rounds"), played(run)
    assert entries[0]["stock"]["taken"] == 0  # nothing was ready: it played the curriculum
    assert entries[0]["designs"] == 0
    assert sum(one["stock"]["taken"] for one in entries) == len(replies)
    assert len(set(replies)) == len(replies)  # none is played twice
    now = {order["serial"]: order for order in orders(run)}
    for order in kept:
        if order["designs"] is not None:  # what was written before the kill was not asked for again
            assert order["designs"] == now[order["serial"]]["designs"]
            assert all(sum(r.body["seed"] == seed for r in web.requests) == 1 for seed in order["seeds"])
    written = [design["reply"] for order in now.values() for design in order["designs"] or ()]
    assert replies == written[: len(replies)]  # in the order in which they were asked for
    left = Queue(run / "ahead", len(entries)).open()
    assert {order.serial for order in left} == {s for s in now if s >= len(replies) // 2}  # and none is lost


def orders(run: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted((run / "ahead").glob("[0-9]*.json"))]


def played(run: Path) -> list[str]:
    """The replies of whole rounds, in order."""
    done = {entry["round"] for entry in lines(run, "rounds")}
    return [design["reply"] for design in lines(run, "designs") if design["round"] in done]
