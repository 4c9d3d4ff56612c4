"""A worker: what goes right, what goes wrong, and that nothing of it is left over."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from processes import children, descriptors, eventually, lives, outcome, settle, workers, zygote
from small_designs import ENDLESS, HEADER, design, prepared

from spade_envs.contract import Rejection
from spade_envs.errors import IsolationError, UsageError, WorkerFault
from spade_envs.isolation import Limits, Worker, fork_server
from spade_envs.isolation.worker import _SAMPLE

PATIENT = Limits(build_s=30, call_s=30)  # the machine may be busy


@pytest.fixture
def worker() -> Iterator[Worker]:
    patient = Worker.start(PATIENT)
    yield patient
    patient.close()


def test_an_instance_is_described_and_plays(worker: Worker) -> None:
    description = worker.load(design())
    assert not isinstance(description, Rejection)
    assert (description.class_name, str(description.header.id)) == ("Sample", "spade/Sample-v0")
    info = worker.make(bonus=1)
    assert info.rules == "Add up the numbers.\n\nSay the sum."
    assert (info.action_names, info.tools, info.has_render) == (None, [], True)
    assert info.metadata == {"render_modes": ["ansi"], "render_fps": 4}
    assert worker.reset(info.index, 3)[0] == 0
    assert worker.step(info.index, 5) == (1, 0.0, False, False, {"is_success": False})
    assert worker.render(info.index) == "turn 1"
    assert worker.hint(info.index) == "Count."
    assert worker.expert_action(info.index) == worker.reset(info.index, 3)[1]["secret"]


def test_a_refused_source_gives_its_findings(worker: Worker) -> None:
    refused = worker.load(HEADER + "import os\n")
    assert isinstance(refused, Rejection)
    assert {finding.line for finding in refused.findings} >= {17}
    refused = worker.load("no header")
    assert isinstance(refused, Rejection)
    assert not isinstance(worker.load(design()), Rejection)


def test_instances_share_nothing(worker: Worker) -> None:
    module = "COUNTS = []\n"
    first = prepared(worker, module=module, reset="COUNTS.append(1)", observation="len(COUNTS)")
    second = worker.make().index
    assert [worker.reset(first)[0] for _ in range(3)] == [1, 2, 3]
    assert worker.reset(second)[0] == 1
    worker.close_instance(second)
    assert worker.reset(first)[0] == 4


DRAW = "self._turn = random.randrange(8) + int(np.random.randint(2)) * 0"


def test_a_seed_fixes_all_generators_and_unseeded_resets_go_on(worker: Worker) -> None:
    one = prepared(worker, reset=DRAW)
    other = worker.make().index

    def sequence(index: int, seed: int) -> list[Any]:
        return [worker.reset(index, at) for at in (seed, None, None, None)]

    first = sequence(one, 5)
    sequence(other, 6)
    assert sequence(other, 5) == first
    assert sequence(one, 5) == first
    assert sequence(one, 6) != first


def overrun(call: str, limits: Limits) -> float:
    """Play a design of which one call never ends; return by how many seconds the host's call outlasts its limit."""
    worker = Worker.start(limits)
    worker.load(design(**{call: ENDLESS}))
    calls = [worker.make, lambda: worker.reset(0), lambda: worker.step(0, 0), lambda: worker.render(0)]
    for ask in [*calls, lambda: worker.hint(0), lambda: worker.expert_action(0)]:
        begin = time.monotonic()
        got = outcome(ask)
        took = time.monotonic() - begin
        if isinstance(got, WorkerFault):
            break
    assert (got.kind, worker.alive) == ("timeout", False)
    assert str(got).startswith({"init": "__init__", "expert": "expert_action"}.get(call, call))
    assert "gone" in str(outcome(worker.hint, 0))
    return took - (limits.build_s if call == "init" else limits.call_s)


@pytest.mark.parametrize("call", ["init", "reset", "step", "render", "hint", "expert"])
def test_a_call_that_does_not_end_is_stopped_in_time(call: str) -> None:
    limits = Limits(build_s=2 if call == "init" else 30, call_s=0.7)
    tries = (overrun(call, limits) for _ in range(4))  # the machine may be busy
    assert any(0 <= late < 0.2 for late in tries)


