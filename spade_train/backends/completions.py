"""OpenAI's chat completions as data: an ask as a request's body, a response's body as answers.

Both a server and a folder of replies speak it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from spade_envs.contract import printable
from spade_train.backends.interface import Answer, Ask, Failed
from spade_train.backends.options import Options
from spade_train.backends.secret import Secret

TEXT = 200
"""The most characters of a server's own words that a reason quotes."""


def batches(asks: Sequence[Ask], together: int) -> list[list[Ask]]:
    """Return the asks in order, those that follow each other and differ by nothing but the seed put together."""
    alike = [list(group) for _, group in groupby(asks, lambda ask: replace(ask, seed=0))]
    return [group[at : at + together] for group in alike for at in range(0, len(group), together)]


def body(asks: Sequence[Ask], model: str, *, modern: bool = False) -> dict[str, Any]:
    """Return the request for asks that differ by nothing but the seed.

    Args:
        modern: whether the limit is called ``max_completion_tokens``, as OpenAI's own newer models insist.
    """
    ask = asks[0]
    request: dict[str, Any] = {
        "model": model,
        "messages": [dict(message) for message in ask.messages],
        "max_completion_tokens" if modern else "max_tokens": ask.max_tokens,
        "temperature": ask.temperature,
        "top_p": ask.top_p,
        "seed": ask.seed,
    }
    if len(asks) > 1:
        request["n"] = len(asks)
    if ask.schema is not None:
        schema = {"name": "reply", "schema": dict(ask.schema)}
        request["response_format"] = {"type": "json_schema", "json_schema": schema}
    return request


def answers(data: Any, count: int, options: Options, key: Secret) -> list[Answer | Failed]:
    """Return what a response's body answers to ``count`` asks; a reason for each where it is not one for them."""
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(choices, list):
        return [Failed(f"the answer holds no choices: {quoted(data, key)}")] * count
    if len(choices) > count:
        return [
            Failed(f"{count} replies were asked for and {len(choices)} came; they belong to no ask")
        ] * count
    texts = [_text(choice) for choice in choices]
    prompt, spent = _usage(data, texts)
    used = shares(spent, [len(text or "") for text in texts])
    found = [
        _answer(choice, text, (0 if at else prompt, used[at]), options, key)
        for at, (choice, text) in enumerate(zip(choices, texts, strict=True))
    ]
    few = f"{count} replies were asked for and {len(choices)} came; does the server know n? Else ask for one at a time"
    return found + [Failed(few)] * (count - len(found))


def shares(total: int, weights: Sequence[int]) -> list[int]:
    """Return ``total`` shared out in proportion to the weights, in whole numbers whose sum is ``total``."""
    if not weights:
        return []
    weights = weights if any(weights) else [1] * len(weights)
    ends = [total * sum(weights[: at + 1]) // sum(weights) for at in range(len(weights))]
    return [end - begin for begin, end in zip([0, *ends], ends, strict=False)]


def quoted(data: Any, key: Secret) -> str:
    """Return the beginning of what a server said, fit for a line of a log and without the key."""
    said = data if isinstance(data, str) else str(_message(data))
    return printable(" ".join(key.hide(said).split())[:TEXT]) or "nothing"


def _message(data: Any) -> Any:
    """The words of an error, where they stand in one of the usual places."""
    for name in ("error", "message", "detail"):
        if isinstance(data, dict) and data.get(name):
            return _message(data[name])
    return data


def _answer(
    choice: Any, text: str | None, tokens: tuple[int, int], options: Options, key: Secret
) -> Answer | Failed:
    if text is None:
        return Failed(f"the reply holds no text: {quoted(choice, key)}")
    cut = choice.get("finish_reason") == "length"
    return Answer(key.hide(text), *tokens, cut=cut, cost=options.cost(*tokens))


def _text(choice: Any) -> str | None:
    try:
        content = choice["message"]["content"]
    except (KeyError, TypeError, IndexError):
        return None
    # half of a surrogate pair is legal JSON, and nothing that could be written into a file
    return content.encode("utf-8", "replace").decode() if isinstance(content, str) else None


def _usage(data: dict[str, Any], texts: Sequence[str | None]) -> tuple[int, int]:
    """Tokens of prompt and replies; where the server does not say, the replies' are a third of their characters."""
    usage = data.get("usage")
    said = usage if isinstance(usage, dict) else {}
    rough = sum(len(text or "") for text in texts) // 3
    return _count(said.get("prompt_tokens"), 0), _count(said.get("completion_tokens"), rough)


def _count(value: Any, otherwise: int) -> int:
    return value if type(value) is int and value >= 0 else otherwise
