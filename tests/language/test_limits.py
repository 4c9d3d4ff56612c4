"""What is refused before Python's parser sees it, and what the parser itself cannot take."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language_programs import findings, rules

from spade_envs.contract import Rejection
from spade_envs.language import compile_source
from spade_envs.language.limits import MAX_BRACKETS, MAX_RUN, MAX_TOKENS

TOO_MUCH = {
    "bytes": ("x = 1\n" * 12_000, "bytes"),
    "characters of several bytes": ("x = '" + "é" * 33_000 + "'", "bytes"),
    "tokens": ("x=1\n" * 7_000, "tokens"),
    "brackets": ("x = " + "(" * 45 + ")" * 45, "brackets"),
    "a chain of operators": ("x = 1" + " + 1" * 600, "tokens"),
    "a chain of attributes": ("x = self" + ".s" * 600, "tokens"),
    "a chain of calls with commas": ("x = f" + "(1,)" * 600, "tokens"),
    "a chain of items": ("x = f" + "[0]" * 600, "tokens"),
    "signs": ("x = " + "-" * 600 + "1", "tokens"),
    "lambdas": ("x = " + "lambda:" * 600 + "1", "tokens"),
    "depth": ("x = 1" + " + 1" * 120, "nested too deep"),
    "depth of conditions": ("if x: pass\n" + "elif x: pass\n" * 120, "nested too deep"),
    "indentation": ("".join(" " * i + "if 1:\n" for i in range(110)) + " " * 110 + "pass", "indentation"),
    "digits": ("x = " + "9" * 5_000, "Python cannot read"),
}


@pytest.mark.parametrize("what", TOO_MUCH)
def test_too_much_is_refused(what: str) -> None:
    code, words = TOO_MUCH[what]
    assert any(words in finding.found for finding in findings(code)), findings(code)[:3]


def test_what_just_keeps_the_limits_compiles() -> None:
    assert findings(f"x = {'(' * (MAX_BRACKETS - 1)}1{')' * (MAX_BRACKETS - 1)}") == []
    assert findings("words = [" + "'word', 3,\n" * ((MAX_TOKENS - 600) // 5) + "]") == []
    assert findings("x = 1" + " + 1" * 90) == []
    assert findings("text = (" + "'piece'\n" * (MAX_RUN - 10) + ")") == []


HIDDEN = [
    "\x00",
    "\x07",
    "\x0c",
    "\x1b",
    "\x7f",
    "\x85",
    "\u202e",
    "\u2066",
    "\u200f",
    "\u061c",
    "\ufeff",
    "\ud800",
    "\r",
]


@pytest.mark.parametrize("character", HIDDEN)
def test_invisible_characters_are_refused_with_their_place(character: str) -> None:
    (finding,) = findings(f"x = 1\ny = 'a{character}b'")
    assert (finding.rule, finding.line, finding.column) == ("language.characters", 2, 7)
    assert f"U+{ord(character):04X}" in finding.found


def test_other_writing_systems_and_line_ends_are_fine() -> None:
    assert findings("größe = 'Привет, 世界, 👩‍🚀, שלום'\n") == []
    assert findings("x = 1\r\ny = 2\r\n") == []


def test_only_utf8_may_be_declared() -> None:
    assert [f.rule for f in _refused("# -*- coding: latin-1 -*-\nx = 1")] == ["language.characters"]
    assert "language.characters" not in [f.rule for f in _refused("# -*- coding: utf-8 -*-\nx = 1")]


def _refused(source: str) -> list[object]:
    compiled = compile_source(source)
    assert isinstance(compiled, Rejection)
    return [
        finding
        for finding in compiled.findings
        if finding.rule.startswith("language.") and "class" not in finding.rule
    ]


EVIL = [
    *("'-' * 60000 + '1'", "'not ' * 15000 + '1'", "'(' * 60000", "'[' * 200 + ']' * 200", "'{1:' * 20000"),
    *(
        "'x' + '.a' * 30000",
        "'x' + '()' * 30000",
        "'x' + '[0]' * 20000",
        "'x' + '(1,)' * 15000",
        "'1' + '+1' * 30000",
    ),
    *(
        "'1' + '**1' * 20000",
        "'lambda:' * 9000 + '1'",
        "'1 if 1 else ' * 5000 + '1'",
        "'f\"{' + '-' * 60000 + '1}\"'",
    ),
    *(
        "'f\"' + '{x:' * 20000",
        "'x = ' * 15000 + '1'",
        "'await ' * 10000 + 'x'",
        "'*' * 60000",
        "'\"' * 60001",
    ),
    *(
        "'if 1:\\n pass\\n' + 'elif 1:\\n pass\\n' * 4000",
        "'try:\\n pass\\nfinally:\\n ' * 3000",
        "'@x\\n' * 20000 + 'def f(): 1'",
    ),
    *(
        "'match x:\\n case ' + '[' * 60000",
        "'match x:\\n case ' + '1|' * 30000 + '1'",
        "'{' * 99 + '**' * 30000",
        "'0x' + 'f' * 60000",
    ),
    *(
        "'x:' + 'a[' * 39 + 'b' + ']' * 39",
        "'def f(x:' + 'a|' * 240 + 'b): 1'",
        "'def f(x:' + 'a[b,' * 39 + ']' * 39 + '): 1'",
    ),
    *(
        "'\\'' + '\\\\N{' * 12000 + '\\''",
        "'global ' + 'x,' * 30000 + 'x'",
        "'class A(' * 8000",
        "'\\t' * 60000",
        "'\\\\\\n' * 30000",
    ),
]


@pytest.mark.parametrize("expression", [pytest.param(" , ".join(EVIL), id="all")])
def test_no_source_kills_the_compiler(expression: str) -> None:
    """In a process of its own: a parser that overflows its stack takes the process with it."""
    script = f"""
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from spade_envs.contract import Rejection
from spade_envs.language import compile_source
for text in [{expression}]:
    assert isinstance(compile_source(text), Rejection), text[:50]