@pytest.mark.parametrize(
    ("statement", "kind", "says"),
    [
        ("1 / 0", "raised", r"step: ZeroDivisionError: division by zero \(line \d+\)"),
        ("self.step(action)", "raised", "RecursionError"),
        ("raise ValueError('\\ud800')", "raised", r"ValueError: \?"),
        ("raise Odd()", "raised", "Odd"),
        ("sum(range(10 ** 14))", "timeout", "step took longer than 0.5 s"),
        ("raise Hanging()", "timeout", "step took longer than 0.5 s"),
    ],
)
def test_faults_of_a_step_have_a_kind(statement: str, kind: str, says: str) -> None:
    module = textwrap.dedent("""
        class Hanging(Exception):
            def __str__(self):
                while True:
                    pass


        class Odd(Exception):
            def __str__(self):
                raise ValueError
    """)
    worker = Worker.start(Limits(call_s=0.5) if kind == "timeout" else PATIENT)
    index = prepared(worker, step=statement, module=module)
    worker.reset(index)
    with pytest.raises(WorkerFault, match=says) as caught:
        worker.step(index, 0)
    assert caught.value.kind == kind
    assert worker.alive == (kind == "raised")
    if worker.alive:
        assert worker.reset(index)[0] == 0
    worker.close()


@pytest.mark.parametrize(
    "statement",
    [
        "self._x = bytearray(10 ** 10)",
        "self._x = np.zeros((10 ** 5, 10 ** 5))",
        "self._x = []\nwhile True:\n    self._x.append(bytearray(10 ** 6))",
        "self._x = []\nwhile True:\n    self._x.append(len(self._x) + 10 ** 9)",
        "x = 'x'\nwhile True:\n    x += x",
    ],
)
def test_too_much_memory_is_reported(statement: str) -> None:
    worker = Worker.start(Limits(call_s=30, memory_mb=48))
    index = prepared(worker, step=statement)
    worker.reset(index)
    with pytest.raises(WorkerFault, match="step: the design used up its memory") as caught:
        worker.step(index, 0)
    assert caught.value.kind == "memory"
    assert not worker.alive


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"reward": "None"}, "reward must be a finite float, found NoneType"),
        ({"reward": "float('nan')"}, "reward"),
        ({"reward": "-np.inf"}, "reward"),
        ({"reward": "'1'"}, "found str 1"),
        ({"reward": "10 ** 30"}, "64 bits"),
        ({"reward": "np.zeros(2)"}, "found ndarray"),
        ({"info": "None"}, "info must be a dict, found NoneType"),
        ({"info": "{'x': object}"}, "object of type type"),
        ({"info": "{'x': {1: {2: [1j]}}}"}, "object of type complex"),
        ({"info": "{'x': ['.'] * 200_000}"}, "100,000 items"),
        ({"info": "{'x': '.' * 10_000_000}"}, "result has 10,000,"),
        ({"step": "return 9"}, "five|step.. must return"),
        ({"step": "return 0, 0.0, False, {}"}, "found 4 values"),
        ({"step": "return 0, 0.0, 1, False, {}"}, "terminated must be a bool, found int 1"),
        ({"step": "return 0, 0.0, False, None, {}"}, "truncated must be a bool"),
        ({"step": "return 9, 0.0, False, False, {}"}, "observation is not in its space: 9 is not in 0 to 8"),
        ({"step": "return 2.5, 0.0, False, False, {}"}, "no whole number"),
        ({"step": "return np.zeros(3), 0.0, False, False, {}"}, "no whole number"),
    ],
    ids=str,
)
def test_results_that_break_the_contract_are_named(worker: Worker, parts: dict[str, str], says: str) -> None:
    index = prepared(worker, **parts)
    worker.reset(index)
    with pytest.raises(WorkerFault, match=says) as caught:
        worker.step(index, 0)
    assert caught.value.kind == "contract"
    assert worker.alive


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        ({"observation_space": "None"}, "does not set self.observation_space"),
        ({"action_space": "spaces.Box(0, 1, (2048, 1024))"}, "more than 1,048,576 numbers"),
        ({"init": "self.action_names = ['a', 'b']"}, "action_names must be 8 texts"),
        ({"init": "self.action_names = list(range(8))"}, "action_names must be 8 texts"),
        (
            {"init": "self.action_names = ['a']", "action_space": "spaces.MultiBinary(3)"},
            "for Discrete action spaces only",
        ),
    ],
    ids=str,
)
def test_declarations_that_break_the_contract_are_named(
    worker: Worker, parts: dict[str, str], says: str
) -> None:
    worker.load(design(**parts))
    with pytest.raises(WorkerFault, match=says) as caught:
        worker.make()
    assert caught.value.kind == "contract"


def test_hint_render_and_expert_are_checked(worker: Worker) -> None:
    index = prepared(worker, hint="return 5", render="return ['x']", expert_action="99")
    worker.reset(index)
    for ask, says in (
        (worker.hint, "hint: it must return text, found int"),
        (worker.render, "render: it must return text, found list"),
        (worker.expert_action, "expert_action: 99 is not in 0 to 7"),
    ):
        with pytest.raises(WorkerFault, match=says):
            ask(index)


