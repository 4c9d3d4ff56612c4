"""A pool has workers ready, replaces them, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from processes import descriptors, eventually, workers, zygote
from small_designs import ENDLESS, design

from spade_envs.contract import Rejection
from spade_envs.errors import WorkerFault
from spade_envs.isolation import Limits, Quarantine, Worker, WorkerPool


@pytest.fixture(autouse=True)
def nothing_left() -> object:
    Worker.start().close()
    assert eventually(lambda: not workers())
    before = descriptors()
    yield
    assert eventually(lambda: not workers())
    assert descriptors() == before


def test_spares_are_forked_ahead_and_ended_with_the_pool() -> None:
    with WorkerPool(spares=3):
        assert eventually(lambda: len(workers()) == 3)


def test_a_spare_is_handed_out_and_replaced() -> None:
    with WorkerPool(spares=1) as pool:
        assert eventually(lambda: len(workers()) == 1)
        (spare,) = workers()
        taken = pool.take(design())
        assert isinstance(taken, Worker)
        assert eventually(lambda: len(workers()) == 2)
        assert spare in workers()
        taken.close()
        assert eventually(lambda: len(workers()) == 1)
        assert spare not in workers()


def test_a_worker_outlives_its_pool() -> None:
    with WorkerPool(spares=1) as pool:
        taken = pool.take(design())
    assert isinstance(taken, Worker)
    taken.make()
    taken.close()
    again = pool.take(design())
    assert isinstance(again, Worker)
    again.close()


def test_a_refused_source_is_a_value_and_costs_no_worker() -> None:
    with WorkerPool(spares=0) as pool:
        assert isinstance(pool.take("import os"), Rejection)
        assert eventually(lambda: not workers())


def test_a_dead_spare_is_nobodys_concern() -> None:
    with WorkerPool(spares=1) as pool:
        assert eventually(lambda: len(workers()) == 1)
        os.kill(workers()[0], signal.SIGKILL)
        assert eventually(lambda: not workers())
        taken = pool.take(design())
        assert isinstance(taken, Worker)
        taken.close()


def test_a_spare_whose_zygote_died_is_nobodys_concern() -> None:
    with WorkerPool(spares=1) as pool:
        assert eventually(lambda: len(workers()) == 1)
        os.kill(zygote(), signal.SIGKILL)
        assert eventually(lambda: not workers())
        taken = pool.take(design())
        assert isinstance(taken, Worker)
        taken.close()


def test_compiling_that_kills_is_counted() -> None:
    quarantine = Quarantine(most_deaths=1)
    long = design() + "".join(f"\n\ndef unknown_{k}(x):\n    return x + {k}\n" for k in range(200))
    with WorkerPool(Limits(build_s=1e-6), spares=0, quarantine=quarantine) as pool:
        with pytest.raises(WorkerFault, match="compiling took longer"):
            pool.take(long)
        with pytest.raises(WorkerFault, match="1 workers in a row"):
            pool.take(long)


def test_threads_may_share_a_pool() -> None:
    def play(number: int) -> int:
        worker = pool.take(design())
        assert isinstance(worker, Worker)
        worker.make()
        worker.reset(0, number)
        seen: int = worker.step(0, number % 8)[0]
        worker.close()
        return seen

    with WorkerPool(spares=2) as pool, ThreadPoolExecutor(4) as threads:
        assert list(threads.map(play, range(24))) == [1] * 24


def test_many_kills_leave_nothing() -> None:
    """The long form is `python benchmarks/kills.py`."""
    with WorkerPool(Limits(call_s=0.01), spares=1, quarantine=Quarantine(10**9)) as pool:
        for _ in range(40):
            worker = pool.take(design(reset=ENDLESS))
            assert isinstance(worker, Worker)
            worker.make()
            with pytest.raises(WorkerFault, match="took longer"):
                worker.reset(0, 0)
            assert not worker.alive
