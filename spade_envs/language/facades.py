"""The modules as a design sees them: new for each program, and holding only what reaches nowhere else.

A facade is a plain module with the members that :data:`~spade_envs.language.names.MODULES` lists. Most are
the originals. Made anew are those that draw numbers, which draw from this program's generators, and those that
could change or build something outside the program.
"""

from __future__ import annotations

import abc
import collections
import dataclasses
import enum
import functools
import importlib
import random
import types
from collections.abc import Callable
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

from spade_envs.contract import ToolEnv, UnicodeText
from spade_envs.language.guards import is_own
from spade_envs.language.names import MODULES, NUMPY_RANDOM_METHODS, PROGRAM, RANDOM_METHODS
from spade_envs.language.sealed import FACADE, SEALED

# What the modules themselves import while a design runs must be loaded before: a locked worker opens no file.
for _name in (
    "_strptime",
    "numpy.char",
    "numpy.fft",
    "numpy.ma",
    "numpy.polynomial",
    "numpy.rec",
    "numpy.strings",
):
    importlib.import_module(_name)

FIRST_SEED = 0
"""What the generators are seeded with before the constructor."""


class Facades:
    """The modules of one program, each made when it is first asked for, and the program's generators.

    Args:
        run_program: what designs import under that name.
        draws: whether the program may ask for `random` of NumPy's: its generators take longer to make and to seed
            than most resets do.
    """

    def __init__(self, run_program: Callable[..., Any], draws: bool = True) -> None:
        self._run_program, self._draws = run_program, draws
        self._modules: dict[str, types.ModuleType] = {}
        self._seed = FIRST_SEED

    def seed(self, seed: int) -> None:
        """Seed the program's generators, those too that the program has already got hold of."""
        self._seed = seed
        if "_python" in self.__dict__:
            self._python.seed(seed)
        if "_legacy" in self.__dict__:
            self._legacy.seed(self._sequence().generate_state(4))
        if "_numpy" in self.__dict__:
            self._numpy.bit_generator.state = np.random.PCG64(self._sequence()).state

    @property
    def has_drawn(self) -> bool:
        """Whether one of the program's generators has been asked for."""
        return not self.__dict__.keys().isdisjoint(("_python", "_legacy", "_numpy"))

    # Made when first asked for, since few programs draw numbers, and seeded as if they had been there before.
    @functools.cached_property
    def _python(self) -> random.Random:
        own = _python_random()()
        own.seed(self._seed)
        return own

    @functools.cached_property
    def _legacy(self) -> np.random.RandomState:
        return np.random.RandomState(self._sequence().generate_state(4))

    @functools.cached_property
    def _numpy(self) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(self._sequence()))

    def _sequence(self) -> np.random.SeedSequence:
        return np.random.SeedSequence(self._seed, spawn_key=(1,))  # another stream than self.np_random's

    def get(self, path: str) -> Any:
        """Return the facade of a module, or a member of one (``"collections.deque"``)."""
        if path not in MODULES:
            module, _, member = path.rpartition(".")
            return getattr(self.get(module), member)
        if path not in self._modules:
            self._modules[path] = self._made(path)
        return self._modules[path]

    def _made(self, name: str) -> types.ModuleType:
        facade = types.ModuleType(name)
        members = facade.__dict__
        members.update(_originals(name))
        members.update({part: self.get(f"{name}.{part}") for part in _parts(name, self._draws)})
        if name in _MADE:
            made = _MADE[name](self)
            members.update({member: made[member] for member in MODULES[name] if member in made})
        return facade

    def _random(self) -> dict[str, Any]:
        own = self._python
        return {name: getattr(own, name) for name in RANDOM_METHODS} | {"Random": type(own)}

    def _numpy_random(self) -> dict[str, Any]:
        def default_rng(seed: Any = None) -> np.random.Generator:
            return self._numpy if seed is None else np.random.default_rng(seed)

        def random_state(seed: Any = None) -> np.random.RandomState:
            return self._legacy if seed is None else np.random.RandomState(seed)

        methods = {name: getattr(self._legacy, name) for name in NUMPY_RANDOM_METHODS}
        return methods | {
            "Generator": SEALED[np.random.Generator],
            "RandomState": random_state,
            "default_rng": default_rng,
        }

    def _gymnasium(self) -> dict[str, Any]:
        return {
            "Env": self._drawing(gymnasium.Env, {"metadata": {"render_modes": []}}),
            "Space": SEALED[spaces.Space],
        }

    def _spade_envs(self) -> dict[str, Any]:
        tool_env = self._drawing(ToolEnv, {"metadata": {"render_modes": ["ansi"]}})
        return {"ToolEnv": tool_env, "run_program": self._run_program}

    def _spaces(self) -> dict[str, Any]:
        kinds = (
            spaces.Box,
            spaces.Dict,
            spaces.Discrete,
            spaces.MultiBinary,
            spaces.MultiDiscrete,
            spaces.Tuple,
        )
        made = {kind.__name__: self._drawing(kind) for kind in kinds}
        return {**made, "Text": _text(self._drawing(spaces.Text)), "Space": SEALED[spaces.Space]}

    def _drawing(self, base: Any, members: dict[str, Any] | None = None) -> type:
        """Return a class of Gymnasium's that draws from the program's generator until it is seeded."""
        facades = self

        class Drawing(base):  # type: ignore[misc]
            np_random = property(
                lambda self: facades._numpy if self._np_random is None else self._np_random,
                base.np_random.fset,
            )
            np_random_seed = property(lambda self: -1 if self._np_random is None else self._np_random_seed)

            def __class_getitem__(cls, _: Any) -> type:
                return cls

        def seed(self: Any, seed: Any = None) -> Any:
            return base.seed(self, int(facades._numpy.integers(2**31)) if seed is None else seed)

        for name, value in {**(members or {}), **({"seed": seed} if hasattr(base, "seed") else {})}.items():
            setattr(Drawing, name, value)
        return _named(Drawing, base.__name__)