print("alive")
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "alive\n", done.stderr[-2000:]


COSTLY = {
    "unknown names": lambda n: "".join(f"x{i}={'y' * 9}{i}\n" for i in range(n // 20)),
    "imports": lambda n: "".join(f"import a{i}\n" for i in range(n // 13)),
    "one class after the other": lambda n: (
        "class A0(gym.Env): ...\n" + "".join(f"class A{i + 1}(A{i}): ...\n" for i in range(n // 24))
    ),
    "calls of super": lambda n: "class A:\n" + " x=super().__init__\n" * (n // 20),
    "members that are not there": lambda n: "".join(f"np.y{i}\n" for i in range(n // 9)),
    "named tuples in named tuples": lambda n: "namedtuple(namedtuple(namedtuple('a'),'b'),'c')\n" * (n // 48),
    "formats": lambda n: "'{a.b}'.format\n" * (n // 15),
    "templates": lambda n: "x='" + "{" * (n - 20) + "'.format(1)",
}


@pytest.mark.parametrize("what", COSTLY)
def test_compiling_costs_as_much_as_there_is_to_compile(what: str) -> None:
    def cpu_seconds(size: int) -> float:
        start = time.process_time()
        findings(COSTLY[what](size))
        return time.process_time() - start

    assert cpu_seconds(48_000) < 30 * cpu_seconds(6_000) + 0.5


@given(st.text(max_size=200))
def test_any_text_is_answered_with_a_rejection(text: str) -> None:
    assert isinstance(compile_source(text), Rejection)


@given(
    st.lists(
        st.sampled_from(
            [
                *"()[]{},:.=+-*@'\"\n\\#",
                "  ",
                "x",
                "1",
                "f'",
                "def f",
                "class A",
                "lambda",
                " if ",
                " for x in ",
                "match x",
                "case",
                "return",
                "import os",
                "\n    ",
            ]
        ),
        max_size=40,
    )
)
def test_any_tangle_of_tokens_is_answered(parts: list[str]) -> None:
    for rule in rules("".join(parts)):
        assert rule.startswith("language.")
