"""Ways out that were found once. Each runs into a refusal, an error of its own, or the limit on its time."""

from __future__ import annotations

import textwrap
import time

import pytest
from language_programs import design, run

from spade_envs.contract import Rejection
from spade_envs.language import compile_source, run_program
from spade_envs.language.program import PROGRAM_SECONDS

FIELD_OF_ALL = """
    from dataclasses import dataclass, fields, replace
    import textwrap
    @dataclass(init=False)
    class D{base}:
        x: int = 0
        def __init__(self, *a, **k):
            D.kw = k
    class A: pass
    {store}
    try:
        replace(D(A, A))
    except Exception:
        pass
    found = D.kw["__getattribute__"]
"""
HIDDEN_STORE = """
    class Any_:
        def put(self, value):
            self.{name} = value
"""
WAYS_OUT = {
    "a field's name, stored": FIELD_OF_ALL.format(base="", store='fields(D)[0].name = "__getattribute__"'),
    "a class derived from super": FIELD_OF_ALL.format(base="(super)", store="pass"),
    "a field's name, stored through self": HIDDEN_STORE.format(name="name")
    + FIELD_OF_ALL.format(base="", store='Any_.put(fields(D)[0], "__getattribute__")'),
    "a field's name, by a loop": FIELD_OF_ALL.format(
        base="", store='for fields(D)[0].name in ["__getattribute__"]: pass'
    ),
    "code in a field's name": """
        from dataclasses import dataclass, fields
        @dataclass
        class Base:
            x: int = 0
        fields(Base)[0].name = "x=0, a=print(1), x2"
        @dataclass
        class Derived(Base):
            y: int = 0
    """,
    "a class derived from cached_property": """
        from functools import cached_property
        class P(cached_property): pass
    """,
    "the name in a cached_property, stored": """
        from functools import cached_property
        p = cached_property(lambda self: {"shape": (8,), "typestr": "|u1", "data": (4096, False)})
        p.attrname = "__array_interface__"
    """,
    "the name in a cached_property, stored through self": HIDDEN_STORE.format(name="attrname")
    + """
    from functools import cached_property
    Any_.put(cached_property(lambda self: 1), "__array_interface__")
    """,
    "a mark on the host's function": "import abc, textwrap\nabc.abstractmethod(textwrap.dedent)",
    "an attribute of the host's function": "import textwrap\nf = [textwrap.dedent][0]\nf.mine = 1",
    "a method of the host's class": "from collections import Counter\nC = [Counter][0]\nC.most_common = 1",
    "a method of the host's class, through self": HIDDEN_STORE.format(name="most_common")
    + "    from collections import Counter\n    Any_.put(Counter, 1)",
    "memory behind a generator": """
        import numpy as np
        r = np.random.RandomState(1)
        r.set_state(("MT19937", [1] * 624, 10 ** 6))
    """,
    "an attribute of the host's class, deleted": "from collections import Counter\nC = [Counter][0]\ndel C.update",
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_a_way_out_is_closed(way: str) -> None:
    code = WAYS_OUT[way]
    compiled = compile_source(design(code))
    if not isinstance(compiled, Rejection):
        with pytest.raises((AttributeError, TypeError, KeyError)):
            run(code)


ENDLESS = {
    "a with that swallows": """
        class S:
            def __enter__(self): pass
            def __exit__(self, *a): return True
        def main():
            while True:
                with S():
                    while True: pass
    """,
    "a finally that goes on": """
        def main():
            while True:
                try:
                    while True: pass
                finally:
                    continue
    """,
    "a stack of contexts": """
        from contextlib import ExitStack
        def main():
            while True:
                with ExitStack() as stack:
                    stack.push(lambda *a: True)
                    while True: pass
    """,
    "a generator's finally": """
        def forever():
            while True:
                try:
                    yield 1
                finally:
                    continue
        def main():
            for _ in forever(): pass
    """,
}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of the generator's
@pytest.mark.parametrize("program", ENDLESS)
def test_a_program_cannot_outlive_its_time(program: str) -> None:
    source = textwrap.dedent(ENDLESS[program])
    begin = time.process_time()
    assert "CPU time" in run_program(source, "main")["error"]
    assert time.process_time() - begin < PROGRAM_SECONDS + 0.5
    assert run_program("def main(): return sum(range(1000))", "main") == {"result": 499500}


def nested_finally(depth: int) -> str:
    lines = ["def main():"]
    for level in range(depth):
        lines += [" " * (level + 1) + "try: pass", " " * (level + 1) + "finally:"]
    return "\n".join([*lines, " " * (depth + 1) + "pass"])


BOMBS = {
    "quotes without ends": "\\'," * 9900,
    "finally in finally": nested_finally(16),
    "many ways out of one finally": "def f(x):\n try:\n"
    + "  if x: return 1\n" * 2000
    + " finally:\n"
    + "  x = 1\n" * 2000,
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_source_that_explodes_is_refused_at_once(bomb: str) -> None:
    begin = time.process_time()
    assert isinstance(compile_source(design(BOMBS[bomb])), Rejection)
    assert "error" in run_program(BOMBS[bomb], "main")
    assert time.process_time() - begin < 1


def test_one_finally_is_no_bomb() -> None:
    code = "def f(x):\n    try:\n        return x\n    finally:\n        x = 1\n"
    assert run(code)["f"](3) == 3
