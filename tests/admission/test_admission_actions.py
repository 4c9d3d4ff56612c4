"""Random, spoilt and held actions lie in the space; wrong answers keep their shape."""

from __future__ import annotations

import json
import string

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given
from hypothesis import strategies as st

from spade_envs.admission import actions

SPACES = [
    spaces.Discrete(7, start=-2),
    spaces.MultiDiscrete([3, 4, 5]),
    spaces.MultiDiscrete([[2, 3], [4, 5]]),
    spaces.MultiBinary([2, 3]),
    spaces.Box(-1, 1, (3,), np.float32),
    spaces.Box(-np.inf, np.inf, (2,), np.float64),
    spaces.Box(0, 255, (2, 2), np.uint8),
    spaces.Text(12, min_length=2, charset=string.digits + "/"),
    spaces.Text(500, charset="ab "),
    spaces.Dict(
        {"a": spaces.Discrete(3), "b": spaces.Tuple((spaces.MultiBinary(2), spaces.Text(5, charset="xy")))}
    ),
]
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "move",
            "parameters": {
                "type": "object",
                "properties": {
                    "files": {"type": "array", "items": {"type": "string"}},
                    "where": {"enum": ["in", "out"]},
                    "count": {"type": "integer"},
                    "share": {"type": "number"},
                    "force": {"type": "boolean"},
                    "extra": {"anyOf": [{"type": "object"}, {"type": "null"}]},
                },
                "required": ["files", "where"],
            },
        },
    }
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_actions_lie_in_the_space_and_repeat_with_the_generator(space: spaces.Space) -> None:
    def draw() -> list:
        rng = np.random.default_rng(5)
        drawn = [actions.sample(space, (), rng) for _ in range(30)]
        bent = [actions.spoilt(a, space, (), rng, kind=k) for k, a in enumerate(drawn)]
        return drawn + bent + actions.held(space, (), rng) + list(actions.edges(space))

    assert all(space.contains(action) for action in draw())
    assert repr(draw()) == repr(draw())


@given(st.integers(0, 2**32))
def test_random_calls_fit_their_schema(seed: int) -> None:
    call = actions.call(TOOLS, np.random.default_rng(seed))
    assert call["name"] == "move"
    assert (
        {"files", "where"}
        <= call["arguments"].keys()
        <= TOOLS[0]["function"]["parameters"]["properties"].keys()
    )
    assert call["arguments"]["where"] in ("in", "out")
    assert all(isinstance(file, str) for file in call["arguments"]["files"])


@given(st.integers(0, 2**32), st.integers(0, 20))
def test_spoilt_calls_are_json(seed: int, kind: int) -> None:
    rng = np.random.default_rng(seed)
    good = {
        "name": "move",
        "arguments": {"files": ["a1"], "where": "in", "count": 3, "force": True, "share": 0.5},
    }
    kept = json.dumps(good)
    json.dumps(actions.spoilt(good, spaces.Text(9), TOOLS, rng, kind))
    assert json.dumps(good) == kept


@given(st.dictionaries(st.text("abc", min_size=1), st.integers(1, 999), min_size=1), st.integers(0, 2**32))
def test_a_wrong_answer_has_the_shape_and_none_of_the_numbers(totals: dict[str, int], seed: int) -> None:
    changed = json.loads(actions.wrong(json.dumps(totals), np.random.default_rng(seed)))
    assert changed.keys() == totals.keys()
    assert all(changed[key] != totals[key] for key in totals)
    assert actions.wrong("done", np.random.default_rng(seed)) == "done"


def test_the_number_of_actions() -> None:
    assert [actions.size(space) for space in SPACES[:4]] == [7, 60, 120, 64]
    assert actions.size(SPACES[4]) == float("inf")
