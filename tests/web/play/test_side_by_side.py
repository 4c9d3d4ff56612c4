"""Episodes next to each other: whose words, and which of them are trained on."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from html import unescape

from hypothesis import given, settings
from hypothesis import strategies as st
from play_designs import MARKUP

from spade_envs.web.play.side_by_side import Column, Piece, SideBySide, joined, replay_address
from spade_envs.web.templating import environment

TEMPLATE = environment([]).from_string(
    '{% from "play/side_by_side.html" import side_by_side %}{{ side_by_side(view) }}'
)
PROMPT = (Piece("Rules.", "system"), Piece("turn 0", "user"))
PLAIN = Column(
    False,
    True,
    (*PROMPT, Piece("left", "assistant", True), Piece("turn 1", "user")),
    0.0,
    False,
    1,
    "truncated",
    -0.5,
)
HINTED = Column(True, False, (*PROMPT, Piece("up", "assistant", True)), 1.0, True, 1, "terminated")
VIEW = SideBySide("spade/Sample-v0", 1, 3, (PLAIN, HINTED), round=2)

pieces = st.lists(
    st.builds(
        Piece, st.text(max_size=9), st.sampled_from(["system", "user", "assistant", "tool"]), st.booleans()
    ),
    max_size=12,
).map(tuple)


def shown(view: SideBySide) -> list[tuple[str, str]]:
    """The marks and the text of each piece, as a page has them."""
    found = re.findall(
        r'<span class="tag">(.*?)</span>\s*<span class="text">(.*?)</span>', TEMPLATE.render(view=view), re.S
    )
    return [(mark, unescape(text)) for mark, text in found]


def test_tokens_are_marked_by_role_and_mask() -> None:
    assert shown(VIEW) == [
        ("system", "Rules."),
        ("user", "turn 0"),
        ("assistant · sampled, trained on", "left"),
        ("user", "turn 1"),
        ("system", "Rules."),
        ("user", "turn 0"),
        ("assistant · sampled, not trained on", "up"),
    ]
    page = TEMPLATE.render(view=VIEW)
    assert page.index("Without a hint") < page.index("With the hint")
    assert "Advantage -0.500." in page
    assert page.count("Advantage") == 1


def test_what_was_said_is_text() -> None:
    hostile = Column(
        False, True, (Piece(MARKUP, "user"), Piece(MARKUP, "assistant", True)), 0.0, False, 1, MARKUP
    )
    page = TEMPLATE.render(view=SideBySide(MARKUP, 1, 0, (hostile,)))
    assert "<script" not in page
    assert "<img" not in page
    assert [text for _, text in shown(SideBySide("x", 1, 0, (hostile,)))] == [MARKUP] * 2


def test_an_episode_of_a_model_has_an_address_step_by_step() -> None:
    there = replay_address("spade/Sample-v3", 1, 7, ["<answer>left</answer>"], "xml")
    assert there == "/replay/Sample-v3?seed=7&moves=%5B%22%3Canswer%3Eleft%3C%2Fanswer%3E%22%5D&face=xml"
    assert "level=2" in replay_address("spade/Sample-v3", 2, 7, ["a"], "raw")
    assert replay_address("spade/Sample-v3", 1, 7, ["a" * 9_000], "xml") == ""
    assert replay_address("nothing", 1, 7, ["a"], "xml") == ""
    column = replace(PLAIN, replay=there)
    page = TEMPLATE.render(view=replace(VIEW, columns=(column, HINTED)))
    assert page.count("Step by step") == 1


@settings(max_examples=30)
@given(pieces)
def test_neighbours_of_one_kind_are_joined_and_no_character_is_lost(given_: tuple[Piece, ...]) -> None:
    found = joined(given_)
    assert "".join(one.text for one in found) == "".join(one.text for one in given_)
    kinds = [(one.role, one.sampled) for one in found]
    assert all(one != other for one, other in itertools.pairwise(kinds))
    assert all(one.text for one in found)
