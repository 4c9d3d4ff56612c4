"""Whatever a worker says, the host answers with a fault or with values that obey the contract."""

from __future__ import annotations

import fcntl
import math
import mmap
import os
import socket
import struct
import time
from typing import Any

import msgspec
import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import example, given, settings
from hypothesis import strategies as st
from processes import outcome
from small_designs import design
from test_wire import values

from spade_envs.contract import Rejection
from spade_envs.errors import WorkerFault
from spade_envs.isolation import Description, Limits, Worker, wire
from spade_envs.isolation.channel import ForkedChannel, LocalChannel
from spade_envs.isolation.conform import OutsideError, checker
from spade_envs.isolation.mailbox import Mailbox
from spade_envs.isolation.places import lay_out, size_of
from spade_envs.isolation.spaces import describe

SOURCE = design(observation_space="spaces.Box(0, 9, (2,), np.uint8)", observation="np.zeros(2, np.uint8)")


few = settings(max_examples=60)  # each example sets a design up


class LyingChannel:
    """A worker of which the next reply is what the test says."""

    def __init__(self) -> None:
        self._honest = LocalChannel(Limits())
        self.lie: bytes | None = None
        self.places: memoryview | None = None
        self.alive = True

    def exchange(self, message: bytes, seconds: float, call: str) -> bytes:
        lie, self.lie = self.lie, None
        return self._honest.exchange(message, seconds, call) if lie is None else lie

    def close(self) -> None:
        self.alive = False


def playing() -> tuple[Worker, LyingChannel]:
    channel = LyingChannel()
    worker = Worker(channel, Limits())
    assert not isinstance(worker.load(SOURCE), Rejection)
    worker.make()
    worker.reset(0, 0)
    return worker, channel


def check_step(result: Any) -> None:
    observation, reward, terminated, truncated, info = result
    assert observation.dtype == np.uint8
    assert observation.shape == (2,)
    assert observation.max() <= 9
    assert type(reward) is float
    assert math.isfinite(reward)
    assert type(terminated) is type(truncated) is bool
    assert type(info) is dict


HONEST = ["ok", np.zeros(2, np.uint8), 0.5, False, False, {"is_success": False}]


@few
@given(st.integers(0, 5), values)
@example(0, np.zeros(0))
def test_every_field_of_a_step_may_be_hostile(field: int, value: Any) -> None:
    worker, channel = playing()
    lie = [*HONEST]
    lie[field] = value
    channel.lie = wire.encode(lie)
    got = outcome(worker.step, 0, 1)
    if isinstance(got, WorkerFault):
        assert got.kind in ("contract", "protocol", "raised", "memory")
        assert worker.alive == (got.kind in ("contract", "raised"))
    else:
        check_step(got)


@few
@given(st.binary(max_size=60) | values.map(msgspec.msgpack.Encoder(enc_hook=str).encode))
def test_a_reply_may_be_anything(lie: bytes) -> None:
    worker, channel = playing()
    channel.lie = lie
    with pytest.raises(WorkerFault) as caught:
        worker.step(0, 1)
    assert caught.value.kind == "protocol"
    assert not worker.alive


FIELDS = [
    "observation_space",
    "action_space",
    "rules",
    "action_names",
    "tools",
    "render_fps",
    "has_render",
    "places",
]


def description(**fields: Any) -> dict[str, Any]:
    """What an instance says of itself, with some fields as given."""
    honest = {
        "observation_space": describe(spaces.Discrete(2)),
        "action_space": describe(spaces.Discrete(2)),
        "rules": "",
        "action_names": None,
        "tools": [],
        "render_fps": None,
        "has_render": True,
        "places": None,
    }
    return honest | fields


@few
@given(st.sampled_from([*FIELDS, "index", "all"]), values)
@example("all", np.zeros(()))
def test_every_field_of_a_description_may_be_hostile(field: str, value: Any) -> None:
    worker, channel = playing()
    data = description(**({field: value} if field in FIELDS else {}))
    lie = ["ok", value if field == "index" else 3, value if field == "all" else data]
    channel.lie = wire.encode(lie)
    got = outcome(worker.make)
    if isinstance(got, WorkerFault):
        assert got.kind in ("contract", "protocol")
    else:
        assert isinstance(got.action_space, spaces.Space)
        assert type(got.rules) is str
        assert all(type(tool) is dict for tool in got.tools)
        assert got.metadata["render_fps"] > 0


@few
@given(values, values)
def test_findings_may_be_hostile(name: Any, findings: Any) -> None:
    channel = LyingChannel()
    worker = Worker(channel, Limits())
    channel.lie = wire.encode(["ok", name, findings])
    got = outcome(worker.load, SOURCE)
    assert isinstance(got, Rejection | Description) or got.kind == "protocol"


@few
@given(
    st.sampled_from(["hint", "render", "expert_action", "reset"]),
    values,
    st.sampled_from(["ok", "raised", "memory", "contract", "other"]),
)
def test_other_replies_may_be_hostile(call: str, value: Any, status: str) -> None:
    worker, channel = playing()
    channel.lie = wire.encode([status, value])
    got = outcome(getattr(worker, call), 0)
    assert isinstance(got, WorkerFault | (int if call == "expert_action" else str | None))


