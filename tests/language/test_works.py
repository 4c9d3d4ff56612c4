"""Every habit that the contract lists under "Works" compiles unchanged and means what it means in Python."""

# ruff: noqa: E501  (designers write wide lines, and so do the sources in here)

from __future__ import annotations

import inspect
import textwrap
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from language_programs import HEADER, program, run, value

from spade_envs.contract import ToolEnv, UnicodeText
from spade_envs.language import CompiledSource, compile_source, load
from spade_envs.language.names import MODULES, SPECIAL_METHODS

HABITS = {
    "in-place on attributes and items": """
        class A:
            def __init__(self):
                self.x = 1
        def answer():
            a, d, g = A(), {"k": 1}, [[1, 2]]
            a.x += 1
            d["k"] += 2
            g[0][1] *= 5
            return a.x, d["k"], g
        expected = (2, 3, [[1, 10]])
    """,
    "underscored and class-private names": """
        class A:
            def __init__(self):
                self._one = 1
                self.__two = 2
            def total(self):
                return self._one + self.__two
        def answer():
            _, _kept = 0, A()
            return _kept.total(), _kept._A__two
        expected = (3, 2)
    """,
    "annotations, never evaluated": """
        from __future__ import annotations
        count: int = 1
        class A:
            size: Optional[Undefined] = None
            def __init__(self, x: "Later" = 3) -> Missing[int]:
                self.x: np.ndarray = x
        def answer():
            y: list[Nothing] = [A().x]
            z: int
            return y, count
        expected = ([3], 1)
    """,
    "dataclasses": """
        from dataclasses import dataclass, field, asdict, replace, InitVar
        from typing import ClassVar
        @dataclass(order=True, frozen=True)
        class Card:
            rank: int
            suit: str = "clubs"
            seen: ClassVar[int] = 5
        @dataclass
        class Hand:
            cards: list[Card] = field(default_factory=list)
            extra: InitVar[int] = 2
            size: int = field(init=False, default=0)
            def __post_init__(self, extra):
                self.size = len(self.cards) + extra
        def answer():
            hand = Hand([Card(3), replace(Card(3), suit="hearts")])
            return hand.size, asdict(hand.cards[1]), max(hand.cards).suit, str(Card(3)), Card.seen
        expected = (4, {"rank": 3, "suit": "hearts"}, "hearts", "Card(rank=3, suit='clubs')", 5)
    """,
    "enums in class form": """
        from enum import Enum, IntEnum, Flag, StrEnum, auto, unique
        @unique
        class Move(IntEnum):
            UP = 0
            DOWN = 1
        class Kind(Enum):
            WALL = "#"
            FREE = "."
            @property
            def open(self):
                return self is Kind.FREE
        class Door(Flag):
            NORTH = auto()
            SOUTH = auto()
        class Say(StrEnum):
            YES = auto()
        def answer():
            both = Door.NORTH | Door.SOUTH
            return (Move(1).name, Kind("#").open, Kind["FREE"].open, len(Kind), [m.value for m in Move],
                    Door.SOUTH in both, Say.YES.upper(), Move.DOWN + 1)
        expected = ("DOWN", False, True, 2, [0, 1], True, "YES", 2)
    """,
    "match": """
        from dataclasses import dataclass
        @dataclass
        class Point:
            x: int
            y: int
        def told(thing):
            match thing:
                case Point(x=0, y=y):
                    return f"axis {y}"
                case Point(a, b) if a == b:
                    return "diagonal"
                case ["go", where, *rest]:
                    return where, rest
                case {"k": v, **others}:
                    return v, others
                case str() as text:
                    return text
                case 1 | 2 | None:
                    return "small"
                case _:
                    return "other"
        def answer():
            return [told(t) for t in (Point(0, 4), Point(2, 2), ["go", "north", 1], {"k": 1, "m": 2}, "hi", 2, 3.5)]
        expected = ["axis 4", "diagonal", ("north", [1]), (1, {"m": 2}), "hi", "small", "other"]
    """,
    "nonlocal and global": """
        total = 0
        def counter():
            n = 0
            def bump():
                nonlocal n
                global total
                n += 1
                total += n
                return n
            return bump
        def answer():
            bump = counter()
            return bump(), bump(), total
        expected = (1, 2, 3)
    """,
    "super, properties, static and class methods": """
        class Base:
            def __init__(self, size=2):
                self._size = size
            def __str__(self):
                return "base"
        class Derived(Base):
            made = 0
            def __init__(self):
                super().__init__(size=3)
                super(Derived, self).__init__(4)
                Base.__init__(self, 5)
            def __str__(self):
                return super().__str__() + "d"
            @property
            def size(self):
                return self._size
            @size.setter
            def size(self, value):
                self._size = value
            @staticmethod
            def twice(x):
                return 2 * x
            @classmethod
            def make(cls):
                cls.made += 1
                return cls()
        def answer():
            d = Derived.make()
            d.size += 1
            return d.size, d.twice(4), Derived.made, str(d)
        expected = (6, 8, 1, "based")
    """,
    "f-strings and str.format": """
        class A:
            def __init__(self):
                self.deep = {"k": [1.5]}
        def answer():
            a, w, template = A(), 6, "{0.deep[k][0]:>{w}}|{1!r:5}|{{}}"
            return (f"{a.deep['k'][0]:{w}.2f}|{w=}", "{}-{:>3}-{n:02d}".format(1, "x", n=3), template.format(a, "q", w=w),
                    "{a.deep[k]}".format_map({"a": a}), str.format("{:.1f}", 2), list(map("<{}>".format, [1, 2])), "%d%%" % 5)
        expected = ("  1.50|w=6", "1-  x-03", "   1.5|'q'  |{}", "[1.5]", "2.0", ["<1>", "<2>"], "5%")
    """,
    "comprehensions, generators, lambdas, walrus, unpacking, slices": """
        def numbers(n):
            got = yield -1
            yield from (i for i in range(n) if i % 2)
            return got
        def answer():
            first, *rest = [x * y for x in range(3) for y in (1, 2)]
            table = {k: {v} for k, v in zip("ab", rest)}
            big = max((y := 7, 3), key=lambda pair: pair)
            head, (mid, *_) = 1, (2, 3, 4)
            merged = [*rest[::-2], *table, *{**{"z": 1}}]
            return first, table, list(numbers(4)), big, y, head + mid, merged, rest[1:-1], {1, 2} | {3}
        expected = (0, {"a": {0}, "b": {1}}, [-1, 1, 3], 7, 7, 3, [4, 2, 0, "a", "b", "z"], [1, 2, 2], {1, 2, 3})
    """,
    "with on own classes": """
        class Lock:
            def __enter__(self):
                self.log = ["in"]
                return self
            def __exit__(self, kind, error, trace):
                self.log.append(kind.__name__ if kind else "out")
                return True
        def answer():
            with Lock() as lock, Lock():
                raise ValueError
            return lock.log
        expected = ["in", "out"]
    """,
    "try, except, finally": """
        class Lost(Exception):
            pass
        def answer():
            log = []
            for error in (Lost("a"), KeyError("k"), ZeroDivisionError(), None):
                try:
                    if error is not None:
                        raise error from None
                except Lost as caught:
                    log.append(str(caught))
                except (KeyError, BaseException) as caught:
                    log.append(type(caught).__name__)
                except:
                    log.append("never")
                else:
                    log.append("fine")
                finally:
                    log.append(";")
            return "".join(log)
        expected = "a;KeyError;ZeroDivisionError;fine;"
    """,
    "parameters of every kind, sorting by a key, caching": """
        import functools
        from functools import lru_cache
        def f(a, /, b, *args, c=3, **kwargs):
            return a, b, args, c, kwargs
        @lru_cache(maxsize=None)
        def fib(n):
            return n if n < 2 else fib(n - 1) + fib(n - 2)
        def logged(g):
            @functools.wraps(g)
            def inner(*args):
                return g.__name__, inner.__doc__, g(*args)
            return inner
        @logged
        def add(x, y):
            "Adds."
            return x + y
        def answer():
            return f(1, 2, 4, c=5, d=6), fib(80), sorted(["bb", "a"], key=lambda w: -len(w)), add(1, 2), add.__name__
        expected = ((1, 2, (4,), 5, {"d": 6}), 23416728348467685, ["bb", "a"], ("add", "Adds.", 3), "add")
    """,
    "operators of own classes": """
        class V:
            def __init__(self, n):
                self.n = n
            def __add__(self, other):
                return V(self.n + (other.n if isinstance(other, V) else other))
            __radd__ = __add__
            def __iadd__(self, other):
                self.n += other
                return self
            def __eq__(self, other):
                return self.n == other.n
            def __lt__(self, other):
                return self.n < other.n
            def __hash__(self):
                return hash(self.n)
            def __getitem__(self, i):
                return self.n * i
            def __contains__(self, i):
                return i == self.n
            def __call__(self):
                return self.n
            def __bool__(self):
                return self.n > 0
        def answer():
            v = V(1)
            v += 3
            return (1 + v).n, v == V(4), sorted([V(2), V(1)])[0].n, len({V(1), V(1)}), v[3], 4 in v, v(), bool(V(0))
        expected = (5, True, 1, 1, 12, True, 4, False)
    """,
    "named tuples, of both forms": """
        from collections import namedtuple
        from typing import NamedTuple
        Point = namedtuple("Point", "row obj", defaults=(0,))
        class Pair(NamedTuple):
            left: int
            right: str = "r"
        def answer():
            p = Point(1)._replace(obj=5)
            return p.row, p.obj, Point._fields, p._asdict(), Pair(1).right, Pair(1) == (1, "r")
        expected = (1, 5, ("row", "obj"), {"row": 1, "obj": 5}, "r", True)
    """,
    "getattr, setattr, hasattr and type on own objects": """
        class A:
            level = 1
            def go_north(self):
                return "north"
        def answer():
            a = A()
            setattr(a, "level", 2)
            return (getattr(a, "go_" + "north")(), getattr(a, "gone", None), hasattr(a, "level"), a.level,
                    type(a) is A, type(a).__name__, type(3) is int, type([]).__name__, isinstance(A, type))
        expected = ("north", None, True, 2, True, "A", True, "list", True)
    """,
    "abstract and generic classes, protocols": """
        from abc import ABC, abstractmethod
        from typing import Generic, Protocol, TypeVar, TypedDict
        T = TypeVar("T")
        class Shape(ABC):
            @abstractmethod
            def area(self): ...
        class Square(Shape):
            def area(self):
                return 4
        class Box(Generic[T]):
            pass
        class Sized(Protocol):
            def size(self) -> int: ...
        class Opts(TypedDict, total=False):
            a: int
        def answer():
            try:
                Shape()
            except TypeError:
                return Square().area(), isinstance(Box(), Box), Opts(a=1)
        expected = (4, True, {"a": 1})
    """,
    "attributes that the host's objects have too": """
        class Clock:
            def __init__(self):
                self.now, self.data, self.obj, self.flags, self.register = 0, [1], "o", {}, None
            def resize(self, n):
                self.now += n
                del self.register
                return self.now
        def answer():
            c = Clock()
            return c.resize(2), c.now, c.data, c.obj, hasattr(c, "register")
        expected = (2, 2, [1], "o", False)
    """,
    "a block under __main__ that never runs": """
        import math
        if __name__ == "__main__":
            import sys
            sys.exit(open("x"))
        else:
            ran = True
        def answer():
            return ran
        expected = True
    """,
    "builtins' names for local things": """
        def answer(id=1, type="x"):
            input, max, sum, vars = 3, 4, 5, 6
            return id, type, input + max + sum + vars
        expected = (1, "x", 18)
    """,
}


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_works(habit: str) -> None:
    code = textwrap.dedent(HABITS[habit])
    namespace = run(code)
    assert namespace["answer"]() == namespace["expected"]


