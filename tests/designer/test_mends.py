"""Mends: each does what its name says, leaves sound code alone, and never touches what it does not mean."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_envs import Header, judge, parse_header, seeds_folder
from spade_train.designer import Draft
from spade_train.designer.headers import Facts, with_facts
from spade_train.designer.mends import MENDS, mend
from spade_train.designer.repair import report
from spade_train.designer.worked import short_examples

HEADER = """# /// spade
# id = "spade/Tally-v0"
# title = "Tally"
# summary = "Count strokes."
# domain = "math"
# skills = ["counting"]
# origin = "generated"
# generation_round = 4
# max_episode_steps = 3
# license = "Apache-2.0"
# contract = 1
# ///
"""
SOUND = (
    HEADER
    + """from spade_envs import ToolEnv


class Tally(ToolEnv):
    \"\"\"Count the strokes.\"\"\"

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._n = int(self.np_random.integers(5, 50))
        return "|" * self._n, {}

    def goal_reached(self, answer):
        return answer == self._n

    def hint(self):
        return "Count in fives."

    def expert_action(self):
        return {"name": "finish", "arguments": {"answer": self._n}}
"""
)
FACTS = Facts(4)


def test_sound_code_comes_back_character_for_character() -> None:
    assert mend(SOUND, FACTS).source == SOUND
    assert mend(SOUND, FACTS).mends == ()
    for path in sorted(seeds_folder().glob("*.py")):
        source = path.read_text("utf-8")
        applied = mend(source, FACTS)
        assert set(applied.mends) <= {"header"}, path.name
        assert applied.source.partition("# ///\n")[2] == source.partition("# ///\n")[2]
    for example in short_examples("tools"):
        assert set(mend(example.source, FACTS).mends) == {"header"}


def test_what_every_question_has_is_added() -> None:
    for example in short_examples("questions"):
        assert "def goal_reached" not in example.source
        mended = mend(example.source, FACTS)
        assert set(mended.mends) == {"answering", "header"}
        bodies = [source.partition("# ///\n")[2] for source in (mended.source, example.whole)]
        assert sorted(bodies[0].splitlines()) == sorted(bodies[1].splitlines())


def test_who_keeps_an_answer_of_his_own_or_has_tools_is_left_alone() -> None:
    goal = re.compile(r"    def goal_reached.*\n.*\n\n")
    own = SOUND.replace("_n", "_answer")
    assert "def goal_reached" in mend(goal.sub("", own), FACTS).source
    with_tool = own.replace("    def hint", "    def tool_look(self):\n        return 1\n\n    def hint")
    for source in (SOUND, with_tool):
        assert goal.search(source)
        assert "answering" not in mend(goal.sub("", source), FACTS).mends


def test_who_forgot_the_answer_is_told_so() -> None:
    scribe = next(one.source for one in short_examples("questions") if "ScribeError" in one.source)
    forgot = mend(scribe.replace("self._answer =", "answer ="), FACTS)
    assert "answering" in forgot.mends
    refusing = judge(forgot.source).refusing
    told = report(refusing, Draft(forgot.source))
    assert told.startswith("`reset` never sets `self._answer`.")
    assert report(refusing, Draft(mend(scribe, FACTS).source)).startswith("file")


@pytest.mark.parametrize(
    ("name", "old", "new", "mended"),
    [
        ("generator-name", "self.np_random.", "self.np.random.", "int(self.np_random.integers(5, 50))"),
        ("generator-calls", ".integers(5", ".randint(5", ".integers(5"),
        (
            "generator-calls",
            "int(self.np_random.integers(5, 50))",
            "self.np_random.choices([1, 2])[0]",
            "= random.choices([1",
        ),
        (
            "drawn-texts",
            "self.np_random.integers(5, 50)",
            'self.np_random.choice("123")',
            'choice(list("123"))',
        ),
        (
            "drawn-sizes",
            "int(self.np_random.integers(5, 50))",
            "sum(int(self.np_random.integers(5, 50, size=2)))",
            "sum([int(n) for n in self.np_random.integers(5, 50, size=2)])",
        ),
        (
            "drawn-sizes",
            "int(self.np_random.integers(5, 50))",
            "sum([int(self.np_random.integers(5, 50, size=2))])",
            "sum([int(n) for n in self.np_random.integers(5, 50, size=2)])",
        ),
        (
            "drawn-sizes",
            "int(self.np_random.integers(5, 50))",
            "sum([int(self.np_random.integers(5, 50, size=9)) for _ in range(3)])",
            "sum([int(self.np_random.integers(5, 50)) for _ in range(3)])",
        ),
        (
            "drawn-sizes",
            "int(self.np_random.integers(5, 50))",
            "sum([int(self.np_random.integers(5, (50), size=9)) for _ in range(3)])",
            "sum([int(self.np_random.integers(5, (50))) for _ in range(3)])",
        ),
        (
            "drawn-sizes",
            "int(self.np_random.integers(5, 50))",
            "sum({k: int(self.np_random.integers(5, 50, size=9)) for k in range(3)}.values())",
            "sum({k: int(self.np_random.integers(5, 50)) for k in range(3)}.values())",
        ),
        (
            "module-draws",
            "class Tally(",
            "MOST = self.np_random.integers(5, 50)\nclass Tally(",
            "super().reset(seed=seed)\n        MOST = self.np_random.integers(5, 50)\n        self._n",
        ),
        (
            "super-reset",
            "        super().reset(seed=seed)\n",
            "",
            "        super().reset(seed=seed)\n        self._n",
        ),
        ("reset-return", 'return "|"', 'text = "|"', 'return "|" * self._n, {}\n'),
        ("reset-pair", "self._n, {}", "self._n", 'return "|" * self._n, {}\n'),
        (
            "reset-arguments",
            "self, *, seed=None, options=None",
            "self",
            "def reset(self, *, seed=None, options=None):",
        ),
        (
            "reset-arguments",
            "*, seed=None, options=None",
            "seed: int = None",
            "def reset(self, *, seed=None, options=None):",
        ),
        ("imports", "from spade_envs import ToolEnv\n", "", "from spade_envs import ToolEnv\nclass Tally"),
    ],
)
def test_a_habit_is_mended_and_on_record(name: str, old: str, new: str, mended: str) -> None:
    broken = SOUND.replace(old, new, 1)
    assert broken != SOUND
    applied = mend(broken, FACTS)
    assert applied.mends == (name,)
    assert mended in applied.source
    assert mend(applied.source, FACTS).mends == ()


def test_every_mend_of_the_code_is_tested_here() -> None:
    code = {
        "generator-name",
        "generator-calls",
        "drawn-texts",
        "drawn-sizes",
        "reset-arguments",
        "super-reset",
        "module-draws",
        "reset-return",
        "reset-pair",
        "answering",
        "imports",
    }
    assert set(MENDS) == code


@pytest.mark.parametrize(
    "code",
    [
        SOUND.replace("class Tally(", "MOST = lambda self: self._n\nclass Tally("),
        SOUND.replace("class Tally(", "N = self.np_random.integers(5)\nM = N + 1\nclass Tally("),
        SOUND.replace("class Tally(", "N = self.np_random.integers(5); M = 2\nclass Tally("),
        SOUND.replace('return "|" * self._n, {}', "best = max(3, self._n)"),
    ],
    ids=["of its own self", "used elsewhere", "two in a line", "no text"],
)
def test_what_a_mend_would_break_stays_as_it_is(code: str) -> None:
    assert mend(code, FACTS).source == code


def test_a_question_in_brackets_is_returned_in_brackets() -> None:
    code = SOUND.replace(
        'return "|" * self._n, {}',
        'text = (\n            f"How many: "\n            f"{self._n}?"\n        )',
    )
    assert "return (\n" in mend(code, FACTS).source
    assert mend(code, FACTS).mends == ("reset-return", "reset-pair")


def test_only_the_environments_own_reset_is_mended() -> None:
    helper = SOUND.replace(
        "class Tally", "class Pile:\n    def reset(self):\n        return 3\n\n\nclass Tally"
    )
    assert mend(helper, FACTS).source == helper
    nested = SOUND.replace(
        "        self._n =", "        def draw():\n            return 3\n\n        self._n ="
    )
    assert mend(nested, FACTS).source == nested


def test_a_header_keeps_choices_and_gets_facts() -> None:
    written = """# /// spade
