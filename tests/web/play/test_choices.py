"""What a page offers stands for the words that a language model would write."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from play_designs import SAMPLE

from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import parse_header
from spade_envs.contract.plain import plain
from spade_envs.contract.text_space import UnicodeText
from spade_envs.errors import UsageError
from spade_envs.spoken import read_action
from spade_envs.text_face import TextFace
from spade_envs.web.play.choices import Choices, choices, said
from spade_envs.web.play.fields import fields_of
from spade_envs.web.play.game import About
from spade_envs.web.play.seen import PARTS, see

HEADER = parse_header(SAMPLE)
assert not isinstance(HEADER, Rejection)

leaves = st.one_of(
    st.builds(lambda n, start: spaces.Discrete(n, start=start), st.integers(1, 60), st.integers(-5, 5)),
    st.builds(
        lambda sizes: spaces.MultiDiscrete(sizes, start=[1] * len(sizes)),
        st.lists(st.integers(1, 40), min_size=1, max_size=3),
    ),
    st.builds(spaces.MultiBinary, st.integers(1, 4)),
    st.sampled_from(
        [
            spaces.Box(-1, 1, (2, 2), np.float32),
            spaces.Box(0, 9, (3,), np.int64),
            spaces.Box(-np.inf, np.inf, (1,), np.float64),
            spaces.MultiBinary((2, 2)),
        ]
    ),
)
composed = st.recursive(
    leaves | st.builds(UnicodeText, st.integers(1, 20)),
    lambda inner: (
        st.dictionaries(st.text("abc.é ", min_size=1, max_size=3), inner, min_size=1, max_size=3).map(
            spaces.Dict
        )
        | st.lists(inner, min_size=1, max_size=3).map(spaces.Tuple)
    ),
    max_leaves=4,
)


def about(
    space: spaces.Space[Any], names: tuple[str, ...] | None = None, tools: tuple[Any, ...] = ()
) -> About:
    return About(HEADER, "Rules.", "Reply.", space, spaces.Discrete(2), names, tools, "0" * 64)  # type: ignore[arg-type]


def filled(space: spaces.Space[Any], action: Any, name: str = "f") -> dict[str, str]:
    """What a browser sends of fields that hold an action."""
    if isinstance(space, spaces.Dict | spaces.Tuple):
        keys = space.spaces if isinstance(space, spaces.Dict) else range(len(space.spaces))
        parts = [(space[key], action[key]) for key in keys]
        return {k: v for at, part in enumerate(parts) for k, v in filled(*part, f"{name}.{at}").items()}
    if isinstance(space, spaces.Discrete | spaces.Text):
        return {name: str(action)}
    flat = enumerate(np.ravel(action).tolist())
    if isinstance(space, spaces.MultiBinary):
        return {f"{name}.{at}": "on" for at, one in flat if one}
    return {f"{name}.{at}": repr(one) for at, one in flat}


@settings(max_examples=30)
@given(composed, st.integers(0, 99))
def test_fields_that_hold_an_action_say_it(space: spaces.Space[Any], seed: int) -> None:
    space.seed(seed)
    action = space.sample()
    offered = choices(about(space))
    sent = filled(space, action)
    if not offered.forms:
        return
    names = {field.name for field in offered.forms[0].fields}
    assert sent.keys() <= names
    read = read_action(said(about(space), {"form": "0", **sent}), space)
    assert space.contains(read)
    assert plain(read) == plain(action)


@settings(max_examples=20)
@given(leaves)
def test_fields_say_what_may_stand_in_them(space: spaces.Space[Any]) -> None:
    for field in fields_of(space, 99):
        assert field.label
        assert field.name.startswith("f")
        if field.kind == "choice":
            assert field.options[0] == str(field.low)
            assert field.options[-1] == str(field.high)


def test_large_spaces_have_a_box_for_words_only() -> None:
    assert choices(about(spaces.Box(0, 1, (200, 200, 3), np.float32))) == Choices()


@settings(max_examples=20)
@given(st.integers(1, 24), st.integers(-3, 3))
def test_every_button_says_its_action(count: int, first: int) -> None:
    space = spaces.Discrete(count, start=first)
    buttons = choices(about(space)).buttons
    words = [said(about(space), {"choice": str(at)}) for at in range(count)]
    assert [read_action(word, space) for word in words] == list(range(first, first + count))
    assert all(
        button.key == (word if len(word) == 1 else None) for button, word in zip(buttons, words, strict=True)
    )


def test_directions_have_the_arrow_keys() -> None:
    names = ("north", "East", "wait", "south")
    buttons = choices(about(spaces.Discrete(4), names)).buttons
    assert [button.key for button in buttons] == ["ArrowUp", "ArrowRight", "3", "ArrowDown"]
    assert [button.said for button in buttons] == list(names)
    many = choices(about(spaces.Discrete(12), tuple("abcdefghijkl"))).buttons
    assert [button.key for button in many] == [*"1234567890", None, None]
    twice = choices(about(spaces.Discrete(3), ("up", "north", "left"))).buttons
    assert [button.key for button in twice] == ["1", "2", "ArrowLeft"]


def test_many_names_are_chosen_from_a_list() -> None:
    names = tuple(f"room {n}" for n in range(30))
    one = about(spaces.Discrete(30), names)
    (field,) = choices(one).forms[0].fields
    assert field.options == names
    assert said(one, {"form": "0", "f": "room 7"}) == "room 7"


SEARCH = {
    "name": "search",
    "description": "Look it up.",
    "parameters": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "description": "What for."},
            "most": {"type": "integer", "default": 3},
            "exact": {"type": "boolean", "default": False},
            "kind": {"enum": ["a", 2], "default": "a"},
            "tags": {"type": "array", "items": {"type": "string"}, "default": []},
        },
        "required": ["text"],
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize(
    ("sent", "call"),
    [
        ({"a.0": "x\r\ny"}, {"text": "x\ny"}),
        ({"a.0": "x", "a.1": "4", "a.2": "true"}, {"text": "x", "most": 4, "exact": True}),
        ({"a.0": "", "a.3": "2", "a.4": '["q"]'}, {"text": "", "kind": 2, "tags": ["q"]}),
        ({"a.0": "x", "a.1": "four", "a.4": "[q"}, {"text": "x", "most": "four", "tags": "[q"}),
    ],
)
def test_a_tools_fields_are_its_call(sent: dict[str, str], call: dict[str, Any]) -> None:
    tools = ({"type": "function", "function": SEARCH},)
    one = about(UnicodeText(999), tools=tools)
    face = TextFace("raw", one.action_space, None, "", list(tools))
    words = said(one, {"form": "0", **sent})
    assert json.loads(words) == {"name": "search", "arguments": call}
    assert face.read(words)
    kinds = [field.kind for field in choices(one).forms[0].fields]
    assert kinds == ["text", "number", "choice", "choice", "text"]


@pytest.mark.parametrize(
    "sent", [{"choice": "9"}, {"choice": "-1"}, {"choice": "²"}, {"form": "0"}, {"choice": "1e3"}]
)
def test_what_is_not_offered_is_refused(sent: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="load the page again"):
        said(about(spaces.Discrete(4)), sent)


def test_words_have_the_line_breaks_that_were_typed() -> None:
    assert said(about(UnicodeText(99)), {"said": "a\r\nb"}) == "a\nb"
    assert choices(about(UnicodeText(200))).long
    assert not choices(about(UnicodeText(20))).long


def test_a_numeric_observation_is_named_by_its_spaces() -> None:
    space = spaces.Dict(
        {"at": spaces.Box(-9, 9, (2,), np.float32), "bag": spaces.Tuple([spaces.Discrete(3), UnicodeText(9)])}
    )
    seen = see("as the design says", {"at": np.array([1.5, 2], np.float32), "bag": (2, "rope")}, space)
    assert seen.text == "as the design says"
    assert seen.picture is None
    assert [(part.name, part.value) for part in seen.parts] == [
        ("at", "[1.5 2. ]"),
        ("bag.0", "2"),
        ("bag.1", "rope"),
    ]
    assert seen.parts[0].space == "Box(-9.0, 9.0, (2,), float32)"


def test_what_a_design_does_not_render_is_not_said_twice() -> None:
    assert see("[1 2]", np.array([1, 2]), spaces.Box(0, 9, (2,), np.int64)).text == ""


@pytest.mark.parametrize(("shape", "mode"), [((5, 7, 3), "RGB"), ((5, 7, 1), "L"), ((5, 7, 4), "RGBA")])
def test_an_array_of_bytes_with_colours_is_a_picture(shape: tuple[int, ...], mode: str) -> None:
    picture = see("", np.full(shape, 200, np.uint8), spaces.Box(0, 255, shape, np.uint8)).picture
    assert picture is not None
    image = Image.open(io.BytesIO(picture))
    assert (image.size, image.mode) == ((7, 5), mode)
    assert np.asarray(image).min() == 200


def test_what_is_seen_is_bounded() -> None:
    space = spaces.Tuple([spaces.Box(0, 9, (500,), np.float64)] * 100)
    seen = see("x" * 100_000, tuple(np.random.default_rng(0).random((100, 500))), space)
    assert len(seen.parts) == PARTS
    assert all(len(part.value) <= 1_000 for part in seen.parts)
    assert len(seen.text) == 32_768
    noise = np.random.default_rng(0).integers(0, 256, (900, 900, 3), np.uint8)
    assert see("", noise, spaces.Box(0, 255, noise.shape, np.uint8)).picture is None
