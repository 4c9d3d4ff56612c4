"""Suites of questions: what counts as the answer, what is read from files, what is skipped and says so."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_envs.errors import UsageError
from spade_train.evaluation import Options, Skipped, Suite
from spade_train.evaluation.calls import Call, read_calls
from spade_train.evaluation.programs import passes
from spade_train.evaluation.questions import answer_of, is_same, number_of
from spade_train.evaluation.suites import make_suites


def suite(word: str, **options: Any) -> Suite:
    (made,) = make_suites([word], Options(**options))
    assert isinstance(made, Suite), made
    return made


def score(made: Suite, number: int, answer: str) -> bool:
    env = made.make(made.items[number].env_id)
    env.reset(seed=made.items[number].seed)
    *_, terminated, _, info = env.step(f"I think so. <answer>{answer}</answer>")
    assert terminated
    return bool(info["is_success"])


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("<answer> 4 </answer>", "4"),
        ("<answer>3</answer> no, <answer>4</answer>", "4"),
        (r"so \boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{4} <answer>5</answer>", "5"),
        ("4", None),
        ("<answer>4", None),
    ],
)
def test_the_last_marked_answer_counts(reply: str, answer: str | None) -> None:
    assert answer_of(reply) == answer


@pytest.mark.parametrize(
    ("answer", "right", "same"),
    [
        ("1,204", "1204", True),
        ("$12.50", "12.5", True),
        ("12", "112", False),
        ("The  Hague.", "the hague", True),
        ("Hague", "The Hague", False),
        ("0.5", "1/2", False),
        ("", "0", False),
    ],
)
def test_what_is_the_same_answer(answer: str, right: str, same: bool) -> None:
    assert is_same(answer, right) == same


@given(st.integers(-(10**9), 10**9))
def test_numbers_are_read_as_people_write_them(number: int) -> None:
    assert number_of(f" {number:,}. ") == number
    assert is_same(str(number), f"{number}.0")


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "mine.jsonl", {"question": "2 + 2?", "answer": 4}, {"question": "A?", "answer": ["x", "y"]}
    )
    made = suite(str(path))
    assert [one.env_id for one in made.items] == ["mine/1", "mine/2"]
    assert score(made, 0, "4.0")
    assert score(made, 1, "Y")
    assert not score(made, 1, "x or y")
    assert len(suite(str(path), items=1).items) == 1


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("a.jsonl", '{"question": "?"}\n', "row 1 has no answer; it has: question"),
        ("a.jsonl", "{\n", "a.jsonl:1 is not JSON"),
        ("a.jsonl", "[1]\n", "is no object"),
        ("a.json", "[1]", "entry 1 is no object"),
        ("a.jsonl", "", "holds no questions"),
        ("a.csv", "question,reply\n1,2\n", "has no answer"),
    ],
)
def test_bad_files_are_told_by_place(tmp_path: Path, name: str, text: str, found: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=found):
        make_suites([str(tmp_path / name)], Options())


@pytest.mark.parametrize("name", ["aime", "gpqa", "livecodebench", "acebench"])
def test_what_is_not_there_is_skipped_with_a_reason(name: str, tmp_path: Path) -> None:
    for word, why in ((name, f"--suite {name}=PATH"), (f"{name}={tmp_path / 'no'}", "is not there")):
        (made,) = make_suites([word], Options())
        assert isinstance(made, Skipped)
        assert why in made.why


def test_a_misspelt_suite_is_told() -> None:
    with pytest.raises(UsageError, match="Did you mean heldout"):
        make_suites(["held-out"], Options())
    with pytest.raises(UsageError, match="no such file"):
        make_suites(["nowhere.jsonl"], Options())


def test_aime(tmp_path: Path) -> None:
    made = suite(f"aime={lines(tmp_path / 'a.jsonl', {'id': 'I-1', 'problem': '?', 'answer': '073'})}")
    assert score(made, 0, "73")
    assert not score(made, 0, "730")
    with pytest.raises(UsageError, match="whole numbers"):
        make_suites([f"aime={lines(tmp_path / 'b.jsonl', {'problem': '?', 'answer': 'x'})}"], Options())


def test_gpqa_shuffles_by_seed_and_marks_the_letter(tmp_path: Path) -> None:
    row = {
        "Question": "Which?",
        "Correct Answer": "right",
        **{f"Incorrect Answer {n}": f"wrong {n}" for n in (1, 2, 3)},
    }
    path = lines(tmp_path / "gpqa.jsonl", *[row] * 8)
    made, again, other = (suite(f"gpqa={path}", seed=seed) for seed in (0, 0, 1))
    texts = [[one.make("").reset(seed=n)[0] for n in range(8)] for one in (made, again, other)]
    assert texts[0] == texts[1] != texts[2]
    for n, text in enumerate(texts[0]):
        letter = next(line[0] for line in text.splitlines() if line.endswith(". right"))
        assert [score(made, n, one) for one in "ABCD"] == [one == letter for one in "ABCD"]


def test_acebench(tmp_path: Path) -> None:
    (tmp_path / "possible_answer").mkdir()
    functions = [{"name": "book", "parameters": {}}, {"name": "look_2", "parameters": {}}]
    name = "data_normal_single_turn_parallel_function.json"
    lines(
        tmp_path / name,
        {"id": "a", "question": "user: book two", "function": functions, "time": ""},
        {"id": "b", "question": "user: look", "function": functions},
    )
    lines(
        tmp_path / "possible_answer" / name,
        {"id": "a", "ground_truth": {"book": {"who": "Ann", "of": 1}, "book_2": {"who": "Bo", "of": 2}}},
        {"id": "b", "ground_truth": [{"look_2": {"at": True}}, {"look_2": {}}]},
    )
    made = suite(f"acebench={tmp_path}")
    assert score(made, 0, "[book(who='Bo', of=2), book(of=1, who='Ann')]")
    assert not score(made, 0, "[book(who='Bo', of=2)]")
    assert score(made, 1, "look_2(at=True)")
    assert score(made, 1, "[look_2()]")
    assert not score(made, 1, "[look_2(at=False)]")


def test_calls_are_read_and_never_evaluated() -> None:
    assert read_calls("[a.b(1, x='y'), c()]") == [Call("a.b", {"x": "y"}, (1,)), Call("c", {})]
    assert read_calls('<tool_call>{"name": "f", "arguments": {"n": [1]}}</tool_call>') == [
        Call("f", {"n": [1]})
    ]
    assert read_calls("```python\n[f(n=-1)]\n```")[0].source() == "f(n=-1)"
    for text in ("Done.", "[f(x=__import__('os'))]", "f(**{'a': 1})", "f()()", "[" * 5000, "x = f()"):
        assert read_calls(text) == [], text


@given(st.text(max_size=60))
def test_no_reply_breaks_the_reading_of_calls(text: str) -> None:
    for call in read_calls(text) + read_calls(f"[{text}]"):
        assert read_calls(f"[{call.source()}]") == [call]


def problem(**more: Any) -> dict[str, Any]:
    return {
        "question_id": "1",
        "question_content": "Add.",
        "starter_code": "class Solution:\n    def add(self, a, b):\n",
        "metadata": json.dumps({"func_name": "add"}),
        "public_test_cases": json.dumps([{"input": "1\n2", "output": "3", "testtype": "functional"}]),
        **more,
    }


def test_livecodebench_runs_programs_in_a_worker(tmp_path: Path) -> None:
    private = json.dumps([{"input": "5\n5", "output": "10", "testtype": "functional"}])
    packed = base64.b64encode(zlib.compress(pickle.dumps(private))).decode()
    reads = [{"input": "1", "output": "1", "testtype": "stdin"}]
    path = lines(
        tmp_path / "lcb.jsonl",
        problem(private_test_cases=packed),
        problem(public_test_cases=reads, starter_code=""),
    )
    made = suite(f"livecodebench={path}")
    assert made.note == "left out: 1 of 2 read standard input"
    right = "class Solution:\n    def add(self, a, b):\n        return a + b"
    assert score(made, 0, f"```python\n{right}\n```")
    assert not score(made, 0, right.replace("a + b", "3"))


def test_a_program_cannot_reach_out() -> None:
    tests = [([1], 1)]
    assert passes("def f(x):\n    return x", "f", tests)
    for program in (
        "import os\ndef f(x):\n    return x",
        "def f(x):\n    while True: pass",
        "def f(x:\n",
        "@f",
    ):
        assert not passes(program, "f", tests), program


def test_a_pickle_that_names_anything_is_refused(tmp_path: Path) -> None:
    evil = base64.b64encode(zlib.compress(pickle.dumps(Path))).decode()
    with pytest.raises(pickle.UnpicklingError, match="no text"):
        make_suites(
            [f"livecodebench={lines(tmp_path / 'a.jsonl', problem(private_test_cases=evil))}"], Options()
        )
