"""The modules of a design: generators of its own, nothing shared, and nothing that reaches further."""

# ruff: noqa: E501  (designers write wide lines, and so do the sources in here)

from __future__ import annotations

import collections
import importlib.abc
import importlib.machinery
import io
import random
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from language_programs import program, run

from spade_envs.contract import Rejection
from spade_envs.language.attributes import GUARDED, HOST, SAFE, is_dunder, names_of
from spade_envs.language.compiler import compile_program
from spade_envs.language.facades import Facades
from spade_envs.language.names import MODULES
from spade_envs.language.program import Program, run_program

DRAWS = {
    "random": "random.random()",
    "numpy.random": "float(np.random.rand())",
    "Random without a seed": "random.Random().random()",
    "default_rng without a seed": "np.random.default_rng().random()",
    "RandomState without a seed": "np.random.RandomState().rand()",
    "random.seed(None)": "(random.seed(), random.random())",
    "a subclass of Random": "Own().random()",
    "generators from the constructor": "(python.random(), numeric.random())",
    "an environment's generator before a reset": "float(env.np_random.random())",
    "a space's samples": "env.action_space.sample()",
    "samples of a composite space": "composite.sample()['b'].tolist()",
}
SETTING = """
import gymnasium as gym
from random import Random
class Own(Random):
    pass
python, numeric = Random(), np.random.default_rng()
composite = gym.spaces.Dict({"a": gym.spaces.Discrete(1000), "b": gym.spaces.Box(0, 1, (3,))})
class Base(gym.Env):
    action_space = gym.spaces.Discrete(10**6)
def draw(env):
    return %s
"""


def drawing(expression: str) -> tuple[Any, Callable[[], Any]]:
    made = program(SETTING.replace("class Base(gym.Env)", "class Base") % expression)
    env = made.environment_class()
    env.action_space = made.namespace["Base"].action_space
    return made, lambda: made.namespace["draw"](env)


@pytest.mark.parametrize("source", DRAWS)
def test_numbers_repeat_with_the_programs_seed_and_only_with_it(source: str) -> None:
    made, draw = drawing(DRAWS[source])
    first = draw()
    again, draw_again = drawing(DRAWS[source])
    assert draw_again() == first, "before the first seed, programs are alike"
    for seeded in (made, again):
        seeded.seed(5)
    fifth, going_on = draw(), draw()
    assert (draw_again(), draw_again()) == (fifth, going_on)
    assert fifth != first
    made.seed(6)
    assert draw() != fifth
    made.seed(5)
    assert draw() == fifth, "what the program holds already is seeded too"
    made.seed(None)
    assert draw() == going_on, "without a seed the generators go on"


def test_generators_with_a_seed_are_pythons_and_numpys_own() -> None:
    code = """
        def answer():
            random.seed(3)
            own = random.random()
            return own, random.Random(4).random(), np.random.default_rng(5).random(), np.random.RandomState(6).rand()
    """
    expected = (
        *(random.Random(3).random(), random.Random(4).random()),
        *(np.random.default_rng(5).random(), np.random.RandomState(6).rand()),
    )
    assert run(code)["answer"]() == expected


def test_an_episodes_generator_and_the_programs_give_different_numbers() -> None:
    made = program("def draw():\n    return np.random.default_rng().random()")
    env = made.environment_class()
    made.seed(5)
    env.reset(seed=5)
    assert env.np_random.random() != made.namespace["draw"]()


def test_the_processs_own_generators_are_left_alone() -> None:
    before = random.getstate(), np.random.get_state()[1].tolist()
    run("random.seed(1)\nx = random.random(), np.random.rand(), np.random.default_rng().random()")
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before


def test_a_module_cannot_be_changed_and_is_shared_by_no_two_programs() -> None:
    with pytest.raises(AttributeError, match="not your own"):
        run("m = math\nm.pi = 3")
    first, second = (run("")["__builtins__"]["$import"]("math") for _ in range(2))
    assert first is not second
    assert first is not sys.modules["math"]


def test_every_member_on_the_list_exists() -> None:
    facades = Facades(run_program)
    for module in MODULES:
        assert vars(facades.get(module)).keys() >= MODULES[module]


def test_a_copy_of_the_programs_generator_goes_its_own_way() -> None:
    code = """
        import copy
        def answer():
            own = random.Random()
            copied = copy.deepcopy(own)
            first = own.random()
            return copied is own, copied.random() == first, copied.random() == own.random()
    """
    assert run(code)["answer"]() == (False, True, True)


def test_a_space_that_is_seeded_without_a_seed_draws_from_the_program() -> None:
    code = """
        import gymnasium as gym
        space = gym.spaces.Dict({"a": gym.spaces.Discrete(10**6)})
        space.seed()
        drawn = [space.sample()["a"] for _ in range(3)]
    """
    assert run(code)["drawn"] == run(code)["drawn"]


