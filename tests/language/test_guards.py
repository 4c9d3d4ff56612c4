"""What is checked at run time: computed attribute names, templates, types, writes of an agent's program."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from language_programs import run, value

from spade_envs.language import run_program
from spade_envs.language.attributes import FORMAT, GUARDED, HOST, NEVER, SAFE
from spade_envs.language.guards import get_attribute
from spade_envs.language.rewriting import reads_no_attribute

REFUSED_AT_RUN_TIME = {
    "getattr(1, '_' * 2 + 'class' + '_' * 2)": AttributeError,
    "getattr((i for i in ()), 'gi_' + 'frame')": AttributeError,
    "getattr(np.zeros(1), 'cty' + 'pes')": AttributeError,
    "getattr([], 3)": TypeError,
    "'{0.' + '__class__}'": None,
    "('{0.' + '__class__}').format(1)": AttributeError,
    "'{0.real.__class__}'.format(1)": AttributeError,
    "'{0[0].__class__}'.format([1])": AttributeError,
    "'{0[:].__class__}'.format({':': 1})": AttributeError,
    "'{0:{0.__class__}}'.format(1)": AttributeError,
    "'{x.__class__}'.format_map({'x': 1})": AttributeError,
    "str.format('{.__class__}', 1)": AttributeError,
    "list(map('{.__class__}'.format, [1]))": AttributeError,
    "getattr('{.__class__}', 'for' + 'mat')(1)": AttributeError,
    "type(np.zeros(1))((1,), object)": TypeError,
    "type(np.random.default_rng(1))(1)": TypeError,
    "type(len)": TypeError,
    "type(lambda: 0)": TypeError,
    "type(i for i in ())": TypeError,
    "type(np)": TypeError,
    "type(np.zeros(1).flags)": TypeError,
    "type(np.zeros(1, 'i4,i4')[0])": TypeError,
    "type(type)('X', (), {})": TypeError,
    "setattr(math, 'pi', 3)": AttributeError,
    "setattr(Counter, 'x', 3)": AttributeError,
    "setattr([], '__cla' + 'ss__', 3)": AttributeError,
}


@pytest.mark.parametrize("expression", REFUSED_AT_RUN_TIME)
def test_what_is_computed_is_checked(expression: str) -> None:
    error = REFUSED_AT_RUN_TIME[expression]
    if error is None:
        assert value(expression)
        return
    with pytest.raises(error):
        value(expression)


def test_an_own_class_gives_no_way_to_the_hosts_attributes() -> None:
    code = """
        import gymnasium as gym
        from datetime import datetime
        class Names:
            get_wrapper_attr = now = mro = obj = with_traceback = register = 1
        class Room(dict):
            pass
        class Stamp(datetime):
            pass
        class Fault(AttributeError):
            pass
        def a(env): return env.get_wrapper_attr("__class__")
        def b(): return Stamp.now()
        def c(): return Room.mro()
        def d(): return Fault("x").obj
        def e(): return Fault("x").with_traceback(None)
        def f(): return getattr(Stamp, "now")()
    """
    namespace = run(code)
    environment = namespace["Sample"]()
    for call in (lambda: namespace["a"](environment), *(namespace[name] for name in "bcdef")):
        with pytest.raises(AttributeError, match="not to be had"):
            call()


def test_a_default_answers_for_what_is_not_to_be_had() -> None:
    assert value("getattr(np.zeros(1), 'cty' + 'pes', None)") is None
    assert value("hasattr(np.zeros(1), 'cty' + 'pes')") is False


def test_sealed_types_serve_for_isinstance_alone() -> None:
    assert value("isinstance(np.random.default_rng(1), np.random.Generator)") is True
    assert value("isinstance(3, type), isinstance(int, type), type(int) is type") == (False, True, True)
    for base in ("np.ndarray", "np.random.Generator", "type(np.zeros(1))"):
        with pytest.raises(TypeError, match="derived"):
            run(f"class A({base}): ...")
    with pytest.raises(AttributeError, match="not your own"):
        run("kind = np.ndarray\nkind.x = 1")


def test_enums_are_made_by_class_statements_alone() -> None:
    with pytest.raises(TypeError):
        run("from enum import Enum\nx = Enum('E', {'__array_interface__': 1})")
    with pytest.raises(AttributeError):
        run("from enum import Enum\nclass A:\n    _create_ = 1\nx = Enum._create_('E', 'a b')")


def test_decorators_change_own_classes_alone() -> None:
    for decorator in ("dataclasses.dataclass", "functools.total_ordering"):
        with pytest.raises(TypeError, match="your own"):
            run(f"import dataclasses, functools\nx = {decorator}(Counter)")


def test_what_stops_a_worker_is_not_caught() -> None:
    code = """
        def f(stop, how):
            try:
                stop()
            except BaseException if how else ValueError:
                return "swallowed"
        def g(stop):
            try:
                stop()
            except:
                return "swallowed"
    """
    namespace = run(code)

    def stop() -> None:
        raise KeyboardInterrupt

    for call in (lambda: namespace["f"](stop, True), lambda: namespace["g"](stop)):
        with pytest.raises(KeyboardInterrupt):
            call()


class Spy:
    """Records whether an attribute of it is read; stands for every argument of a template."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __getattr__(self, name: str) -> Spy:
        self.read.append(name)
        return self

    def __getitem__(self, key: object) -> Spy:
        return self

    def __format__(self, specification: str) -> str:
        return "spy"


