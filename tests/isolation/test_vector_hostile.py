"""Whatever a worker says of a batch, the host answers with a fault or with values that obey the contract."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from small_designs import design
from test_wire import values

from spade_envs.errors import WorkerFault
from spade_envs.isolation import Limits, WorkerPool, batch_wire, wire
from spade_envs.isolation.batch_host import BatchWorker
from spade_envs.isolation.batch_results import Reader, ReplyError
from spade_envs.isolation.batch_wire import Group, Reply
from spade_envs.isolation.columns import Block, block_bytes
from spade_envs.vector import IsolatedVectorEnv

SPACE = spaces.Dict(
    {
        "a": spaces.Box(-1, 1, (2,), np.float32),
        "b": spaces.Discrete(3, start=5),
        "c": spaces.Text(4),
        "d": spaces.Tuple([spaces.MultiDiscrete([2, 3]), spaces.MultiBinary(2)]),
    }
)
COUNT = 3


def block(data: bytes) -> tuple[memoryview, Block]:
    memory = memoryview(
        bytearray((data * (block_bytes(SPACE, COUNT) // max(len(data), 1) + 1)) or bytes(4096))
    )
    return memory, Block(SPACE, COUNT, memory)


def honest() -> tuple[memoryview, Block]:
    memory, laid = block(b"\0")
    for column, value in zip(laid.columns, (0, 5, None, 0, 0), strict=True):
        if column is not None:
            column[...] = value
    return memory, laid


def reply(**fields: Any) -> Reply:
    usual = {
        "status": "ok",
        "texts": [["a", "b", "c"]],
        "views": None,
        "groups": [Group(None, ["k"], [[1, 2, 3]])],
        "infos": [],
        "odd": [],
        "finals": [],
        "undone": [],
        "block": b"",
    }
    return Reply(**(usual | fields))


def check(memory: memoryview, said: Reply) -> Any:
    """Read a reply; what comes of it must be refused, faulty, or in its space."""
    try:
        results = Reader(SPACE, COUNT, memory).results(said, COUNT, "step")
    except ReplyError:
        return None
    for row in set(range(COUNT)) - results.faults.keys() - set(results.undone):
        a, b, c, d0, d1 = (column[row] for column in results.columns)
        assert SPACE.contains({"a": a, "b": np.int64(b), "c": c, "d": (d0, d1)})
        assert np.isfinite(results.rewards[row])
    assert results.terminated.dtype == results.truncated.dtype == np.bool_
    assert {*results.terminated.tobytes(), *results.truncated.tobytes()} <= {0, 1}
    for row, info in results.infos.items():
        assert type(info) is dict
        assert 0 <= row < COUNT
    return results


@settings(max_examples=200)
@given(st.binary(max_size=64))
def test_the_memory_may_hold_anything(data: bytes) -> None:
    check(block(data)[0], reply())


rows = st.lists(
    st.tuples(st.integers(-2, COUNT + 1), st.binary(max_size=20) | values.map(lambda v: wire.encode([v])))
)
texts = st.lists(st.lists(st.text(max_size=5), max_size=COUNT + 1), max_size=2)
groups = st.lists(
    st.builds(
        Group,
        st.none() | st.lists(st.integers(-1, COUNT), max_size=4),
        st.lists(st.text(max_size=3), max_size=2),
        st.lists(st.lists(st.integers() | st.none() | st.text(max_size=2), max_size=4), max_size=2),
    ),
    max_size=2,
)


@settings(max_examples=300)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "texts": texts,
            "views": st.none() | st.lists(st.none() | st.text(max_size=3), max_size=4),
            "groups": groups,
            "infos": rows,
            "odd": rows,
            "finals": rows,
            "undone": st.lists(st.integers(-1, COUNT), max_size=4),
        },
    )
)
def test_every_field_of_a_reply_may_be_hostile(fields: dict[str, Any]) -> None:
    check(honest()[0], reply(**fields))


@settings(max_examples=200)
@given(st.integers(0, 5), values)
def test_every_field_of_a_row_of_its_own_may_be_hostile(field: int, value: Any) -> None:
    observation = {"a": np.zeros(2, np.float32), "b": 5, "c": "ab", "d": (np.array([1, 2]), np.array([1, 0]))}
    row: list[Any] = ["ok", observation, 0.5, False, True, {"x": 1}]
    row[field] = value
    results = check(honest()[0], reply(odd=[(1, wire.encode(row))]))
    if results is not None and 1 not in results.faults:
        assert results.infos.keys() == {1}


def test_an_honest_reply_is_read() -> None:
    memory, laid = honest()
    laid.rewards[:] = [1, 2, 3]
    laid.flags[:] = [[0, 1, 0], [0, 0, 1]]
    results = check(memory, reply())
    assert not results.faults
    assert results.rewards.tolist() == [1, 2, 3]
    assert results.terminated.tolist() == [False, True, False]
    laid.rewards[1] = np.nan
    laid.columns[0][2] = 1.5  # type: ignore[index]
    results = check(memory, reply())
    assert sorted(results.faults) == [1, 2]
    assert "finite" in str(results.faults[1])
    assert "['a']" in str(results.faults[2])


@settings(max_examples=100)
@given(st.binary(max_size=60) | values.map(msgspec.msgpack.Encoder(enc_hook=str).encode))
def test_bytes_may_be_anything(data: bytes) -> None:
    said = batch_wire.decode(data)
    assert said is None or isinstance(said, Reply)


@pytest.mark.parametrize(
    "lie", [b"", b"\xc0", wire.encode(["ok"]), wire.encode(["memory", "x"]), wire.encode([5])]
)
def test_a_worker_that_lies_again_and_again_is_replaced_and_named(lie: bytes, monkeypatch: Any) -> None:
    pool = WorkerPool(Limits(call_s=1), spares=0)
    vector = IsolatedVectorEnv(design(), 3, pool=pool)
    vector.reset(seed=0)
    honest_reply, lies = BatchWorker._reply, [1]

    def lying(self: BatchWorker, call: str, patience: Any) -> Any:
        if call == "step" and lies and lies.pop():
            self._channel.collect(patience, call)
            monkeypatch.setattr(self._channel, "collect", lambda *_: lie)
        return honest_reply(self, call, patience)

    monkeypatch.setattr(BatchWorker, "_reply", lying)
    got = vector.step([0, 1, 2])
    named = np.flatnonzero(got[3])
    assert len(named) <= 1, "one lie is one instance's at most"
    assert [got[0][at] for at in range(3) if at not in named] == [1] * (3 - len(named))
    lies += [1] * 50
    got = vector.step([0, 0, 0])
    assert got[3].all()
    assert got[4]["_fault"].all()
    lies.clear()
    vector.step([0, 0, 0])
    assert not vector.step([0, 0, 0])[3].any()
    vector.close()


def test_a_fault_of_the_whole_worker_is_one() -> None:
    with pytest.raises(WorkerFault, match="environment 0: __init__: ZeroDivisionError"):
        IsolatedVectorEnv(design(init="1 / 0"), 2)
