from __future__ import annotations

import functools
import re
from collections import OrderedDict, deque
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, IntEnum
from fractions import Fraction
from typing import Any, Dict, List, Literal, Optional, Union  # noqa: UP035  (designers write these)

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import json_values

from spade_envs.contract import ToolEnv, tool_problems, tool_schemas
from spade_envs.contract.annotations import AnnotationError, schema_of
from spade_envs.contract.docstring import read_docstring
from spade_envs.contract.plain import from_json, plain, to_json
from spade_envs.contract.tool_arguments import CallError, check_arguments

STRING, INTEGER, NULL = {"type": "string"}, {"type": "integer"}, {"type": "null"}
FORMS: list[tuple[str, Any, dict[str, Any]]] = [
    ("str", str, STRING),
    ("int", int, INTEGER),
    ("float", float, {"type": "number"}),
    ("bool", bool, {"type": "boolean"}),
    ("None", None, NULL),
    ("Any", Any, {}),
    ("list", list, {"type": "array"}),
    ("List", List, {"type": "array"}),  # noqa: UP006
    ("list[int]", list[int], {"type": "array", "items": INTEGER}),
    ("typing.List[str]", List[str], {"type": "array", "items": STRING}),  # noqa: UP006
    ("list[list[int]]", list[list[int]], {"type": "array", "items": {"type": "array", "items": INTEGER}}),
    ("dict", dict, {"type": "object"}),
    ("dict[str, int]", dict[str, int], {"type": "object", "additionalProperties": INTEGER}),
    ("Dict[str, Any]", Dict[str, Any], {"type": "object", "additionalProperties": {}}),  # noqa: UP006
    ("Literal['n', 's']", Literal["n", "s"], {"enum": ["n", "s"], "type": "string"}),
    ("Literal[1, 'a']", Literal[1, "a"], {"enum": [1, "a"]}),
    ("Literal[-1]", Literal[-1], {"enum": [-1], "type": "integer"}),
    ("int | None", int | None, {"anyOf": [INTEGER, NULL]}),
    ("t.Optional[str]", Optional[str], {"anyOf": [STRING, NULL]}),  # noqa: UP045
    ("Union[int, str]", Union[int, str], {"anyOf": [INTEGER, STRING]}),  # noqa: UP007
    ("list['int']", list["int"], {"type": "array", "items": INTEGER}),
    ("Optional['int']", Optional["int"], {"anyOf": [INTEGER, NULL]}),
]


@pytest.mark.parametrize(("text", "form", "schema"), FORMS, ids=[form[0] for form in FORMS])
def test_annotations_mean_the_same_as_objects_and_as_text(
    text: str, form: Any, schema: dict[str, Any]
) -> None:
    assert schema_of(form) == schema
    assert schema_of(text) == schema


OTHER_OBJECTS = [
    object,
    bytes,
    set,
    tuple[int, int],
    dict[int, str],
    Literal,
    Optional,
    Literal[Fraction(1)],
    1,
    [],
]
OTHER_TEXTS = """
tuple;print('x');list[int, int];Optional[int, str];str[int];__import__('os').system('true');Literal[[1]];1;(
Literal;Optional;unknown;;Any[int];int if True else str;list[*x];dict[str];dict[int, str];Loop;Literal[x]
"""


@pytest.mark.parametrize(
    "annotation",
    [*OTHER_OBJECTS, *re.split(r"[;\n]", OTHER_TEXTS.strip()), "list[" * 3000 + "int" + "]" * 3000],
    ids=lambda annotation: str(annotation)[:40],
)
def test_other_annotations_are_refused_and_never_evaluated(annotation: Any) -> None:
    with pytest.raises(AnnotationError, match=r"^the annotation "):
        schema_of(annotation, {"Loop": Optional["Loop"]})  # noqa: F821


def test_a_name_in_a_text_may_stand_for_an_alias_of_the_module() -> None:
    names = {"Direction": Literal["n", "s"], "Text": "str"}
    assert schema_of("Direction | None", names) == {"anyOf": [{"enum": ["n", "s"], "type": "string"}, NULL]}
    with pytest.raises(AnnotationError):
        schema_of("Text", names)


def test_docstrings_are_read_in_googles_style() -> None:
    description, arguments = read_docstring(
        """Move a piece.

        Pieces never jump: see the rules.

        Args:
            piece (str): Its name,
                for example "rook".
            to: Where to.

              Letters come first.
            *more: Others.

        Returns:
            result: What happened.

        Note: this is not read.
        """
    )
    assert description == "Move a piece.\n\nPieces never jump: see the rules."
    assert arguments == {
        "piece": 'Its name, for example "rook".',
        "to": "Where to. Letters come first.",
        "more": "Others.",
    }
    assert read_docstring("Look.\n\nArgs:\n    None.\n") == ("Look.", {})
    assert read_docstring("") == ("", {})