def test_habits_are_understood(worker: Worker) -> None:
    index = prepared(
        worker, reward="np.float32(0.5)", info="{'is_success': np.bool_(True), 'at': (1, 2), 'seen': {3, 1}}"
    )
    worker.reset(index)
    _, reward, terminated, _, info = worker.step(index, np.int64(2))
    assert (reward, type(reward), terminated) == (0.5, float, False)
    assert info == {"is_success": True, "at": (1, 2), "seen": [1, 3]}


def test_actions_outside_the_space_are_the_callers_fault(worker: Worker) -> None:
    index = prepared(worker)
    worker.reset(index)
    for action in (8, -1, "1", 1.0, None, [1]):
        with pytest.raises(UsageError, match="not in the action space"):
            worker.step(index, action)
    assert worker.step(index, 7)[0] == 1


def test_what_is_printed_is_kept(worker: Worker) -> None:
    index = prepared(worker, step="print('at', self._turn)")
    worker.reset(index)
    worker.step(index, 0)
    assert worker.printed(index) == "at 1\n"


def test_large_messages_pass(worker: Worker) -> None:
    index = prepared(
        worker,
        observation_space="spaces.Box(0, 255, (1000, 1000), np.uint8)",
        observation="np.full((1000, 1000), self._turn, np.uint8)",
        action_space="spaces.Text(900_000)",
    )
    worker.reset(index)
    observation = worker.step(index, "a" * 900_000)[0]
    assert observation.shape == (1000, 1000)
    assert observation.sum() == 10**6


def test_a_killed_worker_is_noticed_with_its_signal(worker: Worker) -> None:
    index = prepared(worker)
    (process,) = workers()
    os.kill(process, signal.SIGKILL)
    with pytest.raises(WorkerFault, match=r"reset: the worker died \(signal SIGKILL\)") as caught:
        worker.reset(index)
    assert caught.value.kind == "died"


def test_an_interrupted_call_ends_the_worker(worker: Worker) -> None:
    """Else its late reply would answer the next request."""
    index = prepared(worker, step="while True:\n    pass")
    worker.reset(index)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            worker.step(index, 0)
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    assert not worker.alive


def test_two_hundred_kills_leave_nothing() -> None:
    Worker.start().close()
    gc.collect()
    parent, others = zygote(), children()
    settle()
    before = (descriptors(), descriptors(parent), len(children(parent)))
    source = design(step=ENDLESS)
    for count in range(200):
        worker = Worker.start(Limits(call_s=0.5))
        if count % 40 == 0:
            worker.load(source)
            worker.make()
            worker.reset(0)
            assert outcome(worker.step, 0, 0).kind == "timeout"
        elif count % 2:
            worker.close()
        del worker
    assert eventually(lambda: (descriptors(), descriptors(parent), len(children(parent))) == before)
    assert children() == others


def test_a_dead_zygote_is_replaced() -> None:
    Worker.start().close()
    parent = zygote()
    worker = Worker.start()
    prepared(worker)
    (process,) = workers()
    os.kill(parent, signal.SIGKILL)
    assert eventually(lambda: not lives(process))
    with pytest.raises(WorkerFault, match="is lost") as caught:
        worker.reset(0)
    assert caught.value.kind == "closed"  # nothing that the design did
    worker = Worker.start()
    assert worker.reset(prepared(worker))[0] == 0
    worker.close()
    assert parent not in children()


def test_a_machine_that_cannot_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server.sys, "platform", "darwin")
    with pytest.raises(IsolationError, match="needs Linux"):
        fork_server._Zygote(0)


def test_a_zygote_that_does_not_start_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fork_server.sys, "executable", "/bin/false")
    before = (descriptors(), children())
    with pytest.raises(IsolationError, match="could not start"):
        fork_server._Zygote(0)
    gc.collect()
    assert (descriptors(), children()) == before


HOST = """
import os, sys, time
from spade_envs.isolation import Worker
worker = Worker.start()
worker.load(sys.argv[1])
worker.make()
worker.reset(0, 1)
if sys.argv[2] == "fork":
    child = os.fork()
    if child == 0:
        assert not worker.alive
        own = Worker.start()
        own.load(sys.argv[1])
        own.make()
        own.reset(0, 1)
        print("child", own.step(0, 0)[0], flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    print("parent", worker.step(0, 0)[0])
elif sys.argv[2] == "copied":
    if os.fork() == 0:
        time.sleep(60)
    print("ready", flush=True)
    time.sleep(60)
else:
    print("ready", flush=True)
    time.sleep(60)
"""


