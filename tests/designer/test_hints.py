"""Hints by a reader: read out of any reply, put in by the tree, judged by the gates, given up where they leak."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_envs import Admission, Panel, Registry, Rejection, seeds_folder
from spade_train.backends.interface import Answer, Ask, Failed
from spade_train.designer import Message
from spade_train.designer.slots import render, templates
from spade_train.designer.syntax import class_of, methods_of
from spade_train.workshop import hints

SOURCE = render(templates()["hunt"].examples[0], 0)
METHOD = 'def hint(self):\n    return "Halve what is left."'


def says(*replies: str | None) -> hints.Reader:
    return lambda chats: list(replies[: len(chats)])


@pytest.mark.parametrize(
    "reply",
    [
        f"```python\n{METHOD}\n```",
        f"Here it is:\n```\n{METHOD}\n```\nIt helps.",
        "```python\n    def hint(self):\n        return 'Halve what is left.'\n```",
        "```python\nclass FoxDen(gym.Env):\n    def hint(self):\n        return 'Halve what is left.'\n```",
        f"<think>a long thought</think>\n{METHOD}",
        "Halve what is left.",
        '  Halve   what\n is "left".  ',
        "```python\ndef other(self):\n    return 1\n\n\ndef hint(self):\n    return 'Halve what is left.'\n```",
    ],
)
def test_a_method_is_read_out_of_whatever_was_said(reply: str) -> None:
    method = hints.read_method(reply)
    assert isinstance(method, str)
    (function,) = ast.parse(method).body
    assert isinstance(function, ast.FunctionDef)
    assert function.name == "hint"
    assert "alve what is" in method


@pytest.mark.parametrize(
    "reply",
    [
        "",
        " \n ",
        "word " * 101,
        "```python\ndef hint(self):\n    return 'cut",
        "```python\ndef hint(self, seed):\n    return 'x'\n```",
        "```python\nprint('no method')\n```",
        "```python\ndef hint(self) return\n```",
        "def hint(self return",
        "<think>it never ends",
        "\0",
    ],
)
def test_what_is_no_hint_is_refused_with_a_reason(reply: str) -> None:
    (hinted,) = hints.read_hints([SOURCE], says(reply))
    assert hinted.source == SOURCE or reply == "\0"
    assert hinted.hint


@given(st.text(max_size=300))
def test_whatever_is_said_the_source_still_parses(reply: str) -> None:
    (hinted,) = hints.read_hints([SOURCE], says(reply))
    before, after = (class_of(ast.parse(one)) for one in (SOURCE, hinted.source))
    assert before is not None
    assert after is not None
    for name, method in methods_of(before).items():
        if name != "hint":
            assert ast.dump(method) == ast.dump(methods_of(after)[name])


def test_the_readers_hint_stands_in_the_place_of_the_designs_own() -> None:
    for path in sorted(seeds_folder().glob("*.py"))[:12]:
        source = path.read_text()
        (hinted,) = hints.read_hints([source], says(f"```python\n{METHOD}\n```"))
        assert (hinted.hint, hinted.own) == (hints.READER, source)
        owner = class_of(ast.parse(hinted.source))
        assert owner is not None
        assert ast.unparse(methods_of(owner)["hint"]) == METHOD.replace('"', "'")
        assert [one for one in owner.body if getattr(one, "name", "") == "hint"] == [
            methods_of(owner)["hint"]
        ]


def test_the_reader_sees_the_source_without_its_hint() -> None:
    system, asked = hints.chat(SOURCE)
    assert "def hint" in system["content"]
    assert "upper" in SOURCE
    assert "upper" not in asked["content"]
    assert "def expert_action" in asked["content"]
    ast.parse(hints.without_hint(SOURCE))
    assert hints.without_hint("x = 1\n") == "x = 1\n"


def test_a_source_that_nobody_can_write_for_is_not_asked_about() -> None:
    asked: list[int] = []

    def read(chats: Sequence[list[Message]]) -> list[str | None]:
        asked.append(len(chats))
        return [None] * len(chats)

    found = hints.read_hints(["no python (", "x = 1\n", SOURCE], read)
    assert asked == [1]
    assert [one.changed for one in found] == [False] * 3
    assert "no class" in found[0].hint
    assert found[2].hint == "the reader gave no reply"
    assert hints.read_hints([], read) == []


def test_a_backend_reads_and_what_fails_is_told() -> None:
    class Half:
        """Fails every other time."""

        name = "half"
        asks: tuple[Ask, ...] = ()

        def answer(self, asks: Sequence[Ask]) -> list[Answer | Failed]:
            self.asks = tuple(asks)
            return [Answer(METHOD, 1, 1) if n % 2 == 0 else Failed("it is down") for n in range(len(asks))]

    half = Half()
    found = hints.read_hints([SOURCE, SOURCE], hints.of_backend(half, 3))
    assert [one.hint for one in found] == [hints.READER, "the reader gave no reply"]
    assert len({ask.seed for ask in half.asks}) == 2
    assert {ask.temperature for ask in half.asks} == {hints.TEMPERATURE}
    again = Half()
    hints.read_hints([SOURCE, SOURCE], hints.of_backend(again, 3))
    assert again.asks == half.asks


def test_a_leak_is_found_and_the_design_keeps_its_own_hint(tmp_path: Path) -> None:
    leak = "```python\ndef hint(self):\n    return f'Say {self._possible[len(self._possible) // 2]}.'\n```"
    other = render(templates()["hunt"].examples[1], 0)
    broken = "```python\ndef hint(self):\n    return self.nothing\n```"
    sources = [SOURCE, other, render(templates()["hunt"].examples[2], 0)]
    panel = Panel(Registry(tmp_path), run="test", round=0)
    hinted, verdicts = hints.judge(panel, sources, 1, says(leak, METHOD, broken))
    assert [one.changed for one in hinted] == [False, True, False]
    assert "names the expert's action" in hinted[0].hint
    assert hinted[1].hint == hints.READER
    assert "the reader's hint was refused" in hinted[2].hint
    settled = panel.settle([one.source for one in hinted], verdicts)
    assert all(isinstance(one, Admission) and one.id for one in settled), [
        one.report.text() for one in settled
    ]
    assert "Halve what is left." in settled[1].path.read_text()  # type: ignore[union-attr]


def test_a_design_without_a_good_hint_of_its_own_is_refused_for_that(tmp_path: Path) -> None:
    leak = "def hint(self):\n    return f'Say {self._possible[len(self._possible) // 2]}.'"
    own = hints.read_hints([SOURCE], says(f"```python\n{leak}\n```"))[0].source
    panel = Panel(Registry(tmp_path), run="test", round=0)
    (hinted,), (verdict,) = hints.judge(panel, [own], 1, says(None))
    assert not isinstance(verdict, Admission)
    assert (hinted.changed, verdict.admitted) == (False, False)
    assert not isinstance(hints.read_method(METHOD), Rejection)
