"""The host's end of a worker in a container, and how one is started."""

from __future__ import annotations

import os
import time

from spade_envs.errors import IsolationError, WorkerFault
from spade_envs.isolation import channel
from spade_envs.isolation.client import Client, Ending
from spade_envs.isolation.container_commands import RUNTIMES, Container, find_runtime
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.pipes import FrameError, FramePipes
from spade_envs.isolation.wire import READY

START_S = {"bwrap": 60.0, "podman": 600.0, "docker": 600.0}
"""How long each runtime may take until the worker is ready: some must fetch an image first."""
_MENDS = {
    "bwrap": "Bubblewrap needs namespaces, which some kernels and outer containers refuse",
    "podman": "try the image by hand: podman run --rm {image} python3 --version",
    "docker": "try the image by hand: docker run --rm {image} python3 --version",
}


def open_container(limits: Limits, hash_seed: int) -> ContainerChannel:
    """Start a worker in a container of its own.

    Raises:
        IsolationError: this machine cannot start one.
    """
    channel.check_platform("container")
    runtime = find_runtime()
    container = Container.of_worker(limits, hash_seed)
    if runtime == "bwrap":
        client = Client(RUNTIMES[runtime](container), {})
    else:
        client = Client(RUNTIMES[runtime](container), dict(os.environ), [runtime, "kill", container.name])
    opened = ContainerChannel(client, limits)
    problem = opened.await_ready(START_S[runtime])
    if problem is not None:
        mend = _MENDS[runtime].format(image=container.image)
        raise IsolationError(f"{runtime} could not start a worker: {problem}. {mend}.")
    return opened


class ContainerChannel(channel.Sequential):
    """A worker in a container. Not for use by two threads at once.

    Args:
        client: what runs the container.
        limits: the worker's limits.
    """

    alive = False

    def __init__(self, client: Client, limits: Limits) -> None:
        self.places: memoryview | None = None
        self._client = client
        self._pipes = FramePipes(client.requests, client.replies, limits.message_bytes)
        self.alive = True
        channel.track(self)

    def await_ready(self, seconds: float) -> str | None:
        """Wait for the worker's first frame. Where that does not come, end it and return what was wrong."""
        try:
            first = self._pipes.receive(time.monotonic() + seconds)
            if first == READY:
                return None
            problem = f"{first[:40]!r} came before it was ready"
        except TimeoutError:
            problem = f"it was not ready after {seconds:g} s"
        except FrameError:
            problem = "what came was no message"
        except EOFError:
            problem = "it ended"
        except BaseException:
            self.close()
            raise
        ending = self._end(channel.STATUS_WAIT_S)
        return f"{problem} ({_shown(ending)})"

    def exchange(self, message: bytes, seconds: float, call: str) -> bytes:
        """See :class:`~spade_envs.isolation.channel.Channel`."""
        if not self.alive:
            raise WorkerFault("closed", f"{call}: the worker is gone")
        deadline = time.monotonic() + seconds
        try:
            self._pipes.send(message, deadline)
            return self._pipes.receive(deadline)
        except TimeoutError:
            self.close()
            raise WorkerFault("timeout", f"{call} took longer than {seconds:.3g} s and was stopped") from None
        except (EOFError, BrokenPipeError):
            ending = self._end(channel.STATUS_WAIT_S)
            raise WorkerFault("died", f"{call}: the worker died ({_shown(ending)})") from None
        except FrameError as error:
            self.close()
            raise WorkerFault("protocol", f"{call}: {error}") from None
        except BaseException:  # an interrupted exchange leaves a reply that would answer the next request
            self.close()
            raise

    def close(self) -> None:
        """End the worker and its container. Safe to call again."""
        if self.alive:
            self._end(0)

    def _end(self, patience_s: float) -> Ending:
        self.alive = False
        self._pipes.close()  # the container ends when nobody holds the other end of its input
        return self._client.end(patience_s)

    def abandon(self) -> None:
        """Let go of the worker without waiting. In a forked child the parent's worker lives on."""
        if self.alive:
            self.alive = False
            self._pipes.close()
            self._client.abandon()

    def __del__(self) -> None:
        self.close()


def _shown(ending: Ending) -> str:
    if ending.status is None:
        how = "how is unknown"
    elif ending.status > 128:  # as shells say that a signal ended something
        how = f"signal {channel.signal_name(ending.status - 128)}"
    else:
        how = f"exit status {ending.status}"
    return f"{how}: {ending.said}" if ending.said else how
