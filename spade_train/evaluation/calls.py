"""Function calls in a reply, read as literals: nothing that a model wrote is ever evaluated."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass
from typing import Any

_CALL = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
_FENCE = re.compile(r"```\w*\n(.*?)```", re.DOTALL)
LONGEST = 20_000
"""Characters; longer replies hold no calls. Python's parser is not for endless texts."""


@dataclass(frozen=True)
class Call:
    """One call: arguments by name, those without a name in their order."""

    name: str
    named: dict[str, Any]
    unnamed: tuple[Any, ...] = ()

    def source(self) -> str:
        """Return it as Python writes it."""
        said = [*map(repr, self.unnamed), *(f"{name}={value!r}" for name, value in self.named.items())]
        return f"{self.name}({', '.join(said)})"


def read_calls(reply: str) -> list[Call]:
    """Return the calls of a reply, written as ``<tool_call>{json}</tool_call>`` or ``[f(a=1), g(b="x")]``."""
    if found := _CALL.findall(reply):
        return [call for text in found if (call := _of_json(text)) is not None]
    fenced = _FENCE.findall(reply)
    return _of_python((fenced[-1] if fenced else reply).strip())


def _of_json(text: str) -> Call | None:
    try:
        read = json.loads(text)
        arguments = read.get("arguments", read.get("parameters", {}))
        return Call(str(read["name"]), dict(arguments)) if str(read["name"]).isidentifier() else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def _of_python(text: str) -> list[Call]:
    if len(text) > LONGEST:
        return []
    try:
        tree = ast.parse(text if text.startswith("[") else f"[{text}]", mode="eval").body
        nodes = tree.elts if isinstance(tree, ast.List) else []
        calls = [_of_node(node) for node in nodes]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [call for call in calls if call is not None]


def _of_node(node: ast.expr) -> Call | None:
    if not isinstance(node, ast.Call) or any(one.arg is None for one in node.keywords):
        return None
    parts = ast.unparse(node.func).split(".")
    if not all(part.isidentifier() for part in parts):
        return None
    named = {str(one.arg): ast.literal_eval(one.value) for one in node.keywords}
    return Call(".".join(parts), named, tuple(ast.literal_eval(one) for one in node.args))
