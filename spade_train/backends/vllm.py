"""Designs from vLLM in this process, on a GPU. Its server is spoken to as any other: see ``server.py``."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from spade_envs.errors import UsageError
from spade_train.backends.interface import Answer, Ask, Failed
from spade_train.backends.options import Options


class Vllm:
    """Asks vLLM's engine, which batches as it sees fit.

    Args:
        model: a folder or a name on the hub.
        options: a price, where costs are wanted.

    Raises:
        UsageError: vLLM is not installed.
    """

    def __init__(self, model: str, options: Options | None = None) -> None:
        if importlib.util.find_spec("vllm") is None:
            raise UsageError(
                f"vllm:{model}: vLLM is not installed here. Install it on a machine with a GPU (pip install "
                f"'spade-envs[vllm]'), or start its server there (vllm serve {model}) and name that: "
                f"openai:http://HOST:8000/v1#{model}."
            )
        self.model, self.options = model, options or Options()

    @property
    def name(self) -> str:
        """Kind and model."""
        return f"vllm:{self.model}"

    @cached_property
    def _engine(self) -> Any:
        from vllm import LLM

        try:
            return LLM(model=self.model)
        except Exception as problem:  # whatever the GPU, the hub or the files lead it into
            said = next(iter(str(problem).splitlines()), type(problem).__name__)
            raise UsageError(f"vllm:{self.model} cannot be loaded: {said}") from problem

    def answer(self, asks: Sequence[Ask]) -> list[Answer | Failed]:
        """Ask for all of them at once. Raises UsageError where the model cannot be loaded."""
        if not asks:
            return []
        engine = self._engine
        chats = [[dict(message) for message in ask.messages] for ask in asks]
        try:
            outputs = engine.chat(chats, sampling_params=[_sampling(ask) for ask in asks], use_tqdm=False)
        except (RuntimeError, ValueError) as problem:  # a prompt that is too long refuses them all
            said = next(iter(str(problem).splitlines()), type(problem).__name__)
            return [Failed(f"{self.name}: {said}")] * len(asks)
        return [self._answer(output) for output in outputs]

    def _answer(self, output: Any) -> Answer:
        said = output.outputs[0]
        tokens = len(output.prompt_token_ids or ()), len(said.token_ids)
        return Answer(said.text, *tokens, cut=said.finish_reason == "length", cost=self.options.cost(*tokens))


def _sampling(ask: Ask) -> Any:
    from vllm import SamplingParams
    from vllm.sampling_params import StructuredOutputsParams

    return SamplingParams(
        seed=ask.seed,
        max_tokens=ask.max_tokens,
        temperature=ask.temperature,
        top_p=ask.top_p,
        structured_outputs=None if ask.schema is None else StructuredOutputsParams(json=dict(ask.schema)),
    )