def host(mode: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOST, design(step=ENDLESS if mode == "busy" else "pass"), mode]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_a_forked_child_starts_its_own() -> None:
    with host("fork") as process:
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert said.splitlines() == ["child 1", "parent 1"]


@pytest.mark.parametrize("mode", ["plain", "copied"])
def test_a_killed_host_leaves_no_orphan(mode: str) -> None:
    """Not even where a forked copy of the host lives on."""
    with host(mode) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        family = children(process.pid)
        zygotes = [child for child in family if children(child)]
        all_workers = [worker for zygote in zygotes for worker in children(zygote)]
        assert len(zygotes) == len(all_workers) == 1
        process.kill()
        process.wait()
        assert eventually(lambda: not any(map(lives, zygotes + all_workers)))
        for copy in set(family) - set(zygotes):
            os.kill(copy, signal.SIGKILL)


def test_hash_seeds_have_interpreters_of_their_own() -> None:
    orders = set()
    for hash_seed in (0, 1):
        worker = Worker.start(hash_seed=hash_seed)
        index = prepared(worker, info="{'order': ''.join({'ab', 'cd', 'ef', 'gh', 'ij', 'kl'})}")
        worker.reset(index, 0)
        orders.add(worker.step(index, 0)[4]["order"])
        worker.close()
    assert len(orders) == 2


def test_isolation_none_gives_the_same_without_a_process() -> None:
    before = children()
    local, isolated = Worker.start(isolation="none"), Worker.start()
    for worker in (local, isolated):
        prepared(worker, reset=DRAW, step="1 / (3 - self._turn)")
    assert local.reset(0, 4) == isolated.reset(0, 4)
    for _ in range(4):
        assert str(outcome(local.step, 0, 1)) == str(outcome(isolated.step, 0, 1))
    for worker in (local, isolated):
        worker.close()
        worker.close()
        assert not worker.alive
    assert before == children()


def test_the_warm_up_design_plays() -> None:
    trial = Worker.start(isolation="none")
    loaded = trial.load(_SAMPLE)
    assert not isinstance(loaded, Rejection)
    index = trial.make().index
    trial.reset(index, 0)
    assert trial.step(index, 0)[2]


def test_instances_have_their_own_settings_of_decimal(worker: Worker) -> None:
    source = design(
        module="from decimal import Decimal, getcontext",
        reset="if seed == 1:\n    getcontext().prec = 3",
        render="return f'{Decimal(1) / Decimal(7)}'",
    )
    worker.load(source)
    first, second = worker.make().index, worker.make().index
    worker.reset(first, 1)
    worker.reset(second, 2)
    assert (worker.render(first), worker.render(second)) == ("0.143", "0.1428571428571428571428571429")


def test_many_steps_at_once_are_the_same_steps(worker: Worker) -> None:
    index = prepared(
        worker, observation_space="spaces.Box(0, 99, (2,))", observation="np.full(2, self._turn)"
    )
    worker.reset(index, 3)
    singly = [worker.step(index, action) for action in (1, 2, 3)]
    worker.reset(index, 3)
    turns = worker.advance(index, [1, 2, 3], watch=True)
    assert [turn.action for turn in turns] == [1, 2, 3]
    for turn, (observation, *rest) in zip(turns, singly, strict=True):
        assert turn.observation.tolist() == observation.tolist()
        assert [turn.reward, turn.terminated, turn.truncated, turn.info] == rest
    assert [turn.view for turn in turns] == [(f"turn {k}", "Count.") for k in (1, 2, 3)]
    worker.reset(index, 3)
    assert {turn.action for turn in worker.advance(index, 2)} == {worker.expert_action(index)}


def test_many_steps_share_a_deadline() -> None:
    worker = Worker.start(Limits(call_s=0.3))
    index = prepared(worker, step="while self._turn == 3:\n    pass")
    worker.reset(index)
    with pytest.raises(UsageError, match="8 is not in"):
        worker.advance(index, [1, 8])
    begin = time.monotonic()
    with pytest.raises(WorkerFault, match="advance took longer") as caught:
        worker.advance(index, [1] * 9)
    assert caught.value.kind == "timeout"
    assert time.monotonic() - begin < 0.3 + 9 * 0.005 + 1


def test_memory_that_a_design_keeps_shows(worker: Worker) -> None:
    index = prepared(worker, init="self._kept = []", step="self._kept.append([action])")
    worker.reset(index)
    before, _ = worker.memory()
    for _ in range(50):
        worker.reset(index)
        worker.advance(index, [1] * 6)
    after, peak = worker.memory()
    assert 250 <= after - before <= 700
    assert 20 < peak < 500