@pytest.mark.parametrize("habit", HABITS)
def test_a_habit_means_the_same_in_plain_python(habit: str) -> None:
    if "Undefined" in HABITS[habit]:
        pytest.skip("plain Python evaluates annotations of classes")
    names: dict[str, object] = {"__name__": "spade_plain", "np": np}
    exec(compile(textwrap.dedent(HABITS[habit]), "<plain>", "exec", dont_inherit=True), names)
    if "BaseException" not in HABITS[habit]:
        assert names["answer"]() == names["expected"]  # type: ignore[operator]


@pytest.mark.parametrize("name", sorted(SPECIAL_METHODS))
def test_every_special_method_of_the_contract_may_be_defined(name: str) -> None:
    namespace = run(f"class A:\n    def {name}(self, *args):\n        return 7\n")
    assert vars(namespace["A"])[name](None) == 7


@pytest.mark.parametrize("module", sorted(MODULES))
def test_every_module_can_be_imported_in_every_form(module: str) -> None:
    members = sorted(MODULES[module])
    if module != "__future__":
        run(f"import {module}\nimport {module} as short\nfrom {module} import {members[0]} as first")
    run(f"from {module} import {', '.join(members[:3])}")


def test_common_names_work_without_their_import() -> None:
    code = """
        def answer(grid: List[int], seed: Optional[int] = None) -> Dict[str, Any]:
            q, d, c = deque([1], maxlen=2), defaultdict(list), Counter("aab")
            d["k"].append(math.floor(2.5))
            return q[0], d["k"], c["a"], re.findall("b+", "abb"), json.dumps([1]), int(np.sum(np.ones(3))), random.Random(1).random()
    """
    assert run(code)["answer"]([])[:6] == (1, [2], 2, ["bb"], "[1]", 3)


