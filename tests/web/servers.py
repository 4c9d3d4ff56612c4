"""A real server of pages in a thread of the test's process, on a port of its own."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import replace

from spade_envs.web import Rate, WebSettings
from spade_envs.web.serving import listen, server

UNLIMITED = Rate(per_second=1e6, burst=10**6)


@contextlib.contextmanager
def serving(settings: WebSettings, *, hurried: bool = True) -> Iterator[str]:
    """Serve pages while the block runs, and give their address, without a slash at its end.

    Args:
        settings: their port does not matter.
        hurried: whether tests may ask as often as they like.
    """
    if hurried:
        settings = replace(settings, rate=UNLIMITED)
    ready = threading.Event()
    running = server(settings, ready.set)
    listening = listen("127.0.0.1", 0)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        assert ready.wait(30), "the server did not start"
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        running.should_exit = True
        thread.join(20)
        listening.close()
    assert not thread.is_alive(), "the server did not end"
