"""Several designs at once, by processes; and every gate of one design, where all are wanted."""

from __future__ import annotations

import os
import signal

import pytest
from designs import HONEST, flawed
from processes import children, command_line, eventually, lives

from spade_envs.admission import Settings, judge, many
from spade_envs.admission.many import judge_many
from spade_envs.admission.report import Report
from spade_envs.errors import IsolationError

QUICK = Settings(reset_seeds=20, expert_seeds=10, more_expert_seeds=0, replayed_seeds=2)
BAD_HEADER = HONEST.replace('domain = "games"', 'domain = "fun"')
SLOW = HONEST.replace("found = action", "for _ in range(3000000): pass\n        found = action")


def judges() -> list[int]:
    return [pid for pid in children() if b"judging_process" in command_line(pid)]


def family(process: int) -> list[int]:
    return [process, *(pid for child in children(process) for pid in family(child))]


def test_each_verdict_has_its_place() -> None:
    sources = [BAD_HEADER, flawed("runs.raised"), HONEST, flawed("hint.empty"), ""]
    verdicts = dict(judge_many(sources, jobs=2, settings=QUICK))
    assert judges() == []
    alone = dict(judge_many(sources, jobs=1, settings=QUICK))
    assert sorted(verdicts) == sorted(alone) == [0, 1, 2, 3, 4]
    for place, verdict in verdicts.items():
        assert isinstance(verdict, Report)
        assert [gate.as_dict() for gate in verdict.gates] == [gate.as_dict() for gate in alone[place].gates]
    assert [place for place, verdict in verdicts.items() if verdict.admitted] == [2]
    assert list(judge_many([])) == []


def test_closing_stops_the_judges_and_their_workers() -> None:
    verdicts = judge_many([BAD_HEADER, SLOW, SLOW], jobs=2)
    assert next(verdicts)[0] == 0
    (one, other) = judges()
    assert eventually(lambda: len(family(one)) + len(family(other)) >= 6, 60)  # each with zygote and worker
    started = [*family(one), *family(other)]
    verdicts.close()
    assert judges() == []
    assert eventually(lambda: not any(map(lives, started)))


def test_a_judge_that_dies_costs_one_verdict() -> None:
    verdicts = judge_many([SLOW, BAD_HEADER, BAD_HEADER, BAD_HEADER], jobs=2)
    seen = [next(verdicts) for _ in range(3)]  # the other judge has none left
    slow = min(judges())  # the first that was started was given the first design
    assert eventually(lambda: len(family(slow)) >= 3, 60)  # with zygote and worker
    os.kill(slow, signal.SIGKILL)
    seen += verdicts
    by_place = dict(seen)
    assert sorted(by_place) == [0, 1, 2, 3]
    assert isinstance(by_place[0], IsolationError)
    assert "died" in str(by_place[0])
    assert all(isinstance(by_place[place], Report) for place in (1, 2, 3))


def failed(report: Report) -> list[str]:
    return [gate.name for gate in report.gates if not gate.passed]


def test_all_gates_are_asked_after_one_that_is_not_passed() -> None:
    source = flawed("hint.empty").replace("integers(self.lamps))", "integers(2)) + 3")
    assert failed(judge(source, settings=QUICK)) == ["hint"]
    report = judge(source, settings=QUICK, all_gates=True)
    assert failed(report) == ["hint", "short cuts"]
    assert "refused at 'hint', 'short cuts'" in report.text()
    assert "difficulty" in [gate.name for gate in report.gates]
    assert not report.admitted
    assert report.scores is None


def test_after_a_fault_only_gates_that_need_no_play_are_asked() -> None:
    source = flawed("runs.timeout").replace('return "Halve what is left."', 'return " "')
    report = judge(source, settings=QUICK, all_gates=True)
    assert [gate.name for gate in report.gates] == ["form", "runs", "hint", "reward"]
    assert failed(report) == ["runs", "hint"]


def test_a_refused_source_ends_it_all_and_names_both_header_and_code() -> None:
    source = BAD_HEADER.replace("import gymnasium as gym", "import gymnasium as gym\nimport os")
    rules = {finding.rule for finding in judge(source, all_gates=True).findings}
    assert rules == {"header.domain", "language.import"}
    assert {finding.rule for finding in judge(source).findings} == rules
    report = judge(
        HONEST.replace("import gymnasium as gym", "import gymnasium as gym\nimport os"), all_gates=True
    )
    assert [gate.name for gate in report.gates] == ["form"]


def test_a_machine_without_workers_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(*_: object, **__: object) -> Report:
        raise IsolationError("no workers here")

    monkeypatch.setattr(many, "judge", judge)
    ((place, verdict),) = judge_many([HONEST])
    assert (place, str(verdict)) == (0, "no workers here")
    assert isinstance(verdict, IsolationError)
