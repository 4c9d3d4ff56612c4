"""Whatever a worker says, the host answers with a fault or with values that obey the contract."""

from __future__ import annotations

import math
import os
import socket
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
from spade_envs.isolation.channel import LocalChannel, ProcessChannel
from spade_envs.isolation.spaces import describe

SOURCE = design(observation_space="spaces.Box(0, 9, (2,), np.uint8)", observation="np.zeros(2, np.uint8)")


few = settings(max_examples=60)  # each example sets a design up


class LyingChannel:
    """A worker of which the next reply is what the test says."""

    def __init__(self) -> None:
        self._honest = LocalChannel(Limits())
        self.lie: bytes | None = None
        self.alive = True

    def exchange(self, message: bytes, seconds: float, call: str) -> bytes:
        reply = self._honest.exchange(message, seconds, call)
        lie, self.lie = self.lie, None
        return reply if lie is None else lie

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


FIELDS = ["observation_space", "action_space", "rules", "action_names", "tools", "render_fps", "has_render"]


@few
@given(st.sampled_from([*FIELDS, "index", "all"]), values)
@example("all", np.zeros(()))
def test_every_field_of_a_description_may_be_hostile(field: str, value: Any) -> None:
    worker, channel = playing()
    data = {
        "observation_space": describe(spaces.Discrete(2)),
        "action_space": describe(spaces.Discrete(2)),
        "rules": "",
        "action_names": None,
        "tools": [],
        "render_fps": None,
        "has_render": True,
    }
    if field in FIELDS:
        data[field] = value
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


class Pipe:
    """A process channel of which the test plays the worker."""

    def __init__(self, limits: Limits) -> None:
        self.requests, requests = os.pipe()
        replies, self.replies = os.pipe()
        lease, self.lease = socket.socketpair()
        self.channel = ProcessChannel(requests, replies, lease.detach(), limits)

    def close(self) -> None:
        self.channel.close()
        os.close(self.requests)
        os.close(self.replies)
        self.lease.close()


@pytest.mark.parametrize(
    ("said", "kind", "says"),
    [
        (b"", "timeout", "0.1 s"),
        (b"\x05\x00", "timeout", "0.1 s"),
        (b"\x05\x00\x00\x00abc", "timeout", "0.1 s"),
        (b"\x01\x00\x00\x00abc", "protocol", "longer than it says"),
        (b"\x00\x00\xff\xffabc", "protocol", "bytes; at most 1,048,576"),
        (b"\xff\xff\xff\xff" + b"x" * 60_000, "protocol", "bytes; at most 1,048,576"),
    ],
    ids=lambda said: str(said)[:30],
)
def test_frames_may_be_hostile(said: bytes, kind: str, says: str) -> None:
    pipe = Pipe(Limits(message_mb=1))
    os.write(pipe.replies, said)
    begin = time.monotonic()
    with pytest.raises(WorkerFault, match=says) as caught:
        pipe.channel.exchange(b"message", 0.1, "step")
    assert caught.value.kind == kind
    assert time.monotonic() - begin < 0.1 + 0.2
    assert not pipe.channel.alive
    pipe.close()


def test_a_worker_that_does_not_read_cannot_hold_the_host_up() -> None:
    pipe = Pipe(Limits())
    begin = time.monotonic()
    with pytest.raises(WorkerFault, match=r"0\.1 s"):
        pipe.channel.exchange(b"x" * (4 << 20), 0.1, "step")
    assert time.monotonic() - begin < 0.1 + 0.2
    pipe.close()


def test_a_reply_may_come_in_pieces() -> None:
    pipe = Pipe(Limits())
    if os.fork() == 0:
        for part in (b"\x03\x00", b"\x00\x00", b"ab", b"c"):
            os.write(pipe.replies, part)
            time.sleep(0.02)
        os._exit(0)
    assert pipe.channel.exchange(b"message", 5, "step") == b"abc"
    os.wait()
    pipe.close()