@functools.cache
def _parts(name: str, draws: bool = True) -> tuple[str, ...]:
    """Return the members of a module that are modules themselves; without those that draw numbers where not needed."""
    parts = (member for member in MODULES[name] if f"{name}.{member}" in MODULES)
    return tuple(part for part in parts if draws or part != "random")


@functools.cache
def _originals(name: str) -> dict[str, Any]:
    """Return the members of a facade that are the module's own: some hundreds, which every instance is given."""
    original, parts = importlib.import_module(name), _parts(name)
    kept = (member for member in MODULES[name] if member not in parts and hasattr(original, member))
    return {member: getattr(original, member) for member in kept}


def _named(kind: type, name: str) -> type:
    kind.__name__ = kind.__qualname__ = name
    kind.__module__ = FACADE
    return kind


def _python_random() -> type[random.Random]:
    class Random(random.Random):
        """`random.Random`; without an argument it is the program's own generator."""

        own: ClassVar[random.Random | None] = None

        def __new__(cls, *args: Any, **_: Any) -> Any:
            own = cls is Random and args in ((), (None,))
            return Random.own if own and Random.own is not None else super().__new__(cls)

        def __init__(self, x: Any = None) -> None:
            if Random.own is None:
                Random.own = self
            elif self is not Random.own:
                super().__init__(Random.own.getrandbits(64) if x is None else x)

        def __reduce__(self) -> Any:
            return Random, (0,), self.getstate()  # a copy is no longer the program's own

        def seed(self, a: Any = None, version: int = 2) -> None:
            super().seed(self.getrandbits(64) if a is None else a, version)

    _named(Random, "Random")
    return Random


def _text(base: Any) -> type:
    class Text(base):  # type: ignore[misc]
        """Gymnasium's text space; without a charset it holds any text, the empty one included."""

        def __new__(cls, *_: Any, charset: Any = None, **__: Any) -> Any:
            return object.__new__(AnyText if charset is None else cls)

    class AnyText(UnicodeText, Text):
        def __init__(self, max_length: int, *, charset: None = None, **options: Any) -> None:  # noqa: ARG002
            super().__init__(max_length, **options)

    _named(AnyText, "Text")
    return _named(Text, "Text")


class _ByValue(enum.EnumMeta):
    """Metaclass of a program's enums: a call looks a member up; it makes no class of a name and a mapping."""

    def __call__(cls, value: Any) -> Any:  # type: ignore[override]
        return super().__call__(value)


def _enums(_: Facades) -> dict[str, Any]:
    kinds = (enum.Enum, enum.Flag, enum.IntEnum, enum.IntFlag, enum.StrEnum)
    names = [(kind.__name__, kind) for kind in kinds]
    made = {name: _ByValue(name, (kind,), _ByValue.__prepare__(name, (kind,))) for name, kind in names}
    return {name: _named(kind, name) for name, kind in made.items()}


def _dataclass(cls: Any = None, /, **options: Any) -> Any:
    def decorate(cls: Any) -> Any:
        return dataclasses.dataclass(_own(cls), **options)

    return decorate if cls is None else decorate(cls)


def _total_ordering(cls: Any) -> Any:
    return functools.total_ordering(_own(cls))


def _own(cls: Any) -> Any:
    if not is_own(cls):
        raise TypeError("this decorator works on classes of your own")
    return cls


def _wraps(wrapped: Any, *_: Any, **__: Any) -> Callable[[Any], Any]:
    """`functools.wraps` for name and docstring; the original copies whole namespaces when told to."""

    def decorate(wrapper: Any) -> Any:
        if isinstance(wrapper, types.FunctionType) and wrapper.__module__ == PROGRAM:
            wrapper.__name__ = str(getattr(wrapped, "__name__", wrapper.__name__))
            wrapper.__doc__ = getattr(wrapped, "__doc__", None)
        return wrapper

    return decorate


def _abstractmethod(function: Any) -> Any:
    """`abc.abstractmethod` for functions of the design's own: the original marks whatever it is given."""
    if not (isinstance(function, types.FunctionType) and function.__module__ == PROGRAM):
        raise TypeError("abstractmethod marks functions of your own; write it below property or classmethod")
    return abc.abstractmethod(function)


def _namedtuple(typename: Any, field_names: Any, *, rename: bool = False, defaults: Any = None) -> Any:
    return collections.namedtuple(typename, field_names, rename=rename, defaults=defaults, module=PROGRAM)


_MADE: dict[str, Callable[[Facades], dict[str, Any]]] = {
    "__future__": lambda _: {"annotations": None},
    "abc": lambda _: {"abstractmethod": _abstractmethod},
    "collections": lambda _: {"namedtuple": _namedtuple},
    "dataclasses": lambda _: {"dataclass": _dataclass},
    "enum": _enums,
    "functools": lambda _: {"total_ordering": _total_ordering, "wraps": _wraps},
    "gymnasium": Facades._gymnasium,
    "gymnasium.spaces": Facades._spaces,
    "numpy": lambda _: {"ndarray": SEALED[np.ndarray], "ufunc": SEALED[np.ufunc]},
    "numpy.random": Facades._numpy_random,
    "random": Facades._random,
    "spade_envs": Facades._spade_envs,
}
