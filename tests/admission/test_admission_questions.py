"""A question whose text does not decide what is right is refused; one with several right answers is not."""

from __future__ import annotations

import pytest

from spade_envs import judge, seeds_folder
from spade_envs.admission import Settings

TRAIN = (seeds_folder() / "shown" / "questions" / "night_train.py").read_text("utf-8")
HIDDEN = TRAIN.replace("{moves} ", "")


def refusing(source: str) -> set[str]:
    return {finding.rule for finding in judge(source, settings=Settings()).refusing}


def test_what_decides_must_be_shown() -> None:
    assert HIDDEN != TRAIN
    assert refusing(TRAIN) == set()
    report = judge(HIDDEN)
    (finding,) = [one for one in report.refusing if one.rule == "solvable.undetermined"]
    assert "show the same, and what is right on one is wrong on the other" in finding.found
    gate = next(one for one in report.gates if one.name == "solvable")
    episode = gate.saw["episode"]
    assert f"and {episode['seed']} show" in finding.found


def test_a_text_that_never_changes_is_no_question() -> None:
    constant = TRAIN.replace('f"The train starts with {start} people. {moves} How many', '"How many').replace(
        "        moves = ", "        _ = "
    )
    assert "How many were on it" in constant
    assert "solvable.undetermined" in refusing(constant)


def test_what_numpy_keeps_for_printing_arrays_is_no_leak() -> None:
    """It fills in some hundred episodes, which looked like a design that keeps something of each."""
    printed = TRAIN.replace(
        "for off, on in stations)", "for off, on in stations) + f'{self.np_random.random(9)}'"
    )
    assert printed != TRAIN
    for _ in range(3):
        assert "runs.memory" not in refusing(printed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return str(answer) == str(self._answer)", "return abs(int(answer) - self._answer) < 1000"),
        (
            "    def goal_reached",
            "    def tool_look(self):\n"
            '        """See who got off and on."""\n'
            "        return str(self._answer)\n\n"
            "    def goal_reached",
        ),
    ],
    ids=["several answers are right", "what is hidden can be looked up"],
)
def test_it_is_a_question_only_where_nothing_else_can_be_done(old: str, new: str) -> None:
    source = HIDDEN.replace(old, new)
    assert source != HIDDEN
    assert "solvable.undetermined" not in refusing(source)
