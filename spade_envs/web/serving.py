"""The server that the pages run in."""

from __future__ import annotations

import gc
import socket
from collections.abc import Callable

import uvicorn

from spade_envs.web.app import create_app
from spade_envs.web.patience import Patient
from spade_envs.web.settings import WebSettings

_MOST_OF_A_HEAD = 2_000_000
"""How much of a request's head is read before it is given up, in bytes: what is too long is still told so."""
_MOST_CONNECTIONS = 256


class Server(uvicorn.Server):
    """A server that says when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], object] | None = None) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started and self._ready:
            self._ready()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that the pages can be served on, at a free port for 0. Raises OSError.

    What it accepts sends at once: an answer goes out in two parts, and the second would wait for a visitor's machine to
    acknowledge the first, which takes 40 ms.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=128)
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def server(settings: WebSettings, ready: Callable[[], object] | None = None) -> Server:
    """Return the server of an application, ready to run."""
    config = uvicorn.Config(
        create_app(settings),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        http=Patient,
        h11_max_incomplete_event_size=_MOST_OF_A_HEAD,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=3,
    )
    return Server(config, ready)


def run(settings: WebSettings, listening: socket.socket, ready: Callable[[], object] | None = None) -> None:
    """Serve pages until a signal ends it; the signal is then raised as the command's other ends are."""
    serving = server(settings, ready)
    gc.freeze()  # what is imported by now stays: to look through it again and again holds all up for 0.2 s
    serving.run(sockets=[listening])