class Good(ToolEnv):
    """Rules."""

    def goal_reached(self, answer: Any) -> bool:
        return True

    def tool_zoom(
        self, factor: float, mode: Literal["in", "out"] = "in", *, tags: list[str] | None = None
    ) -> str:
        """Zoom.

        Args:
            factor: How much.
            mode: Which way.
            tags: Labels.
        """
        return ""

    @staticmethod
    def tool_add(numbers: list[int]) -> int:
        """Add.

        Args:
            numbers: The numbers.
        """
        return sum(numbers)

    @classmethod
    def tool_name(cls) -> str:
        """Name the class."""
        return cls.__name__

    @functools.lru_cache  # noqa: B019
    def tool_cached(self, x: int) -> int:
        """Square.

        Args:
            x: A number.
        """
        return x * x

    tool_count = 3


def test_schemas_have_the_openai_form_in_order_of_definition() -> None:
    schemas = tool_schemas(Good)
    assert [schema["function"]["name"] for schema in schemas] == ["zoom", "add", "name", "cached", "finish"]
    assert schemas[0] == {
        "type": "function",
        "function": {
            "name": "zoom",
            "description": "Zoom.",
            "parameters": {
                "type": "object",
                "properties": {
                    "factor": {"type": "number", "description": "How much."},
                    "mode": {
                        "enum": ["in", "out"],
                        "type": "string",
                        "description": "Which way.",
                        "default": "in",
                    },
                    "tags": {
                        "anyOf": [{"type": "array", "items": STRING}, NULL],
                        "description": "Labels.",
                        "default": None,
                    },
                },
                "required": ["factor"],
                "additionalProperties": False,
            },
        },
    }
    assert schemas[2]["function"]["parameters"]["properties"] == {}
    assert list(schemas[3]["function"]["parameters"]["properties"]) == ["x"]
    assert tool_problems(Good) == ()
    assert Good().tools == schemas


def test_what_one_caller_does_to_a_schema_another_does_not_see() -> None:
    tool_schemas(Good)[-1]["function"]["parameters"]["properties"].clear()
    assert tool_schemas(Good)[-1]["function"]["parameters"]["properties"] == {
        "answer": {"description": "The answer, any JSON value.", "default": ""}
    }


def test_subclasses_inherit_replace_and_remove_tools() -> None:
    class Child(Good):
        tool_name = None

        def tool_more(self) -> str:
            """More."""
            return ""

    assert [schema["function"]["name"] for schema in tool_schemas(Child)] == [
        "zoom",
        "add",
        "cached",
        "more",
        "finish",
    ]


class Bad(ToolEnv):
    def tool_undocumented(self, a: int) -> None:
        """Do."""

    def tool_overdocumented(self) -> None:
        """Do.

        Args:
            b: Not there.
        """

    def tool_unannotated(self, c) -> None:  # type: ignore[no-untyped-def]
        """Do.

        Args:
            c: No type.
        """

    def tool_unsupported(self, d: set) -> None:  # type: ignore[type-arg]
        """Do.

        Args:
            d: A set.
        """

    def tool_nameless(self, e: int, /, *f: int) -> None:
        """Do.

        Args:
            e: First.
            f: Others.
        """

    def tool_silent(self) -> None:
        pass

    def tool_finish(self) -> None:
        """Do."""


def test_every_problem_is_named_with_its_tool_and_the_mend() -> None:
    problems = "\n".join(tool_problems(Bad))
    for words in (
        "`undocumented`, parameter `a`: not documented",
        "`overdocumented` documents `b`",
        "`unannotated`, parameter `c`: no annotation",
        "`unsupported`, parameter `d`: the annotation `set` is not supported",
        "`nameless`, parameter `e`: a call cannot name it",
        "`nameless`, parameter `f`: a call cannot name it",
        "`silent` has no description",
        "`finish` is the call that ends the task",
        "`goal_reached(self, answer)` is missing",
    ):
        assert words in problems
    assert len(tool_problems(Bad)) == 9
    with pytest.raises(TypeError, match="Bad breaks the tool contract") as raised:
        Bad()
    assert problems in str(raised.value)