# id = "tally marks-v7"
# title = "A title that is much too long for the sixty characters that a title may have at most"
# summary = "Count  strokes."
# domain = "Maths"
# skills = ["Counting!", "counting", "Fives"]
# origin = "seed"
# parent = "spade/Nobody-v3"
# author = "me"
# difficulty_levels = 3
# max_episode_steps = 3
# broken = [
# ///
"""
    source = SOUND.replace(HEADER, written)
    header = parse_header(with_facts(source, Facts(4, "spade/LampRow-v0")))
    assert isinstance(header, Header), header.text()
    assert (str(header.id), header.domain, header.skills) == (
        "spade/TallyMarks-v0",
        "math",
        ("counting", "fives"),
    )
    assert (header.origin, header.generation_round, str(header.parent)) == (
        "generated",
        4,
        "spade/LampRow-v0",
    )
    assert header.difficulty_levels is None  # the constructor takes no such argument
    assert header.title == "A title that is much too long for the sixty characters that"


def test_quotation_marks_that_were_forgotten_in_a_header_are_written() -> None:
    bare = HEADER.replace('"math"', "math").replace('"Tally"', "Tally")
    assert mend(SOUND.replace(HEADER, bare), FACTS).source == SOUND
    for skills in ("counting, fives", "[counting, fives]", "counting, fives  # two"):
        header = parse_header(mend(SOUND.replace('["counting"]', skills), FACTS).source)
        assert isinstance(header, Header)
        assert header.skills == ("counting", "fives")
    mend(SOUND.replace("max_episode_steps = 3", f"max_episode_steps = {'9' * 5000}"), FACTS)


def test_code_that_does_not_parse_is_refused_for_that_and_not_for_its_header() -> None:
    short = '# /// spade\n# domain = "math"\n# skills = ["counting"]\n# max_episode_steps = 3\n# ///\n'
    broken = SOUND.replace(HEADER, short).replace('"Count in fives."', '"Count in fives.')
    mended = mend(broken, FACTS).source
    assert isinstance(parse_header(mended), Header)
    assert [finding.rule for finding in judge(mended).refusing] == ["language.syntax"]


@pytest.mark.parametrize("mark", ["///\n", "##\n", "", "# //\n", "# ///  \n"])
def test_the_headers_last_mark_is_written_where_it_is_misspelt(mark: str) -> None:
    source = HEADER.removesuffix("# ///\n") + mark + SOUND.removeprefix(HEADER)
    assert mend(source, FACTS).source == SOUND


@given(st.text(max_size=300))
def test_no_text_makes_a_mend_raise(text: str) -> None:
    mend(text, FACTS)
    mend(HEADER + text, FACTS)
    mended = mend(SOUND.replace('"Count strokes."', repr(text)), FACTS).source
    assert mended.count("# /// spade") >= 1
