"""The arguments of a tool call, checked against the tool's schema."""

from __future__ import annotations

from typing import Any

from spade_envs.contract.plain import to_json


class CallError(ValueError):
    """A call that cannot be carried out. The message says what was wrong and what is expected."""


def check_arguments(function: dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments as the tool gets them (a whole float becomes an int where one is asked for).

    Raises:
        CallError: one is missing, unknown, or of the wrong type.
    """
    properties: dict[str, Any] = function["parameters"]["properties"]
    takes = f"`{function['name']}` takes {', '.join(f'`{name}`' for name in properties) or 'no arguments'}"
    for name in arguments:
        if name not in properties:
            raise CallError(f"unknown argument `{name[:80]}`; {takes}")
    for name in function["parameters"]["required"]:
        if name not in arguments:
            raise CallError(f"missing argument `{name}`; {takes}")
    return {name: _fit(value, properties[name], name) for name, value in arguments.items()}


def _fit(value: Any, schema: dict[str, Any], where: str) -> Any:
    """Return the value as the schema's type, or raise CallError."""
    if "enum" in schema:
        if any(value == allowed and type(value) is type(allowed) for allowed in schema["enum"]):
            return value
        raise _wrong(value, schema, where)
    if "anyOf" in schema:
        return _fit_any(value, schema, where)
    match schema.get("type"), value:
        case (None, _) | ("string", str()) | ("boolean", bool()) | ("null", None):
            return value
        case (("integer" | "number"), bool()):
            raise _wrong(value, schema, where)
        case "integer", int() | float() if value == int(value):
            return int(value)
        case "number", int() | float() if abs(value) <= 1.7e308:
            return float(value)
        case "array", list():
            return [_fit(item, schema.get("items", {}), f"{where}[{n}]") for n, item in enumerate(value)]
        case "object", dict():
            inner = schema.get("additionalProperties", {})
            return {key: _fit(item, inner, f"{where}.{key}") for key, item in value.items()}
    raise _wrong(value, schema, where)


def _fit_any(value: Any, schema: dict[str, Any], where: str) -> Any:
    for choice in schema["anyOf"]:
        try:
            return _fit(value, choice, where)
        except CallError:
            continue
    raise _wrong(value, schema, where)


def _wrong(value: Any, schema: dict[str, Any], where: str) -> CallError:
    shown = to_json(value)
    shown = shown if len(shown) <= 80 else shown[:77] + "..."
    return CallError(f"argument `{where}` must be {_in_words(schema)}, not {shown}")


def _in_words(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(map(to_json, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(map(_in_words, schema["anyOf"]))
    words = {"string": "text", "integer": "a whole number", "number": "a number", "boolean": "true or false"}
    words |= {"array": "a list", "object": "a JSON object", "null": "null"}
    text = words.get(schema.get("type", ""), "any value")
    return f"{text}, each item {_in_words(schema['items'])}" if "items" in schema else text
