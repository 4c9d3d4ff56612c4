"""What a designer is told: deterministic, bounded, each idea once, by the stated weights."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_train.memory.record import Record
from spade_train.memory.retrieval import LESSON_LENGTH, MEMORABLE, REGRET, Piece, lessons, recall

WORDS = ("lamps", "maze", "ledger", "river", "cargo", "poem")
rates = st.none() | st.floats(0, 1)


@st.composite
def remembered(draw: st.DrawFn) -> Record:
    word = draw(st.sampled_from(WORDS))
    round_ = draw(st.integers(0, 20))
    return Record(
        round_,
        f"spade/{word.title()}-v{draw(st.integers(0, 3))}",
        word.title(),
        f"Win by the {word}.",
        skills=draw(st.sampled_from([(), ("x",), ("x", "y")])),
        success=draw(rates),
        regret=draw(st.none() | st.floats(-2, 2)),
        reason=draw(
            st.none() | st.sampled_from(["design: random play wins 3 of 8. Ask for more.", "design:2: no"])
        ),
        key=word,
        standing=draw(st.sampled_from(["", "active", "quarantined"])),
        shown=draw(st.none() | st.integers(0, 20)),
    )


def played(title: str, success: float, regret: float | None = 0.0, **more: object) -> Record:
    return Record(0, title, title, f"It is {title}.", success=success, regret=regret, key=title, **more)  # type: ignore[arg-type]


def told(pieces: tuple[Piece, ...]) -> list[str | None]:
    return [piece.record.id for piece in pieces]


def test_regret_comes_first_on_the_frontier_alone() -> None:
    records = [
        played("even", 0.5, 0.1),
        played("wanted", 0.2, 0.6),
        played("easy", 0.95, 0.9),
        played("middling", 0.12, 0.9),
        played("hard", 0.05, 0.0),
        played("unmeasured", 0.5, None),
        Record(0, "unplayed", "Unplayed"),
    ]
    assert told(recall(records, {}, 1, good=3, bad=0)) == ["wanted", "even", "unmeasured"]
    assert sorted(map(str, told(recall(records, {}, 1, good=0, bad=9)))) == ["easy", "hard"]
    assert recall([], {}, 1) == ()


def test_weak_skills_staleness_and_variety_each_decide() -> None:
    one, other = played("one", 0.5, skills=("strong",)), played("other", 0.5, skills=("weak",))
    assert told(recall([other, one], {"weak": 0.9, "strong": 0.1}, 9, good=1, bad=0)) == ["other"]
    one, other = played("one", 0.5, shown=8), played("other", 0.5, shown=1)
    assert told(recall([other, one], {}, 9, good=1, bad=0)) == ["other"]
    first = Record(1, "first", "First", "Sort words by letters.", success=0.5, regret=0.9, key="1")
    like = Record(1, "like", "Like", "Sort words by two letters.", success=0.5, regret=0.4, key="2")
    unlike = Record(1, "unlike", "Unlike", "Walk around lakes.", success=0.5, regret=0.2, key="3")
    assert told(recall([first, unlike, like], {}, 9, bad=0)) == ["first", "unlike"]


def test_an_idea_is_told_once_with_how_often_it_came() -> None:
    records = [
        replace(played("a", 0.5, 0.2), key="k"),
        replace(played("b", 0.5, 0.8), key="k"),
        Record(3, "c", "C", "It is c.", reason="design:1:2: its code equals spade/B-v0", key="k"),
    ]
    (piece,) = recall(records, {}, 4)
    assert (piece.record.id, piece.times) == ("b", 3)
    assert piece.text.endswith("Tried 3 times.")
    assert piece.why.startswith(f"{piece.score:.2f} = regret 0.32")


def test_to_avoid_goes_what_came_often_before_what_came_lately() -> None:
    often = [Record(n, f"o{n}", "Often", "It is often.", reason="no", key="often") for n in range(4)]
    late = Record(9, "late", "Late", "It is late.", reason="no", key="late")
    assert told(recall([*often, late], {}, 10)) == ["o3"]
    assert told(recall([*often[:1], late], {}, 10)) == ["late"]
    cheats = replace(played("cheats", 0.5, 0.9), standing="quarantined")
    (piece,) = recall([cheats], {}, 10)
    assert (piece.kind, "Withdrawn" in piece.text) == ("bad", True), "what was won by cheating is no example"


def test_an_idea_with_one_design_on_the_frontier_is_not_to_be_avoided() -> None:
    good, bad = played("good", 0.5), Record(5, "bad", "Bad", "x", reason="no", key="good")
    assert [piece.kind for piece in recall([good, bad], {}, 6, good=0, bad=3)] == []


def test_lessons_stand_once_the_commonest_first() -> None:
    def refused(round_: int, reason: str) -> Record:
        return Record(round_, "x", reason=reason)

    records = [
        refused(1, "design:3:1: `os` cannot be imported [language.import]\n  Leave it out."),
        refused(2, "design: random play wins 3 of 50 episodes [difficulty.random]\n  Ask for more."),
        refused(
            3,
            "design: random play wins 9 of 50 episodes [difficulty.random]\n  Ask for more.\ndesign: another",
        ),
        refused(4, "design:9:1: `sys` cannot be imported [language.import]\n  Leave it out."),
        refused(5, "design: hints name the action [hint.leak]\n  " + "Say how. " * 60),
        Record(6, "admitted"),
    ]
    found = lessons(records, 3)
    assert [(one.times, one.round) for one in found] == [(2, 4), (2, 3), (1, 5)]
    assert found[0].reason == "`sys` cannot be imported [language.import] Leave it out."
    assert found[1].reason == "random play wins 9 of 50 episodes [difficulty.random] Ask for more."
    assert max(len(one.reason) for one in found) <= LESSON_LENGTH


def test_what_is_held_out_is_never_named() -> None:
    reason = (
        "design: it is like spade/PipeGarden-v0, which is held out for evaluation (90% of the syntax tree)"
    )
    (lesson,) = lessons([Record.of("no header", 0, reason=reason)])
    assert lesson.reason.startswith("it is like one, which is held out")


@given(st.lists(remembered(), max_size=30), st.integers(0, 25), st.integers(0, 3), st.integers(0, 3))
def test_recall_is_bounded_deterministic_and_scored(
    records: list[Record], round_: int, good: int, bad: int
) -> None:
    weakness = {"x": 0.9, "y": 0.1}
    pieces = recall(records, weakness, round_, good, bad)
    assert pieces == recall(list(records), dict(weakness), round_, good, bad)
    kinds = [piece.kind for piece in pieces]
    assert (kinds.count("good") <= good, kinds.count("bad") <= bad) == (True, True)
    assert kinds == sorted(kinds, reverse=True)
    assert len({piece.record.key for piece in pieces}) == len(pieces), "each idea once"
    for piece in pieces:
        assert -1e-9 <= piece.score <= 1 + 1e-9
        assert len(piece.text) < 700
        if piece.kind == "good":
            assert piece.record.on_frontier
            assert not piece.record.refused
            assert piece.record.standing != "quarantined"


@given(st.lists(remembered(), min_size=2, max_size=12, unique_by=lambda one: one.key), st.randoms())
def test_the_order_in_which_ideas_came_does_not_matter(records: list[Record], rng: random.Random) -> None:
    records = [replace(one, round=at) for at, one in enumerate(records)]  # no two are equally new
    mixed = rng.sample(records, len(records))
    assert told(recall(records, {}, 20)) == told(recall(mixed, {}, 20))


def test_more_regret_is_worth_as_much_as_its_weight_says() -> None:
    (low,), (high,) = (recall([played("a", 0.5, regret)], {}, 1) for regret in (0.25, 0.75))
    assert high.score - low.score == pytest.approx(0.5 * REGRET)
    (fresh,), (stale,) = (recall([played("a", 0.5, shown=at)], {}, MEMORABLE) for at in (MEMORABLE, 0))
    assert stale.score - fresh.score == pytest.approx(0.2)
