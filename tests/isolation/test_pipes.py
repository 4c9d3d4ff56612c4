"""Whatever comes out of a container's pipe, the host answers with a reply or a fault, and in time."""

from __future__ import annotations

import shlex
import time

import pytest
from processes import children, descriptors

from spade_envs.errors import WorkerFault
from spade_envs.isolation import Limits
from spade_envs.isolation.client import Client
from spade_envs.isolation.container import ContainerChannel


def saying(*parts: bytes, then: str = "exec sleep 60", limits: Limits | None = None) -> ContainerChannel:
    """A worker that says this, in pieces."""
    texts = ("".join(f"\\{byte:03o}" for byte in part) for part in parts)
    script = "; sleep 0.05; ".join(f"printf {shlex.quote(text)}" for text in texts)
    return ContainerChannel(Client(["sh", "-c", f"{script}\n{then}"], {}), limits or Limits())


@pytest.mark.parametrize(
    ("said", "kind", "says"),
    [
        (b"", "timeout", "step took longer than 0.3 s"),
        (b"\x05\x00", "timeout", "0.3 s"),
        (b"\x05\x00\x00\x00abc", "timeout", "0.3 s"),
        (b"\x01\x00\x00\x00abc", "protocol", "longer than it says"),
        (b"\x00\x00\xff\xffabc", "protocol", "bytes; at most 1,048,576"),
        (b"\xff\xff\xff\xff" + b"x" * 20_000, "protocol", "bytes; at most 1,048,576"),
    ],
    ids=lambda said: str(said)[:30],
)
def test_frames_may_be_hostile(said: bytes, kind: str, says: str) -> None:
    before = (descriptors(), children())
    channel = saying(said, limits=Limits(message_mb=1))
    begin = time.monotonic()
    with pytest.raises(WorkerFault, match=says) as caught:
        channel.exchange(b"message", 0.3, "step")
    assert caught.value.kind == kind
    assert time.monotonic() - begin < 2  # the worker sleeps a minute
    assert not channel.alive
    assert (descriptors(), children()) == before


def test_a_worker_that_does_not_read_cannot_hold_the_host_up() -> None:
    channel = saying()
    begin = time.monotonic()
    with pytest.raises(WorkerFault, match=r"0\.1 s"):
        channel.exchange(b"x" * (4 << 20), 0.1, "step")
    assert time.monotonic() - begin < 2  # else it would wait for ever; a busy machine may take a while


def test_a_worker_that_closes_its_pipe_and_lives_is_ended() -> None:
    before = children()
    channel = saying(then="exec sleep 60 >&-")
    with pytest.raises(WorkerFault, match=r"the worker died \(how is unknown\)"):
        channel.exchange(b"message", 5, "step")
    assert children() == before


def test_a_reply_may_come_in_pieces() -> None:
    channel = saying(b"\x03\x00", b"\x00\x00", b"ab", b"c")
    assert channel.exchange(b"message", 5, "step") == b"abc"
    channel.close()
    channel.close()


def test_what_the_runtime_says_last_is_told() -> None:
    channel = saying(then="echo no space left >&2; exit 125")
    with pytest.raises(WorkerFault, match=r"step: the worker died \(exit status 125: no space left\)"):
        channel.exchange(b"message", 5, "step")
    with pytest.raises(WorkerFault, match="step: the worker is gone"):
        channel.exchange(b"message", 5, "step")