# The walk: everything that a design can reach from its facades by names that are read without a guard.

EXAMPLES = """
import collections, contextlib, copy, dataclasses, datetime, decimal, enum, fractions, functools, itertools, json, operator
import re, statistics, typing, gymnasium as gym
from spade_envs import ToolEnv

@dataclasses.dataclass
class Data:
    x: int = 1

@contextlib.contextmanager
def managed():
    yield 1

def absent():
    return unset
    unset = 1

def generate():
    yield 1

def caught(call):
    try:
        call()
    except Exception as error:
        return error

class Room(gym.Env):
    pass

class Desk(ToolEnv):
    def goal_reached(self, answer):
        return True

def exit_arguments():
    got = []
    class Exit:
        def __enter__(self):
            return self
        def __exit__(self, *arguments):
            got.extend(arguments[:2])
            return True
    with Exit():
        raise ValueError
    return got

def examples():
    array = np.arange(6.0).reshape(2, 3)
    spaces = gym.spaces
    kinds = [spaces.Box(0, 1, (2,)), spaces.Discrete(3), spaces.MultiDiscrete([2, 3]), spaces.MultiBinary(3)]
    kinds += [spaces.Text(4), spaces.Text(4, charset="ab"), spaces.Tuple(kinds[:2]), spaces.Dict({"a": kinds[0]})]
    cached = functools.lru_cache(generate)
    return [
        "text", b"bytes", bytearray(b"x"), 1, 1.5, 1j, True, None, (1,), [1], {1: 2}, {1}, frozenset({1}), range(3), slice(1),
        {}.keys(), {}.values(), {}.items(), iter([]), iter({}), iter(""), iter(()), reversed([]), enumerate([]), zip(), map(abs, []),
        filter(None, []), generate(), generate, managed(), managed, Data, Data(), Data.x, dataclasses.fields(Data),
        collections.deque([1]), Counter("a"), collections.OrderedDict(), collections.ChainMap(), collections.defaultdict(list),
        collections.namedtuple("P", "a b")(1, 2), re.compile("a"), re.match("a", "a"), re.finditer("a", "a"),
        json.loads("[1]"), fractions.Fraction(1, 2), decimal.Decimal(1), decimal.getcontext(), decimal.localcontext(),
        statistics.NormalDist(), datetime.datetime(2000, 1, 1), datetime.date(2000, 1, 1), datetime.time(1),
        datetime.timedelta(1), datetime.timezone.utc, functools.partial(abs, 1), cached, functools.cached_property(abs),
        functools.cmp_to_key(abs)(1), operator.itemgetter(1), property(abs), staticmethod(abs), classmethod(abs), super(Data, Data()),
        contextlib.nullcontext(1), contextlib.suppress(), contextlib.closing(1), contextlib.ExitStack(),
        array, array.T, array.flat, array.flags, array.dtype, array[0, 0], np.array([1], "i4,O"), np.array(["a"]),
        np.finfo(float), np.iinfo(int), np.ndindex(2), np.ndenumerate(array), np.vectorize(abs), np.errstate(all="ignore"),
        np.add, np.mean, np.random.default_rng(1), np.random.RandomState(1), random.Random(1), random.Random(),
        np.linalg.qr(array), np.linalg.slogdet(np.eye(2)), np.unique_counts(array),
        typing.List[int], typing.Optional[int], typing.Optional["later"], typing.TypeVar("T"), typing.NewType("N", int),
        typing.Callable[[int], str], typing.ParamSpec("S"), typing.Annotated[int, 1], typing.Literal[1], list[int], int | str,
        *[value for kind in kinds for value in (kind, kind.sample())], Room(), Desk(), enum.auto(),
        *[value(["ab", "cd"]) for value in (itertools.chain, itertools.cycle, itertools.pairwise, itertools.groupby)],
        itertools.count(), itertools.product("ab"), itertools.tee("ab"), itertools.islice("ab", 1), itertools.repeat(1),
        [caught(lambda: 1 / 0), caught(lambda: {}[1]), caught(lambda: (1).x), caught(lambda: absent()), caught(lambda: "a".encode("x")),
         caught(lambda: json.loads("{")), caught(lambda: np.linalg.inv(np.zeros((2, 2)))), caught(lambda: next(generate(), 1)),
         caught(lambda: b"\\xff".decode()), caught(lambda: getattr(1, "_" + "_class__")), caught(lambda: np.zeros(2)[5])],
        exit_arguments(), type(1), type(Data()), type(array), type(type), Data.__doc__, getattr, setattr, print, isinstance,
    ]
"""

