"""Losing one environment loses no other: real hangs, deaths and memory bombs; what the neighbours say after them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings
from hypothesis import strategies as st
from processes import workers
from small_designs import design

from spade_envs.errors import WorkerFault
from spade_envs.isolation import Limits, Quarantine, WorkerPool
from spade_envs.vector import IsolatedVectorEnv

COUNT = 5
HANG, BOMB, RAISE, OUTSIDE, LONG = 7, 6, 5, 4, 3
STEP = """
self._at = (self._at * 31 + action + int(self.np_random.integers(9)) + random.randrange(9)) % 1000
if action == 7:
    while True:
        pass
if action == 6:
    self._bomb = bytearray(10 ** 10)
if action == 5:
    raise ValueError("no")
if action == 4:
    self._at = 5000
if action == 3:
    return "x" * 10 ** 7, 0.0, False, False, {}
"""
FRAGILE = design(
    reset="self._at = int(self.np_random.integers(1000))",
    step=STEP.strip(),
    observation_space="spaces.Discrete(1000)",
    observation="self._at",
    reward="self._at / 7",
    info="{'at': self._at, 'is_success': False}",
)
LIMITS = Limits(call_s=0.5)


@pytest.fixture
def made() -> Iterator[Any]:
    opened = []

    def make(source: str = FRAGILE, count: int = COUNT, **options: Any) -> IsolatedVectorEnv:
        pool = WorkerPool(options.pop("limits", LIMITS), spares=0, quarantine=Quarantine())
        opened.append(IsolatedVectorEnv(source, count, pool=pool, **options))
        return opened[-1]

    yield make
    for vector in opened:
        vector.close()


def quiet(step: int) -> np.ndarray:
    return (np.arange(COUNT) + step) % 3


KINDS = {HANG: "timeout", BOMB: "memory", RAISE: "raised", OUTSIDE: "contract", LONG: "contract"}


@pytest.mark.parametrize("mode", AutoresetMode)
@pytest.mark.parametrize("action", KINDS)
def test_one_is_named_and_the_others_go_on(made: Any, action: int, mode: AutoresetMode) -> None:
    hurt, whole = made(autoreset_mode=mode), made(autoreset_mode=mode)
    for vector in (hurt, whole):
        vector.reset(seed=3)
    for step in range(7):
        actions = quiet(step)
        expected = whole.step(actions)
        if step == 4:
            actions[2] = action
        begin = time.monotonic()
        got = hurt.step(actions)
        assert time.monotonic() - begin < 2.5 + LIMITS.call_s * 2
        others = [0, 1, 3, 4]
        for ours, theirs in zip(got[:4], expected[:4], strict=True):
            np.testing.assert_array_equal(ours[others], theirs[others])
        assert (got[4]["at"][others] == expected[4]["at"][others]).all()
        if step == 4:
            assert got[3][2]
            assert not got[2][2]
            assert got[1][2] == 0
            told = got[4]["final_info"] if mode is AutoresetMode.SAME_STEP else got[4]
            assert told["fault"][2].startswith(KINDS[action]), told
            assert told["worker_restarted"].tolist() == [False, False, True, False, False]
            assert told["_fault"].sum() == 1
            if mode is AutoresetMode.DISABLED:
                mask = got[3].copy()
                hurt.reset(options={"reset_mask": mask})
    assert not got[3][2]


@settings(max_examples=12)
@given(
    st.lists(
        st.tuples(st.integers(0, 9), st.integers(0, COUNT - 1), st.sampled_from([HANG, BOMB, RAISE])),
        max_size=4,
    ),
    st.integers(0, 99),
)
def test_losses_at_random_moments(losses: list[tuple[int, int, int]], seed: int) -> None:
    pool = WorkerPool(Limits(call_s=0.15), spares=0, quarantine=Quarantine(most_deaths=1000))
    hurt, whole = (IsolatedVectorEnv(FRAGILE, COUNT, pool=pool) for _ in range(2))
    for vector in (hurt, whole):
        vector.reset(seed=seed)
    clean = set(range(COUNT))
    for step in range(10):
        actions = quiet(step)
        expected = whole.step(actions)
        over = set(hurt._over)
        hit = {at for when, at, _ in losses if when == step and at not in over}
        for when, at, action in losses:
            if when == step:
                actions[at] = action
        got = hurt.step(actions)
        named = set(np.flatnonzero(got[4].get("_fault", np.zeros(COUNT, bool))).tolist())
        assert named == hit
        clean -= hit
        for ours, theirs in zip(got[:4], expected[:4], strict=True):
            np.testing.assert_array_equal(ours[sorted(clean)], theirs[sorted(clean)])
    hurt.close()
    whole.close()


def kill_worker(vector: IsolatedVectorEnv) -> None:
    """End its worker from outside, as the kernel's memory killer does."""
    mine = vector._crew._squads[0]
    assert mine.alive
    (worker,) = workers()
    os.kill(worker, signal.SIGKILL)


