"""Episodes in addresses and in files."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spade_envs.contract import EnvId
from spade_envs.errors import UsageError
from spade_envs.web.play.episodes import (
    ADDRESS_LENGTH,
    Episode,
    address,
    read_file,
    read_moves,
    read_seed,
    write_file,
    write_moves,
)
from spade_envs.web.play.game import Move, Start

moves = st.lists(
    st.builds(Move, st.text(max_size=20), st.sampled_from(["player", "expert"])), max_size=5
).map(tuple)
starts = st.builds(
    Start,
    st.builds(EnvId, st.just("Sample"), st.integers(0, 99)),
    st.none() | st.integers(1, 9),
    st.integers(0, 2**63 - 1),
)


@settings(max_examples=25)
@given(starts, moves)
def test_a_file_holds_an_episode(start: Start, made: tuple[Move, ...]) -> None:
    whole = Episode(start, made, "ab" * 32)
    assert read_file(write_file(whole)) == whole


@settings(max_examples=25)
@given(starts, moves)
def test_an_address_holds_a_game(start: Start, made: tuple[Move, ...]) -> None:
    found = urlsplit(address("play", start, made, step=3))
    query = {name: value for name, (value,) in parse_qs(found.query, errors="surrogateescape").items()}
    assert found.path == f"/play/Sample-v{start.env_id.version}"
    assert query["step"] == "3"
    assert read_seed(query["seed"]) == start.seed
    assert query.get("level") == (start.level and str(start.level))
    if made:
        assert read_moves(query["moves"]) == made
    assert found.geturl().isascii()


def test_moves_that_are_too_long_for_an_address_are_left_out() -> None:
    start = Start(EnvId("Sample", 0), None, 1)
    assert address("play", start, [Move("x" * ADDRESS_LENGTH)]) == "/play/Sample-v0?seed=1"


def test_moves_may_be_written_as_json_that_is_no_text() -> None:
    assert read_moves('[0, "left", {"on": [1]}, {"expert": 2}]') == (
        Move("0"),
        Move("left"),
        Move('{"on": [1]}'),
        Move("2", "expert"),
    )
    assert write_moves([Move("a"), Move("b", "expert")]) == '["a",{"expert":"b"}]'


@pytest.mark.parametrize(
    "text", ["", "x", "-1", "1.5", "1e3", "²", "٣", str(10**30), str(2**63), " 1", "0x1"]
)
def test_what_is_no_seed_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="a seed is a whole number from 0"):
        read_seed(text)


WHOLE = json.loads(write_file(Episode(Start(EnvId("Sample", 0), 1, 2), (Move("a"),), None)))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "no JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "is no episode"),
        ('{"format": "other"}', "is no episode"),
        (json.dumps(WHOLE | {"id": "spade/nothing"}), "names no version"),
        (json.dumps(WHOLE | {"level": 0}), "level"),
        (json.dumps(WHOLE | {"level": "1"}), "level"),
        (json.dumps(WHOLE | {"seed": -1}), "seed"),
        (json.dumps(WHOLE | {"seed": True}), "seed"),
        (json.dumps(WHOLE | {"seed": 10**30}), "seed"),
        (json.dumps(WHOLE | {"moves": {}}), "moves"),
        (json.dumps(WHOLE | {"moves": ["x"] * 1001}), "moves"),
    ],
)
def test_a_file_that_is_none_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_file(text)
