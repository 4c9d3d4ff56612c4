"""vLLM in this process: what it is asked and how its answers are read. Its place is taken by a module of this test."""

from __future__ import annotations

import importlib.machinery
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from spade_envs.errors import UsageError
from spade_train.backends import Answer, Ask, Failed, Options, Price, open_backend

ASKS = [
    Ask(({"role": "user", "content": "a"},), 1, max_tokens=5),
    Ask(({"role": "user", "content": "b"},), 2, schema={"type": "object"}),
]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A stand-in with vLLM's own names; returns what its engine was given."""
    seen: dict[str, Any] = {}

    class LLM:
        def __init__(self, model: str) -> None:
            if model == "broken":
                raise RuntimeError("no GPU\nand more")

        def chat(self, chats: Any, sampling_params: Any, use_tqdm: bool) -> list[Any]:
            if chats[0][0]["content"] == "long":
                raise ValueError("the prompt is longer than the model reads\nat line 7")
            seen.update(chats=chats, sampling=sampling_params)
            said = [("yes", "stop", [1, 2]), ("{", "length", [3])]
            return [
                SimpleNamespace(
                    prompt_token_ids=[0] * 4,
                    outputs=[SimpleNamespace(text=text, finish_reason=end, token_ids=ids)],
                )
                for text, end, ids in said
            ]

    module, sampling = ModuleType("vllm"), ModuleType("vllm.sampling_params")
    module.__spec__ = importlib.machinery.ModuleSpec("vllm", None)
    module.LLM, module.SamplingParams = LLM, SimpleNamespace  # type: ignore[attr-defined]
    sampling.StructuredOutputsParams = SimpleNamespace  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", sampling)
    return seen


def test_all_asks_go_to_the_engine_at_once(asked: dict[str, Any]) -> None:
    found = open_backend("vllm:small", Options(Price(1.0, 1.0))).answer(ASKS)
    assert found == [Answer("yes", 4, 2, cost=6e-6), Answer("{", 4, 1, cut=True, cost=5e-6)]
    assert asked["chats"] == [[{"role": "user", "content": "a"}], [{"role": "user", "content": "b"}]]
    one, other = asked["sampling"]
    assert (one.seed, one.max_tokens, one.temperature, one.top_p, one.structured_outputs) == (
        1,
        5,
        0.8,
        0.95,
        None,
    )
    assert other.structured_outputs.json == {"type": "object"}


@pytest.mark.usefixtures("asked")
def test_what_the_engine_refuses_is_a_reason_in_one_line() -> None:
    found = open_backend("vllm:small").answer([Ask(({"role": "user", "content": "long"},), 1)] * 2)
    assert found == [Failed("vllm:small: the prompt is longer than the model reads")] * 2


@pytest.mark.usefixtures("asked")
def test_a_model_that_cannot_be_loaded_is_told() -> None:
    with pytest.raises(UsageError, match=r"vllm:broken cannot be loaded: no GPU$"):
        open_backend("vllm:broken").answer(ASKS)


def test_where_it_is_missing_the_mend_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(
        UsageError, match=r"not installed here.*pip install.*openai:http://HOST:8000/v1#small"
    ):
        open_backend("vllm:small")