def test_a_common_name_is_found_though_another_function_imports_it() -> None:
    code = """
        def one():
            from collections import deque
            return deque([1])
        def two():
            return deque([2])
    """
    namespace = run(code)
    assert namespace["one"]() + namespace["two"]() == namespace["deque"]([1, 2])


def test_print_goes_to_the_log_and_is_capped() -> None:
    made = program("print('a', 1, sep='-', end='!')\nprint('x' * 100_000)\nprint('lost')")
    assert made.printed() == "a-1!" + "x" * (64 * 1024 - 4)


def test_print_survives_texts_that_lie_about_themselves() -> None:
    code = """
        class Odd(str):
            def join(self, parts):
                return 5
            def __radd__(self, other):
                return 6
            def __str__(self):
                return self
        print(Odd("a"), Odd("b"), sep=Odd("-"), end=Odd("!"))
    """
    assert program(code).printed() == "a-b!"


def test_numpy_works_inside() -> None:
    code = """
        def answer():
            a = np.arange(12, dtype=np.float32).reshape(3, 4)
            a[1:, ::2] += 1
            b = a.T @ a
            rows = [tuple(i) for i in np.ndindex(2, 2)]
            with np.errstate(divide="ignore"):
                c = np.array([1.0]) / np.zeros(1)
            x = np.linalg.solve(np.eye(2) * 2, np.ones(2))
            return float(b.sum()), rows, bool(np.isinf(c[0])), x.tolist(), type(a) is np.ndarray, isinstance(a, np.ndarray)
    """
    total, rows, infinite, solved, same, instance = run(code)["answer"]()
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    a[1:, ::2] += 1
    assert total == float((a.T @ a).sum())
    assert (rows, infinite, solved, same, instance) == (
        [(0, 0), (0, 1), (1, 0), (1, 1)],
        True,
        [0.5, 0.5],
        True,
        True,
    )