def test_a_worker_that_is_killed_between_steps_loses_one_at_most(made: Any) -> None:
    vector, whole = made(), made(isolation="process")
    whole.close()
    vector.reset(seed=3)
    expected = [vector.step(quiet(step)) for step in range(6)]
    vector.reset(seed=3)
    for step in range(3):
        vector.step(quiet(step))
    kill_worker(vector)
    got = [vector.step(quiet(step)) for step in range(3, 6)]
    lost = np.flatnonzero(got[0][3])
    assert len(lost) <= 1
    kept = [at for at in range(COUNT) if at not in lost]
    for ours, theirs in zip(got, expected[3:], strict=True):
        np.testing.assert_array_equal(ours[0][kept], theirs[0][kept])


def test_a_forked_child_rebuilds_all_in_workers_of_its_own(made: Any) -> None:
    vector = made()
    vector.reset(seed=3)
    vector.step(quiet(0))
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = b"failed"
        try:
            said = vector.step(quiet(1))[0].tobytes()
        finally:
            os.write(writing, said)
            os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    assert os.read(reading, 1000) == vector.step(quiet(1))[0].tobytes()
    os.close(reading)


def test_a_neighbour_that_does_not_repeat_itself_is_named(made: Any) -> None:
    source = design(
        module="COUNT = [0]",
        reset="COUNT[0] += 1",
        observation_space="spaces.Discrete(9999)",
        observation="COUNT[0] * 10 + self._turn",
        step="if action == 7:\n    while True:\n        pass",
    )
    vector = made(source, 3)
    vector.reset(seed=0)
    vector.reset(seed=0)
    got = vector.step([7, 0, 0])
    assert got[3].tolist() == [True, True, True]
    assert [fault.split(":")[0] for fault in got[4]["fault"]] == ["timeout", "lost", "lost"]
    assert "does not repeat" in got[4]["fault"][1]
    assert vector.step([0, 0, 0])[3].tolist() == [False] * 3


def test_who_dies_again_and_again_is_asked_no_more(made: Any) -> None:
    vector = made(limits=Limits(call_s=0.05), count=2)
    vector.reset(seed=0)
    for _ in range(10):
        assert vector.step([HANG, 0])[4]["fault"][0].startswith("timeout")
        vector.step([0, 0])
    assert vector.step([0, 0])[4]["fault"][0].startswith("quarantined")
    got = [vector.step([0, 0]) for _ in range(12)]
    assert [step[3].tolist()[0] for step in got] == [True] * 12
    assert not any(step[4]["_fault"][1] for step in got)
    assert any(step[2][1] for step in got), "the neighbour's episodes go on and end in order"


def test_when_all_hang_the_step_ends(made: Any) -> None:
    vector = made(limits=Limits(call_s=0.1))
    vector.reset(seed=0)
    begin = time.monotonic()
    got = vector.step([HANG] * COUNT)
    assert time.monotonic() - begin < 5
    assert got[3].all()
    assert got[4]["_fault"].all()
    assert not vector.step([0] * COUNT)[3].any()


def test_a_fault_is_raised_where_asked(made: Any) -> None:
    vector = made(on_fault="raise")
    vector.reset(seed=0)
    with pytest.raises(WorkerFault, match="environment 1: step: ValueError"):
        vector.step([0, RAISE, 0, 0, 0])
    vector.step([0] * COUNT)


def test_a_reset_that_fails_names_the_environment_and_can_be_tried_again(made: Any) -> None:
    vector = made(design(reset="if seed == 5:\n    1 / 0"), 3)
    with pytest.raises(WorkerFault, match="environment 1: reset: ZeroDivisionError"):
        vector.reset(seed=4)
    observations, _ = vector.reset(seed=7)
    assert observations.tolist() == [0, 0, 0]
    vector.step([0, 0, 0])


def test_a_hint_that_hangs_is_named_and_the_next_step_tells_it(made: Any) -> None:
    secret = int(seeding.np_random(9)[0].integers(8))
    source = design(
        hint=f"if self._secret == {secret}:\n    while True:\n        pass", info="{'turn': self._turn}"
    )
    vector = made(source, 16)
    _, infos = vector.reset(seed=0)
    vector.step([0] * 16)
    guilty = infos["secret"].tolist().index(secret)
    with pytest.raises(WorkerFault, match=f"environment {guilty}: hint took longer"):
        vector.call("hint")
    got = vector.step([0] * 16)
    assert got[4]["fault"][guilty].startswith("timeout")
    assert got[3].sum() == 1
    assert got[4]["turn"].tolist() == [0 if at == guilty else 2 for at in range(16)]