Found = tuple[str, Any]
ATOMS = (str, bytes, int, float, complex, bool, type(None), np.generic)
FORBIDDEN = (
    types.FrameType,
    types.CodeType,
    types.TracebackType,
    io.IOBase,
    importlib.abc.Loader,
    types.CellType,
)


def neighbours(path: str, value: Any) -> Iterator[Found]:
    """Yield what a design gets from a value without a guard: attributes, and items of containers."""
    names = {*dir(value), *names_of(type(value)), *getattr(value, "__dict__", {})}
    for name in sorted(names):
        if not is_dunder(name) and name not in GUARDED:
            try:
                yield f"{path}.{name}", getattr(value, name)
            except Exception:
                continue
    if isinstance(value, (list, tuple, set, frozenset, collections.deque)):
        yield from ((f"{path}[...]", item) for item in value)
    elif isinstance(value, (dict, types.MappingProxyType)):
        yield from ((f"{path}[{key!r:.20}]", item) for key, item in value.items())


def is_forbidden(value: Any, facades: set[int]) -> bool:
    loads = isinstance(value, type) and issubclass(value, importlib.abc.Loader)
    foreign = isinstance(value, types.ModuleType) and id(value) not in facades
    return loads or foreign or isinstance(value, FORBIDDEN)


def walk(roots: dict[str, Any], facades: set[int], limit: int = 60_000) -> Iterator[Found]:
    """Yield everything that is reachable, each object once, with the way to it."""
    seen: dict[int, Any] = {}
    waiting = collections.deque(roots.items())
    while waiting:
        path, value = waiting.popleft()
        if id(value) in seen or isinstance(value, ATOMS):
            continue
        seen[id(value)] = value  # kept, so that its id is not used again
        assert len(seen) < limit, f"the walk does not end: {path}"
        yield path, value
        if not is_forbidden(value, facades) and path.count(".") + path.count("[") < 8:
            waiting.extend(neighbours(path, value))


def walked() -> tuple[list[Found], set[int]]:
    """Return what a new program reaches, and which modules among that are its facades."""
    code = compile_program(EXAMPLES)
    assert not isinstance(code, Rejection), code.text("examples", EXAMPLES)
    namespace = Program(code).namespace
    builtins = namespace["__builtins__"]
    facades = {module: builtins["$import"](module) for module in MODULES}
    given = {name: value for name, value in builtins.items() if name.isidentifier() and not is_dunder(name)}
    own = set(map(id, facades.values()))
    return [*walk({**facades, **given, "examples": namespace["examples"]()}, own)], own


def leaks(found: list[Found], facades: set[int]) -> list[str]:
    return [f"{path}: {value!r:.80}" for path, value in found if is_forbidden(value, facades)]


@pytest.fixture(scope="module")
def reached() -> tuple[list[Found], set[int]]:
    return walked()


def test_nothing_that_reaches_further_is_reachable(reached: tuple[list[Found], set[int]]) -> None:
    found, facades = reached
    assert len(found) > 2_000
    assert leaks(found, facades) == []


def test_every_type_that_is_met_is_accounted_for(reached: tuple[list[Found], set[int]]) -> None:
    """What is read without a guard must be on the list: names of host types outside of it are a gap."""
    gaps = {
        f"{path}: {type(value).__name__}.{name}"
        for path, value in reached[0]
        if not type(value).__module__.startswith(("spade_program", "spade_facade"))
        for name in names_of(type(value)) - set(getattr(value, "_fields", ()))
        if name not in SAFE and name not in HOST
    }
    assert gaps == set()


def test_no_mutable_object_is_shared_between_programs(reached: tuple[list[Found], set[int]]) -> None:
    kinds = (list, dict, set, bytearray, collections.deque, np.ndarray, random.Random, np.random.Generator)
    another = {id(value) for _, value in walked()[0]}
    assert [path for path, value in reached[0] if isinstance(value, kinds) and id(value) in another] == []


PLANTED = {
    "module": types.ModuleType("planted"),
    "frame": sys._getframe(),
    "code": (lambda: 0).__code__,
    "file": io.StringIO(),
    "loader": importlib.machinery.BuiltinImporter,
}


@pytest.mark.parametrize("planted", PLANTED)
@pytest.mark.parametrize("where", ["facade", "class", "container"])
def test_the_walk_finds_what_is_planted(planted: str, where: str) -> None:
    holder: Any = types.ModuleType("math") if where == "facade" else type("Holder", (), {})
    thing = PLANTED[planted]
    holder.hidden = {"deep": [thing]} if where == "container" else thing
    facades = {id(holder)}
    (leak,) = leaks(list(walk({"math": holder}, facades)), facades)
    assert leak.startswith("math.hidden")
