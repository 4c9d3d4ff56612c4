"""Fields for the arguments of a tool, by its schema, and the call that they are filled in with. Pure functions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spade_envs.contract.plain import from_json, to_json
from spade_envs.web.play.fields import Field, number_of

_ABSENT = object()


def tool_fields(function: Mapping[str, Any]) -> tuple[Field, ...]:
    """Return the fields for a tool's arguments, in order."""
    schema = function["parameters"]
    needed = schema["required"]
    return tuple(
        _field(f"a.{at}", name, part, name in needed)
        for at, (name, part) in enumerate(schema["properties"].items())
    )


def call_of(function: Mapping[str, Any], given: Mapping[str, str]) -> str:
    """Return the call that was sent, as a language model writes it; an optional argument left empty is left out."""
    schema = function["parameters"]
    values = {
        name: _argument(part, given.get(f"a.{at}", ""), name in schema["required"])
        for at, (name, part) in enumerate(schema["properties"].items())
    }
    arguments = {name: value for name, value in values.items() if value is not _ABSENT}
    return to_json({"name": function["name"], "arguments": arguments})


def _field(name: str, label: str, schema: Mapping[str, Any], needed: bool) -> Field:
    about = str(schema.get("description", ""))
    if "enum" in schema:
        options = tuple(one if isinstance(one, str) else to_json(one) for one in schema["enum"])
        return Field(name, label, "choice", options=options, needed=needed, about=about)
    match schema.get("type"):
        case "integer":
            return Field(name, label, "number", needed=needed, about=about)
        case "number":
            return Field(name, label, "number", step="any", needed=needed, about=about)
        case "boolean":
            return Field(name, label, "choice", options=("true", "false"), needed=needed, about=about)
        case "string":
            return Field(name, label, "text", needed=False, about=about)
    return Field(name, label, "text", needed=needed, about=f"{about} (JSON)".strip())


def _argument(schema: Mapping[str, Any], text: str, needed: bool) -> Any:
    if not text and not needed:
        return _ABSENT
    if "enum" in schema:
        return next(
            (one for one in schema["enum"] if text == (one if isinstance(one, str) else to_json(one))), text
        )
    match schema.get("type"):
        case "string":
            return text.replace("\r\n", "\n")
        case "integer" | "number":
            return number_of(text)
    try:
        return from_json(text)
    except ValueError:
        return text
