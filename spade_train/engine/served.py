"""vLLM's server (TRL's ``vllm_mode: server``): a request of its own for each turn, which the server batches."""

from __future__ import annotations

import math
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from spade_train.playing.engine import EngineError, Reply, Request

AT_ONCE = 64
"""Requests on their way at once; TRL's client keeps so many connections."""


class Served:
    """Asks through TRL's client.

    Args:
        client: TRL's ``VLLMClient``.
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._threads = ThreadPoolExecutor(AT_ONCE, "vllm")
        self._asked: set[Future[Reply]] = set()

    def ask(self, request: Request) -> None:
        """See :class:`Engine`."""
        self._asked.add(self._threads.submit(self._answer, request))

    def replies(self) -> list[Reply]:
        """See :class:`Engine`."""
        done, self._asked = wait(self._asked, return_when=FIRST_COMPLETED)
        return [one.result() for one in done]

    def forget(self) -> None:
        """See :class:`Engine`. What the server is at work on it finishes for nobody."""
        for one in self._asked:
            one.cancel()
        self._asked.clear()

    def _answer(self, request: Request) -> Reply:
        more: dict[str, Any] = {"stop_token_ids": request.stops}
        if request.schema is not None:
            more["structured_outputs"] = {"json": dict(request.schema)}
        words = request.words()
        more["seed"] = words.pop("seed")
        try:
            said = self._client.generate([list(request.tokens)], **words, generation_kwargs=more)
            (tokens,), (chances,) = said["completion_ids"], said["logprobs"]
            chances = [math.nan if at[0] is None else at[0] for at in chances]
        except Exception as problem:  # the client raises plain ones, and those of its HTTP library
            raise EngineError(f"vLLM's server failed: {str(problem)[:500]}") from problem
        if not tokens:
            raise EngineError("vLLM's server gave up a request: its reply is empty")
        return Reply(request.row, list(tokens), chances)
