"""Designs from a server that speaks OpenAI's chat completions: OpenAI's own, vLLM's, llama.cpp's, ...

Requests go out side by side. A try that comes to nothing is made again after a wait that grows; past its deadline a
request is given up, whatever its server does meanwhile. Whatever goes wrong is a ``Failed``.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from random import Random
from urllib.parse import urlsplit

import httpx2

from spade_train.backends.completions import answers, batches, body, quoted
from spade_train.backends.interface import Answer, Ask, Failed
from spade_train.backends.options import Options
from spade_train.backends.secret import Secret, key_for
from spade_train.backends.trouble import Trouble, of_status, wait

LIMIT = 32 * 2**20
"""Bytes of a response: no reply to a sensible ask is longer."""

_HEADERS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Server:
    """Asks ``<url>/chat/completions``.

    Args:
        url: base address, for example ``http://127.0.0.1:8000/v1``.
        model: as the server calls it.
        options: how it is asked.
        key: sent as a bearer token; by default what the environment holds for this server.
    """

    def __init__(
        self, url: str, model: str, options: Options | None = None, key: Secret | None = None
    ) -> None:
        self.url, self.model, self.options = url.rstrip("/"), model, options or Options()
        self._key = key_for(url) if key is None else key
        host = urlsplit(url).hostname or ""
        self._modern = host == "openai.com" or host.endswith(".openai.com")
        self._proxies = host not in _LOOPBACK  # a proxy's loopback is another machine
        self._rng = Random()  # of waits alone: no result depends on it

    def __repr__(self) -> str:
        return f"Server({self.url!r}, {self.model!r})"

    @property
    def name(self) -> str:
        """Kind and model."""
        return f"openai:{self.model}"

    def answer(self, asks: Sequence[Ask]) -> list[Answer | Failed]:
        """Ask for all of them. It takes at most ``patience.whole`` for each ``parallel`` requests."""
        groups = batches(asks, self.options.together)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self._all(groups))
        with ThreadPoolExecutor(1) as pool:  # a notebook's loop is running already
            return pool.submit(asyncio.run, self._all(groups)).result()

    async def _all(self, groups: Sequence[Sequence[Ask]]) -> list[Answer | Failed]:
        patience, slots = self.options.patience, asyncio.Semaphore(self.options.parallel)
        timeout = httpx2.Timeout(patience.silence, connect=patience.connect, pool=None)
        async with httpx2.AsyncClient(
            timeout=timeout,
            limits=httpx2.Limits(max_connections=self.options.parallel),
            trust_env=self._proxies,
            headers={**_HEADERS, **self._key.headers()},
        ) as client:
            found = await asyncio.gather(*(self._group(client, slots, group) for group in groups))
        return [one for part in found for one in part]

    async def _group(
        self, client: httpx2.AsyncClient, slots: asyncio.Semaphore, asks: Sequence[Ask]
    ) -> list[Answer | Failed]:
        """Ask until there are answers, another try makes no sense, or the time is over."""
        async with slots:
            reason, tried, patience = "", 0, self.options.patience
            end = asyncio.get_running_loop().time() + patience.whole
            while True:
                tried += 1
                try:
                    async with asyncio.timeout_at(end):
                        found = await self._try(client, asks)
                except TimeoutError:
                    reason = f"no answer within {patience.whole:g} s" + (
                        f"; before: {reason}" if reason else ""
                    )
                    break
                if not isinstance(found, Trouble):
                    return found
                reason = found.reason
                pause = wait(found, tried, patience, self._rng)
                if pause is None or asyncio.get_running_loop().time() + pause >= end:
                    break
                await asyncio.sleep(pause)
        return [Failed(f"{self.url}: {reason}", tried - 1)] * len(asks)

    async def _try(self, client: httpx2.AsyncClient, asks: Sequence[Ask]) -> list[Answer | Failed] | Trouble:
        """Ask once."""
        # in ASCII: a document may hold half of a surrogate pair, which no other encoding writes
        request = json.dumps(body(asks, self.model, modern=self._modern)).encode()
        try:
            async with client.stream("POST", f"{self.url}/chat/completions", content=request) as response:
                data = await _whole(response)
                if data is None:
                    return Trouble(f"its reply has more than {LIMIT} bytes")
                return self._understood(response, data, len(asks))
        except (httpx2.HTTPError, OSError) as problem:
            return _trouble(problem, self.options.patience.silence)

    def _understood(
        self, response: httpx2.Response, data: bytes, count: int
    ) -> list[Answer | Failed] | Trouble:
        read: object
        try:
            read = json.loads(data)
        except (ValueError, RecursionError):
            read = None
        if not response.is_success:
            said = data.decode("utf-8", "replace") if read is None else read
            return of_status(
                response.status_code, quoted(said, self._key), response.headers, self._key.variable
            )
        if read is None:
            return _no_json(data)
        return [self._placed(one) for one in answers(read, count, self.options, self._key)]

    def _placed(self, one: Answer | Failed) -> Answer | Failed:
        return Failed(f"{self.url}: {one.reason}") if isinstance(one, Failed) else one


async def _whole(response: httpx2.Response) -> bytes | None:
    """Return a response's bytes; None where there are too many."""
    data = bytearray()
    async for chunk in response.aiter_bytes():
        data += chunk
        if len(data) > LIMIT:
            return None
    return bytes(data)


def _no_json(data: bytes) -> Trouble:
    if data.lstrip()[:1] == b"<":
        return Trouble("it answers with a web page; name the address of its API, which usually ends in /v1")
    if not data.strip():
        return Trouble("its answer is empty", again=True)
    return Trouble("its answer is no whole JSON", again=True)


def _trouble(problem: Exception, silence: float) -> Trouble:
    if isinstance(problem, httpx2.ConnectError | httpx2.ConnectTimeout):
        said = " ".join(str(problem).split()) or "no connection in time"
        return Trouble(f"nothing answers there ({said}); start the server, or mend the address", again=True)
    if isinstance(problem, httpx2.TimeoutException):
        return Trouble(f"it said nothing for {silence:g} s", again=True)
    if isinstance(problem, httpx2.NetworkError | httpx2.RemoteProtocolError):
        said = " ".join(str(problem).split()) or type(problem).__name__
        return Trouble(f"the connection ended in the middle ({said})", again=True)
    return Trouble(f"{type(problem).__name__}: {' '.join(str(problem).split())}")