def test_what_compiled_code_imports_while_it_runs_is_served() -> None:
    assert value("np.array([3, 1]).std()") == 1.0
    code = (
        "import datetime\ndef answer():\n    return datetime.datetime.strptime('2024-02-03', '%Y-%m-%d').day"
    )
    assert run(code)["answer"]() == 3


def test_the_environment_is_a_real_gymnasium_one() -> None:
    made = program("")
    env = made.environment_class()
    assert isinstance(env, gymnasium.Env)
    assert isinstance(env.action_space, gymnasium.spaces.Discrete)
    assert env.reset(seed=7) == (0, {})
    assert env.np_random.integers(1000) == gymnasium.utils.seeding.np_random(7)[0].integers(1000)
    assert env.np_random_seed == 7
    assert env.unwrapped is env
    assert env.step(1) == (0, 1.0, True, False, {"is_success": True})
    assert env.close() is None


def test_gymnasiums_own_checker_has_no_complaint() -> None:
    env = program("").environment_class()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*was not seeded|.*render.*|.*unwrapped.*")
        check_env(env, skip_render_check=True)


def test_environments_derive_from_generic_and_chained_bases() -> None:
    code = """
        import gymnasium as gym
        from spade_envs import ToolEnv

        class Helper(gym.Env[np.ndarray, int]):
            pass

        class Only(Helper):
            pass
    """
    compiled = compile_source(HEADER + textwrap.dedent(code))
    assert isinstance(compiled, CompiledSource)
    assert compiled.class_name == "Only"
    assert load(compiled).environment_class.__name__ == "Only"


def test_text_spaces_hold_any_text_unless_they_name_a_charset() -> None:
    code = """
        import gymnasium as gym
        def answer():
            return gym.spaces.Text(20), gym.spaces.Text(max_length=3, charset="ab"), gym.spaces.Text
    """
    anything, few, kind = run(code)["answer"]()
    assert isinstance(anything, UnicodeText)
    assert "é" in anything
    assert "" in anything
    assert "abc" not in few
    assert isinstance(few, gymnasium.spaces.Text)
    assert isinstance(anything, kind)
    assert isinstance(few, kind)


def test_annotations_of_tools_survive_as_text() -> None:
    code = """
        from spade_envs import ToolEnv

        class Desk(ToolEnv):
            \"\"\"A desk.\"\"\"

            def reset(self, *, seed=None, options=None):
                return "task", {}

            def tool_find(self, order: str, count: "Optional[int]" = None, kinds: list[Literal["a", "b"]] = ()) -> dict:
                \"\"\"Find an order.

                Args:
                    order: Its number.
                    count: How many.
                    kinds: Which.
                \"\"\"
                return {}

            def goal_reached(self, answer):
                return True
    """
    compiled = compile_source(HEADER + textwrap.dedent(code))
    assert isinstance(compiled, CompiledSource)
    kind = load(compiled).environment_class
    assert issubclass(kind, ToolEnv)
    assert inspect.signature(kind.tool_find).parameters["order"].annotation == "str"
    properties = kind().tools[0]["function"]["parameters"]["properties"]
    assert properties["count"]["anyOf"] == [{"type": "integer"}, {"type": "null"}]
    assert properties["kinds"]["items"] == {"enum": ["a", "b"], "type": "string"}


def test_an_annotation_that_is_no_type_is_dropped() -> None:
    namespace = run("def f(x: print('ran'), y: '().__class__.mro()', z: int | None) -> (lambda: 0): ...")
    assert namespace["f"].__annotations__ == {"y": "'().__class__.mro()'", "z": "int | None"}
