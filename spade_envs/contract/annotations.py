"""Parameter annotations as JSON schemas. An annotation that is text is parsed, never evaluated."""

from __future__ import annotations

import ast
import types
import typing
from collections.abc import Hashable, Mapping
from typing import Any, Literal, Union, get_args, get_origin

_SCALARS: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean", None: "null"}
_KNOWN: dict[str, Any] = {
    **{kind.__name__: kind for kind in (str, int, float, bool, list, dict)},
    **{name: getattr(typing, name) for name in ("Any", "Dict", "List", "Literal", "Optional", "Union")},
}
_NO_NAMES: Mapping[str, Any] = types.MappingProxyType({})


class AnnotationError(TypeError):
    """An annotation outside the forms that the contract lists for tools."""


def schema_of(annotation: Any, names: Mapping[str, Any] = _NO_NAMES) -> dict[str, Any]:
    """Return the JSON schema of an annotation.

    Args:
        annotation: a type, a typing form, or the text of one.
        names: what other names in such a text mean, for example the globals of the annotated function.

    Raises:
        AnnotationError: it is not among the forms that the contract lists.
    """
    try:
        return _schema(annotation, names)
    except RecursionError:
        raise AnnotationError("the annotation refers to itself") from None


def _schema(annotation: Any, names: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if isinstance(annotation, str):
        annotation = _read(annotation, names)
    origin, arguments = get_origin(annotation) or annotation, get_args(annotation)
    if origin is Any:
        return {}
    if origin is Literal and arguments:
        return _literal(arguments)
    if origin is Union or origin is types.UnionType:
        return {"anyOf": [_schema(argument, names) for argument in arguments]}
    if origin is list and len(arguments) < 2:
        return {"type": "array", **({"items": _schema(arguments[0], names)} if arguments else {})}
    if origin is dict and (not arguments or (arguments[0] is str and len(arguments) == 2)):
        values = {"additionalProperties": _schema(arguments[1], names)} if arguments else {}
        return {"type": "object", **values}
    origin = None if origin is types.NoneType else origin
    if not isinstance(origin, Hashable) or origin not in _SCALARS:
        raise _unsupported(annotation)
    return {"type": _SCALARS[origin]}


def _literal(values: tuple[Any, ...]) -> dict[str, Any]:
    kinds = {_SCALARS.get(None if value is None else type(value)) for value in values}
    if None in kinds:
        raise _unsupported(Literal[values])
    return {"enum": list(values)} | ({"type": kinds.pop()} if len(kinds) == 1 else {})


def _read(text: str, names: Mapping[str, Any]) -> Any:
    try:
        return _build(ast.parse(text.strip(), mode="eval").body, names)
    except (SyntaxError, TypeError, ValueError):
        raise _unsupported(text) from None


def _build(node: ast.AST, names: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=None):
            return None
        case ast.Constant(value=str(text)):
            return _read(text, names)
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in _KNOWN:
            return _KNOWN[name]
        case ast.Name(id=name) if not isinstance(names.get(name, ""), str):
            return names[name]
        case ast.BinOp(left=left, op=ast.BitOr(), right=right):
            return Union[_build(left, names), _build(right, names)]  # noqa: UP007  (the operands are values)
        case ast.Subscript(value=ast.Name(id=name) | ast.Attribute(attr=name), slice=inner) if name in _KNOWN:
            parts = inner.elts if isinstance(inner, ast.Tuple) else [inner]
            read = ast.literal_eval if name == "Literal" else lambda part: _build(part, names)
            arguments = tuple(map(read, parts))
            return _KNOWN[name][arguments if len(arguments) > 1 else arguments[0]]
    raise _unsupported(ast.unparse(node))


def _unsupported(annotation: Any) -> AnnotationError:
    shown = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", repr(annotation))
    return AnnotationError(f"the annotation `{shown}` is not supported")