@few
@given(st.integers(0, 7), values)
@example(6, ["text"])
@example(7, None)
def test_every_field_of_a_turn_may_be_hostile(field: int, value: Any) -> None:
    worker, channel = playing()
    turn = [1, *HONEST[1:], ["text", "hint"]]
    lie = value if field == 7 else [[*turn[:field], value, *turn[field + 1 :]]]
    channel.lie = wire.encode(["ok", lie])
    got = outcome(worker.advance, 0, [1])
    if isinstance(got, WorkerFault):
        assert got.kind in ("contract", "protocol")
        return
    for found in got:
        check_step((found.observation, found.reward, found.terminated, found.truncated, found.info))
        assert found.view is None or [type(part) for part in found.view] in ([str, str], [type(None), str])


@few
@given(values, values)
def test_what_it_says_of_its_memory_may_be_hostile(blocks: Any, peak: Any) -> None:
    worker, channel = playing()
    channel.lie = wire.encode(["ok", blocks, peak])
    got = outcome(worker.memory)
    if isinstance(got, WorkerFault):
        assert got.kind == "protocol"
    else:
        assert [type(part) for part in got] == [int, int]


class Impostor:
    """A channel of which the test plays the worker."""

    def __init__(self, limits: Limits) -> None:
        mailbox, memory = Mailbox.create(limits.message_bytes)
        self.memory = mmap.mmap(memory, 0)
        self.reply_area = 16 + limits.message_bytes  # a head, and a message each way
        os.close(memory)
        asked, self.answered = os.eventfd(0), os.eventfd(0)
        lease, self.lease = socket.socketpair()
        self.channel = ForkedChannel(mailbox, asked, os.dup(self.answered), lease.detach(), limits)

    def reply(self, number: int, length: int) -> None:
        """Announce a reply, whatever stands there."""
        struct.pack_into("<QQ", self.memory, self.reply_area, number, length)
        os.eventfd_write(self.answered, 1)

    def close(self) -> None:
        self.channel.close()
        os.close(self.answered)
        self.lease.close()


@pytest.mark.parametrize(
    ("number", "length", "says"),
    [
        (0, 3, "not asked"),
        (2, 3, "not asked"),
        (2**64 - 1, 3, "not asked"),
        (1, (1 << 20) + 1, "bytes; at most 1,048,576"),
        (1, 2**64 - 1, "bytes; at most 1,048,576"),
    ],
)
def test_announcements_may_be_hostile(number: int, length: int, says: str) -> None:
    impostor = Impostor(Limits(message_mb=1))
    impostor.reply(number, length)
    with pytest.raises(WorkerFault, match=says) as caught:
        impostor.channel.exchange(b"message", 0.1, "step")
    assert caught.value.kind == "protocol"
    assert not impostor.channel.alive
    impostor.close()


def test_a_worker_that_does_not_answer_cannot_hold_the_host_up() -> None:
    impostor = Impostor(Limits())
    begin = time.monotonic()
    with pytest.raises(WorkerFault, match=r"0\.1 s") as caught:
        impostor.channel.exchange(b"x" * (4 << 20), 0.1, "step")
    assert caught.value.kind == "timeout"
    assert time.monotonic() - begin < 2  # else it would wait for ever; a busy machine may take a while
    impostor.close()


def test_a_request_too_long_is_refused_before_it_is_sent() -> None:
    impostor = Impostor(Limits(message_mb=1))
    with pytest.raises(WorkerFault, match="too long to send"):
        impostor.channel.exchange(b"x" * ((1 << 20) + 1), 0.1, "reset")
    assert impostor.channel.alive
    impostor.close()


def test_the_memory_cannot_shrink_under_the_host() -> None:
    _, memory = Mailbox.create(1 << 20)
    for change in (1, 64 << 20):
        with pytest.raises(PermissionError):
            os.ftruncate(memory, change)
    with pytest.raises(PermissionError):
        fcntl.fcntl(memory, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE)
    os.close(memory)


@few
@given(st.binary(min_size=8, max_size=8))
def test_what_lies_in_a_place_is_checked_like_any_observation(content: bytes) -> None:
    """The worker says that the array is in its place; the bytes there are the worker's own."""
    space = spaces.Dict(a=spaces.Box(-1, 1, (2,), np.float32), b=spaces.Discrete(3))
    memory = memoryview(bytearray(size_of(space)))
    memory[:8] = content
    got = outcome_of(checker(space, lay_out(space, memory, 0)), {"a": None, "b": 1})
    inside = bool(np.all(np.abs(np.frombuffer(content, np.float32)) <= 1))
    assert isinstance(got, dict) == inside
    if inside:
        memory[:8] = b"\xff" * 8
        assert got["a"].tobytes() == content
        assert got in space


def outcome_of(check: Any, value: Any) -> Any:
    try:
        return check(value)
    except OutsideError as error:
        return error


@pytest.mark.parametrize("start", [-1, 1 << 40, (8 << 20) - 63, True, 1.5, "0", None])
def test_a_place_outside_of_the_memory_is_refused(start: Any) -> None:
    channel = LyingChannel()
    channel.places = memoryview(bytearray(8 << 20))
    worker = Worker(channel, Limits())
    data = description(observation_space=describe(spaces.Box(0, 1, (2,))), places=start)
    channel.lie = wire.encode(["ok", 0, data])
    got = outcome(worker.make)
    assert got.index == 0 if start is None else got.kind == "protocol"
