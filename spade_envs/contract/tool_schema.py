"""The tools of a :class:`ToolEnv`: their schemas, and what is wrong with them.

Schemas come from signatures and docstrings, and calls are checked against them in
:mod:`spade_envs.contract.tool_arguments`: what an agent is told and what it is held to cannot disagree.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from spade_envs.contract.annotations import AnnotationError, schema_of
from spade_envs.contract.docstring import read_docstring
from spade_envs.contract.plain import plain

PREFIX = "tool_"
FINISH: dict[str, Any] = {
    "name": "finish",
    "description": "End the task. Call this last, with the answer where the task asks for one.",
    "parameters": {
        "type": "object",
        "properties": {"answer": {"description": "The answer, any JSON value.", "default": ""}},
        "required": [],
        "additionalProperties": False,
    },
}
_SUPPORTED = "Annotate with str, int, float, bool, list[...], dict, Literal[...] or X | None."


def tool_schemas(cls: type) -> list[dict[str, Any]]:
    """Return the tools as defined, then ``finish``, in the OpenAI function-calling form."""
    functions = [*(_schema(cls, name) for name in tool_names(cls)), FINISH]
    return [{"type": "function", "function": plain(function)} for function in functions]


def tool_problems(cls: type) -> tuple[str, ...]:
    """Say everything that keeps the class's tools from being offered, one sentence each with its mend."""
    problems = [problem for name in tool_names(cls) for problem in _problems(cls, name)]
    if not callable(getattr(cls, "goal_reached", None)):
        problems.append("The method `goal_reached(self, answer)` is missing. Write it; it returns a bool.")
    return tuple(problems)


def tool_names(cls: type) -> list[str]:
    """Return the names of the class's tools without their prefix, those of base classes first."""
    attributes = dict.fromkeys(name for base in reversed(cls.__mro__) for name in vars(base))
    return [
        name.removeprefix(PREFIX)
        for name in attributes
        if name.startswith(PREFIX) and name != PREFIX and callable(getattr(cls, name))
    ]


def _parameters(cls: type, name: str) -> list[inspect.Parameter]:
    attribute = PREFIX + name
    parameters = list(inspect.signature(getattr(cls, attribute)).parameters.values())
    bound = isinstance(inspect.getattr_static(cls, attribute), (staticmethod, classmethod))
    return parameters if bound else parameters[1:]


def _names_known_to(method: Callable[..., Any]) -> dict[str, Any]:
    return getattr(inspect.unwrap(method), "__globals__", {})


def _schema(cls: type, name: str) -> dict[str, Any]:
    method = getattr(cls, PREFIX + name)
    description, documented = read_docstring(method.__doc__ or "")
    parameters = _parameters(cls, name)
    properties = {}
    for parameter in parameters:
        about = documented.get(parameter.name)
        optional = parameter.default is not parameter.empty
        properties[parameter.name] = {
            **_schema_or_any(parameter, method),
            **({"description": about} if about else {}),
            **({"default": parameter.default} if optional else {}),
        }
    return {
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": [parameter.name for parameter in parameters if parameter.default is parameter.empty],
            "additionalProperties": False,
        },
    }


def _schema_or_any(parameter: inspect.Parameter, method: Callable[..., Any]) -> dict[str, Any]:
    try:
        return schema_of(parameter.annotation, _names_known_to(method))
    except AnnotationError:
        return {}


def _problems(cls: type, name: str) -> Iterator[str]:
    method = getattr(cls, PREFIX + name)
    tool = f"Tool `{name}`"
    if name == FINISH["name"]:
        yield f"{tool} is the call that ends the task. Rename the method; judge the answer in `goal_reached`."
    description, documented = read_docstring(method.__doc__ or "")
    if not description:
        yield f"{tool} has no description. Begin its docstring with a sentence that says what it does."
    parameters = _parameters(cls, name)
    for parameter in parameters:
        yield from (
            f"{tool}, parameter `{parameter.name}`: {text}" for text in _about(parameter, method, documented)
        )
    for word in sorted(documented.keys() - {parameter.name for parameter in parameters}):
        yield f"{tool} documents `{word}`, which its signature lacks. Delete it there or add the parameter."


def _about(
    parameter: inspect.Parameter, method: Callable[..., Any], documented: dict[str, str]
) -> Iterator[str]:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        yield "a call cannot name it. Write an ordinary parameter without `*` or `/`."
        return
    if not documented.get(parameter.name):
        yield f"not documented. Add `{parameter.name}: ...` under `Args:` in the docstring."
    if parameter.annotation is parameter.empty:
        yield f"no annotation. {_SUPPORTED}"
        return
    try:
        schema_of(parameter.annotation, _names_known_to(method))
    except AnnotationError as error:
        yield f"{error}. {_SUPPORTED}"
