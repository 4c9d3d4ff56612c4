"""vLLM's engine in this process (TRL's ``vllm_mode: colocate``)."""

from __future__ import annotations

from itertools import count
from typing import Any

from spade_train.playing.engine import EngineError, Reply, Request


class Colocated:
    """Hands requests to the engine as they come and steps it: whoever has spoken is answered at once.

    Args:
        llm: vLLM's ``LLM``, with its engine in this process.
    """

    def __init__(self, llm: Any) -> None:
        self._engine = llm.llm_engine
        self._names = map(str, count())
        self._asked: dict[str, int] = {}

    def ask(self, request: Request) -> None:
        """See :class:`Engine`."""
        name = next(self._names)
        try:
            self._engine.add_request(name, {"prompt_token_ids": list(request.tokens)}, _parameters(request))
        except Exception as problem:  # vLLM's own kinds differ from version to version
            raise EngineError(
                f"vLLM refused a request of {len(request.tokens)} tokens: {problem}"
            ) from problem
        self._asked[name] = request.row

    def replies(self) -> list[Reply]:
        """See :class:`Engine`."""
        while self._asked:
            if done := [self._reply(one) for one in self._step() if one.finished]:
                return done
        return []

    def forget(self) -> None:
        """See :class:`Engine`."""
        if self._asked:
            self._engine.abort_request(list(self._asked))
        self._asked.clear()

    def _step(self) -> list[Any]:
        try:
            return list(self._engine.step())
        except Exception as problem:  # out of memory, a dead device
            raise EngineError(f"vLLM failed: {str(problem)[:500] or type(problem).__name__}") from problem

    def _reply(self, output: Any) -> Reply:
        (said,) = output.outputs
        if said.finish_reason not in ("stop", "length") or not said.token_ids:
            raise EngineError(f"vLLM gave up a request ({said.finish_reason})")
        tokens = list(said.token_ids)
        chances = [at[token].logprob for at, token in zip(said.logprobs, tokens, strict=True)]
        return Reply(self._asked.pop(output.request_id), tokens, chances)


def _parameters(request: Request) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import RequestOutputKind, StructuredOutputsParams

    schema = request.schema
    return SamplingParams(
        **request.words(),
        stop_token_ids=request.stops,
        detokenize=False,
        output_kind=RequestOutputKind.FINAL_ONLY,
        structured_outputs=None if schema is None else StructuredOutputsParams(json=dict(schema)),
    )
