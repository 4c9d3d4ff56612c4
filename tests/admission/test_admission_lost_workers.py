"""A worker that is taken away says nothing about the design: judging goes on with another, or gives no verdict."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest
from designs import HONEST
from processes import eventually, lives, zygote

from spade_envs.admission import Report, Settings, judge
from spade_envs.errors import IsolationError, WorkerFault
from spade_envs.isolation import Worker

QUICK = Settings(reset_seeds=20, expert_seeds=10, more_expert_seeds=0, replayed_seeds=2)


def kill_zygote() -> None:
    process = zygote()
    os.kill(process, signal.SIGKILL)
    assert eventually(lambda: not lives(process))


def gates(report: Report) -> list[tuple[str, bool]]:
    return [(gate.name, gate.passed) for gate in report.gates]


def test_a_kept_worker_whose_zygote_died_is_replaced() -> None:
    assert not judge(f"{HONEST}\nimport os\n").admitted  # its worker has run nothing, and waits
    kill_zygote()
    report = judge(HONEST, settings=QUICK)
    assert report.admitted, report.text()
    judge(f"{HONEST}\nimport os\n")
    kill_zygote()
    found = judge(HONEST.replace('domain = "games"', 'domain = "fun"') + "\nimport os\n").gates[0].findings
    assert {finding.rule.partition(".")[0] for finding in found} == {"header", "language"}


@pytest.mark.parametrize("call", ["load", "reset"])
@pytest.mark.parametrize("at", [1, 2])
def test_a_zygote_that_dies_in_the_middle_is_no_finding(
    monkeypatch: pytest.MonkeyPatch, call: str, at: int
) -> None:
    real, calls = getattr(Worker, call), 0

    def robbed(self: Worker, *arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == at:
            kill_zygote()
        return real(self, *arguments, **options)

    monkeypatch.setattr(Worker, call, robbed)
    report = judge(HONEST, settings=QUICK)
    assert report.admitted, report.text()
    assert calls >= at


def test_workers_that_are_always_lost_are_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def lost(*_: Any, **__: Any) -> Any:
        raise WorkerFault("closed", "reset: the worker is lost, the process that forked it has ended")

    monkeypatch.setattr(Worker, "reset", lost)
    with pytest.raises(IsolationError, match="is lost"):
        judge(HONEST, settings=QUICK)
