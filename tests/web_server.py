"""A server on loopback whose every answer is scripted, byte by byte."""

from __future__ import annotations

import contextlib
import json
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Act = Callable[["Request"], None]


@dataclass
class Request:
    """One request, and the socket that its answer goes to."""

    socket: socket.socket
    number: int
    head: str
    body: dict[str, Any]
    over: threading.Event

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def reply(self, body: bytes, status: str = "200 OK", **headers: str) -> None:
        lines = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Connection": "close"}
        lines |= {name.replace("_", "-"): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        self.send(f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body)

    def complete(self, *texts: str | None, usage: tuple[int, int] | None = (7, 5), end: str = "stop") -> None:
        self.reply(completion(*texts, usage=usage, end=end))


def completion(*texts: str | None, usage: tuple[int, int] | None = (7, 5), end: str = "stop") -> bytes:
    choices = [
        {"index": n, "message": {"role": "assistant", "content": text}, "finish_reason": end}
        for n, text in enumerate(texts)
    ]
    counted = {"prompt_tokens": usage[0], "completion_tokens": usage[1]} if usage else None
    return json.dumps({"choices": choices, "usage": counted}).encode()


@dataclass
class Scripted:
    """The running server: its address, and what it was asked."""

    url: str
    requests: list[Request] = field(default_factory=list)


@contextmanager
def serving(act: Act) -> Iterator[Scripted]:
    """Serve on a free port of loopback; ``act`` answers every request, in a thread of its own."""
    over = threading.Event()

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            data = b""
            while b"\r\n\r\n" not in data:
                data += (chunk := self.request.recv(65_536))
                if not chunk:
                    return
            head, _, body = data.partition(b"\r\n\r\n")
            lengths = [
                line.split(b":")[1]
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length")
            ]
            while len(body) < int(lengths[0]):
                body += self.request.recv(65_536)
            request = Request(self.request, len(server.requests), head.decode(), json.loads(body), over)
            server.requests.append(request)
            with contextlib.suppress(OSError):  # the client has given it up
                act(request)

    class Listener(socketserver.ThreadingTCPServer):
        daemon_threads, block_on_close, allow_reuse_address = True, False, True

    with Listener(("127.0.0.1", 0), Handler) as listener:
        server = Scripted(f"http://127.0.0.1:{listener.server_address[1]}/v1")
        thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield server
        finally:
            over.set()
            listener.shutdown()
            thread.join()