ZOOM = tool_schemas(Good)[0]["function"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "missing argument `factor`"),
        ({"factor": 1, "speed": 2}, "unknown argument `speed`; `zoom` takes `factor`, `mode`, `tags`"),
        ({"factor": "2"}, '`factor` must be a number, not "2"'),
        ({"factor": True}, "`factor` must be a number, not true"),
        ({"factor": 10**400}, "`factor` must be a number"),
        ({"factor": 1, "mode": "up"}, '`mode` must be one of "in", "out"'),
        ({"factor": 1, "tags": ["a", 1]}, "`tags` must be a list, each item text or null"),
        ({"factor": [1] * 100}, "..."),
    ],
)
def test_wrong_arguments_are_answered_with_what_is_expected(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(CallError) as raised:
        check_arguments(ZOOM, arguments)
    assert words in str(raised.value)


def one(annotation: Any) -> dict[str, Any]:
    return {"name": "f", "parameters": {"properties": {"x": schema_of(annotation)}, "required": ["x"]}}


@pytest.mark.parametrize(
    ("annotation", "given", "got"),
    [
        (int, 5.0, 5),
        (float, 5, 5.0),
        (int | str, "5", "5"),
        (Union[str, int], 5, 5),  # noqa: UP007
        (dict[str, float], {"a": 1}, {"a": 1.0}),
        (list[int], [1.0, 2], [1, 2]),
        (Any, {"a": [None]}, {"a": [None]}),
        (Literal[1, None], None, None),
    ],
)
def test_fitting_arguments_arrive_as_their_type(annotation: Any, given: Any, got: Any) -> None:
    arrived = check_arguments(one(annotation), {"x": given})["x"]
    assert arrived == got
    assert type(arrived) is type(got)


@pytest.mark.parametrize(
    ("annotation", "given"),
    [
        (int, 5.5),
        (int, True),
        (bool, 1),
        (str, None),
        (list, {}),
        (list[int], [1, [2]]),
        (dict, []),
        (dict[str, int], {"a": "b"}),
        (Literal[1], True),
        (int | None, "x"),
    ],
)
def test_nothing_is_converted_that_changes_its_meaning(annotation: Any, given: Any) -> None:
    with pytest.raises(CallError, match="must be"):
        check_arguments(one(annotation), {"x": given})


class Colour(Enum):
    RED = "red"


class Level(IntEnum):
    LOW = 1


@dataclass
class Point:
    x: int
    y: Any


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({3, 1, 10}, "[1, 3, 10]"),
        (frozenset({"b", "a"}), '["a", "b"]'),
        ({"a", 1, None}, '[null, 1, "a"]'),
        ({frozenset({"b"}), frozenset({"a"})}, '[["a"], ["b"]]'),
        (np.int64(3), "3"),
        (np.float32(0.5), "0.5"),
        (np.array([[1, 2]]), "[[1, 2]]"),
        ({np.int64(1): np.bool_(True)}, '{"1": true}'),
        ((1, None), "[1, null]"),
        (deque([1]), "[1]"),
        (range(2), "[0, 1]"),
        ({"a": 1}.keys(), '["a"]'),
        ({"a": 1}.values(), "[1]"),
        ((x for x in "ab"), '["a", "b"]'),
        (OrderedDict(b=1), '{"b": 1}'),
        ({(0, 1): 2}, '{"[0, 1]": 2}'),
        ({None: 1, True: 2}, '{"null": 1, "true": 2}'),
        (Point(1, {2}), '{"x": 1, "y": [2]}'),
        (Colour.RED, '"red"'),
        (Level.LOW, "1"),
        (float("nan"), '"nan"'),
        (float("-inf"), '"-inf"'),
        (Fraction(1, 3), '"1/3"'),
        (Decimal("1.50"), '"1.50"'),
        ("é", '"é"'),
    ],
)
def test_results_are_shown_as_json(value: Any, shown: str) -> None:
    assert to_json(value) == shown


@settings(max_examples=50)
@given(json_values)
def test_plain_data_stays_as_it_is_and_reads_back(value: Any) -> None:
    assert plain(value) == value
    assert from_json(to_json(value)) == value


@settings(max_examples=50)
@given(
    st.sets(st.integers() | st.text(max_size=3) | st.none() | st.tuples(st.integers(), st.text(max_size=1)))
)
def test_the_order_of_a_set_does_not_depend_on_hashes(items: set[Any]) -> None:
    reordered = dict.fromkeys(sorted(items, key=repr, reverse=True)).keys()
    assert to_json(items) == to_json(reordered)


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "[1e999]", "[" * 100_000, "1" * 5000, "", "{'a': 1}"])
def test_only_strict_json_is_read(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        from_json(text)