@given(st.text(alphabet="{}[].:!0ax >", max_size=24))
def test_a_template_that_is_proven_reads_no_attribute(template: str) -> None:
    spy = Spy()
    with contextlib.suppress(ValueError, IndexError, KeyError):
        template.format(spy, spy, a=spy, x=spy)
    if reads_no_attribute(template):
        assert not spy.read


class Point:
    """A point with public and underscored attributes."""

    x, _y = 3, [4, {"k": 5}]

    def __repr__(self) -> str:
        return "Point"


@given(st.text(alphabet="{}[].:!0xr_yk1 >d", max_size=24))
def test_the_safe_formatter_formats_as_python_does(template: str) -> None:
    def attempt(call: object) -> object:
        try:
            return call(Point(), 7, x=Point(), k="t")  # type: ignore[operator]
        except (ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
            return type(error).__mro__[-3]

    ours, python = attempt(get_attribute(template, "format")), attempt(template.format)
    assert ours == python or "__" in template or isinstance(python, type)


def test_the_lists_of_attributes_do_not_contradict_each_other() -> None:
    assert not SAFE & (GUARDED | FORMAT | NEVER)
    assert NEVER <= GUARDED
    version_dependent = {"cache_parameters", "ptp", "TEMPLATE"}
    assert not SAFE - HOST - version_dependent, "names that no type of the host has need no mention"


def result(source: str, *arguments: object) -> object:
    return run_program(source, "solve", list(arguments))


def test_run_program_calls_with_json_copies() -> None:
    source = "def solve(xs, k=1):\n    xs.append(k)\n    return {'xs': xs, 't': (1, 2)}"
    given = [3]
    assert run_program(source, "solve", [given, 4]) == {"result": {"xs": [3, 4], "t": [1, 2]}}
    assert run_program(source, "solve", {"xs": given, "k": 5}) == {"result": {"xs": [3, 5], "t": [1, 2]}}
    assert given == [3]


def test_run_program_says_what_was_wrong() -> None:
    assert result("import os") == {
        "error": "program:1:1: `os` cannot be imported. [language.import]\n"
        "  Leave it out: an environment reaches neither the system nor the network."
    }
    assert result("def other(): ...") == {"error": "The program defines no function `solve`."}
    assert result("solve = 3") == {"error": "The program defines no function `solve`."}
    assert result("def solve():\n    x = 1\n    return x / 0") == {
        "error": "ZeroDivisionError: division by zero (line 3)"
    }
    assert result("def solve():\n    return {1, 2}")["error"].startswith("TypeError: Object of type set")  # type: ignore[index]
    assert result("def solve(a): ...")["error"].startswith("TypeError: solve() missing")  # type: ignore[index]
    assert result("def solve():\n    return solve()")["error"].startswith("RecursionError")  # type: ignore[index]
    assert result("x = [][1]\ndef solve(): ...") == {"error": "IndexError: list index out of range (line 1)"}
    odd = "class E(Exception):\n    def __str__(self):\n        raise E\ndef solve():\n    raise E"
    assert result(odd) == {"error": "E: (its text cannot be made) (line 5)"}


def test_run_program_gives_each_run_a_namespace_of_its_own() -> None:
    source = "n = [0]\ndef solve():\n    n[0] += 1\n    return n[0], random.random()"
    assert result(source) == result(source)


@pytest.mark.parametrize(
    "write",
    [
        "C = Counter\nC.most_common = None",
        "F = [Counter]\nF[0].total = 1",
        "def f(self):\n    self.update = 1\nf(Counter)",
        "import typing\nT = typing.DefaultDict\nT.x = 1",
        "import statistics\nm = statistics.mean\nm.x = 1",
        "import statistics\nm = statistics.mean\nfor m.x in [1]: pass",
        "m = math\nm.pi = 3",
    ],
)
def test_a_program_of_an_agent_changes_its_own_objects_alone(write: str) -> None:
    outcome = result(write + "\ndef solve(): ...")
    assert outcome["error"].startswith("AttributeError")  # type: ignore[index]


def test_a_program_of_an_agent_may_change_what_is_its_own() -> None:
    source = """
class A:
    n = 0
    def __init__(self):
        self.x, self.now = 1, 2
def solve():
    a = A()
    a.x += 1
    a.now += 1
    A.n = 3
    solve.calls = 4
    import decimal
    decimal.getcontext().prec = 3
    return a.x, a.now, A.n, solve.calls, str(decimal.Decimal(1) / 3)
"""
    assert result(source) == {"result": [2, 3, 3, 4, "0.333"]}
    after = run("import decimal\ndef answer():\n    return len(str(decimal.Decimal(1) / 3))")["answer"]()
    assert after == 30


ENDLESS = "while True:\n        pass"
SWALLOWS = "while True:\n        try:\n            pass\n        finally:\n            continue"


@pytest.mark.parametrize("body", [ENDLESS, SWALLOWS])
def test_an_endless_program_is_an_error_and_not_the_end(body: str) -> None:
    assert "CPU time" in str(result(f"def solve():\n    {body}"))
    assert result("def solve(x):\n    return x + 1", 1) == {"result": 2}


def test_an_endless_program_of_an_agent_is_a_wrong_answer() -> None:
    swallowing = (
        "def solve():\n    while True:\n        try:\n            while True: pass\n        except: pass\n"
    )
    nested = (
        "from spade_envs import run_program\n"
        "def solve():\n"
        "    run_program('def f(): pass', 'f', [])\n"
        "    while True: pass\n"
    )
    for source in (swallowing, nested):
        assert "CPU time" in str(result(source))
    assert result("def solve():\n    return 1") == {"result": 1}
