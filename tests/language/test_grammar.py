"""Sources from a grammar: whatever is built of allowed constructs compiles; one refused construct refuses it."""

from __future__ import annotations

import textwrap

from hypothesis import given
from hypothesis import strategies as st
from language_programs import program, program_rules, rules

EXPRESSIONS = st.recursive(
    st.sampled_from(
        ["a", "self.x", "self._y", "3", "'t'", "f'{a}'", "None", "a.name", "np.zeros(2)", "len(a)", "[]"]
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "==", "and", "in", "@", "if a else"]), inner).map(" ".join),
        inner.map("({})".format),
        inner.map("(lambda q, /, *r: {})".format),
        inner.map("[{} for a in b if a]".format),
        inner.map("{{'k': {}, **b}}".format),
        inner.map("sorted(b, key=lambda k: {})".format),
        inner.map("(w := {})".format),
        inner.map("'{{:>3}}'.format({})".format),
        inner.map("getattr(self, 'x', {})".format),
    ),
    max_leaves=4,
)
REFUSED_EXPRESSIONS = st.sampled_from(
    [
        *(
            "a.__class__",
            "eval('1')",
            "a.gi_frame",
            "a.mro()",
            "type('X', (), {})",
            "np.lib",
            "open('f')",
            "globals()",
        ),
        *(
            "__builtins__",
            "random._os",
            "a.f_back",
            "np.ndarray((1,), object)",
            "getattr(a, '__dict__')",
            "a.tb_next",
        ),
        *(
            "re.sys",
            "math.__loader__",
            "np.random.seed(1)",
            "dict(__x__=1)",
            "'{}'.__format__",
            "[].__iter__",
        ),
    ]
)
REFUSED_STATEMENTS = st.sampled_from(
    [
        *(
            "import os",
            "from sys import path",
            "async def f(): pass",
            "math.pi = 3",
            "np.x['k'] += 1",
            "del re.sub",
        ),
        *("class M(type): pass", "class A(metaclass=a): pass", "def __getattr__(n): pass", "__all__ = 1"),
        *(
            "try:\n    pass\nexcept* ValueError:\n    pass",
            "for __x__ in a:\n    pass",
            "with a as __x__:\n    pass",
        ),
        "match a:\n    case int(__class__=c):\n        pass",
    ]
)


def block(body: str) -> str:
    return textwrap.indent(body, "    ")


def statements(expressions: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    simple = st.one_of(
        expressions.map("a = {}".format),
        expressions.map("self.x += {}".format),
        expressions.map("b[0] = {}".format),
        expressions.map("c, *d = {}".format),
        expressions.map("e: int = {}".format),
        expressions.map("assert {}".format),
        expressions.map("return {}".format),
    )
    return st.recursive(simple, nested, max_leaves=4)


def nested(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return compound statements around others."""
    return st.one_of(
        st.tuples(inner, inner).map("\n".join),
        inner.map(lambda body: "if a:\n" + block(body) + "\nelse:\n    pass"),
        inner.map(lambda body: "for a, (b, c) in d:\n" + block(body)),
        inner.map(lambda body: "while a:\n" + block(body) + "\n    break"),
        inner.map(
            lambda body: "try:\n" + block(body) + "\nexcept (KeyError, a) as g:\n    raise\nexcept:\n    pass"
        ),
        inner.map(lambda body: "with a as b, c:\n" + block(body)),
        inner.map(lambda body: "match a:\n    case [int(x=3), *c] | {'k': c}:\n" + block(block(body))),
        inner.map(lambda body: "def h(a, /, b=1, *c, d: int, **e) -> None:\n" + block(body)),
        inner.map(lambda body: "@property\ndef h(self):\n    nonlocal a\n" + block(body)),
    )


def in_method(body: str) -> str:
    """Return a class with a method that has the body; the names that bodies use are its parameters."""
    return "class Room:\n    x = name = 0\n    def go(self, a, b, c, d, w=0, g=0):\n" + block(block(body))


@given(statements(EXPRESSIONS))
def test_what_is_built_of_allowed_constructs_compiles_and_loads(body: str) -> None:
    assert rules(in_method(body)) == []
    program(in_method(body))


@given(statements(EXPRESSIONS | REFUSED_EXPRESSIONS.map("({})".format)), REFUSED_EXPRESSIONS)
def test_one_refused_expression_refuses_it_wherever_it_stands(body: str, refused: str) -> None:
    code = in_method(body + f"\nreturn [{refused}]")
    assert rules(code)
    assert program_rules(code)


@given(st.data())
def test_one_refused_statement_refuses_it_wherever_it_stands(data: st.DataObject) -> None:
    around = nested(st.just("REFUSED"))
    shell = data.draw(around)
    statement = data.draw(REFUSED_STATEMENTS)
    lines = []
    for line in shell.splitlines():
        indent = line[: len(line) - len(line.lstrip())]
        lines.append(textwrap.indent(statement, indent) if line.strip() == "REFUSED" else line)
    assert rules(in_method("\n".join(lines)))
