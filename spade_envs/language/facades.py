"""The modules as a design sees them: new for each program, and holding only what reaches nowhere else.

A facade is a plain module whose members stand in :data:`~spade_envs.language.names.MODULES`. Most are the
originals; replaced here are those that draw numbers (they use this program's generators), those that would build
on raw memory, and those that would change something outside the program.
"""

from __future__ import annotations

import abc
import collections
import dataclasses
import decimal
import enum
import functools
import importlib
import random
import types
from collections.abc import Callable
from typing import Any

import _strptime  # noqa: F401  (datetime.strptime imports it while a design runs: load it before)
import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.utils import seeding

from spade_envs.contract import ToolEnv, UnicodeText
from spade_envs.language.guards import is_own
from spade_envs.language.names import MODULES, NUMPY_RANDOM_METHODS, PROGRAM, RANDOM_METHODS

FIRST_SEED = 0
"""What the generators are seeded with before the constructor."""


class Facades:
    """The modules of one program, made when they are first asked for, and its generators.

    Args:
        run_program: what designs import under that name.
    """

    def __init__(self, run_program: Callable[..., dict[str, Any]]) -> None:
        self._run_program = run_program
        self._modules: dict[str, types.ModuleType] = {}
        self._random = random.Random(FIRST_SEED)
        self._numpy = np.random.RandomState(FIRST_SEED)
        self._generator = np.random.default_rng(FIRST_SEED)

    def seed(self, seed: int) -> None:
        """Seed the generators that the program has as `random` and `numpy.random`."""
        self._random.seed(seed)
        self._numpy.seed(np.random.SeedSequence(seed).generate_state(4))
        self._generator = np.random.default_rng(seed)

    def get(self, path: str) -> Any:
        """Return a module's facade, or a member of one (`"numpy.random"`, `"collections.deque"`)."""
        if path in MODULES:
            if path not in self._modules:
                self._modules[path] = self._build(path)
            return self._modules[path]
        module, _, member = path.rpartition(".")
        return getattr(self.get(module), member)

    def draw(self) -> int:
        """Draw a seed of 63 bits from the program's own generator."""
        return int(self._generator.integers(2**63))

    def _build(self, name: str) -> types.ModuleType:
        replaced = _REPLACED[name](self) if name in _REPLACED else {}
        facade = types.ModuleType(name)
        original = None if name == "spade_envs" else importlib.import_module(name)
        for member in MODULES[name]:
            if f"{name}.{member}" in MODULES:
                value: Any = self.get(f"{name}.{member}")
            elif member in replaced:
                value = replaced[member]
            elif hasattr(original, member):
                value = getattr(original, member)
            else:
                continue  # of a newer Python or NumPy
            setattr(facade, member, value)
        return facade

    # One method for each module that has replaced members

    def _spade_envs(self) -> dict[str, Any]:
        return {"ToolEnv": self._environment(ToolEnv), "run_program": self._run_program}

    def _gymnasium(self) -> dict[str, Any]:
        return {"Env": self._environment(gymnasium.Env), "Space": spaces.Space}

    def _environment(self, base: Any) -> type:
        class Environment(base):  # type: ignore[misc]
            """Gymnasium's class, whose generator comes from the program's own until it is seeded."""

            metadata = {"render_modes": []}

            def __class_getitem__(cls, _: Any) -> type:
                return cls

            np_random = _own_generator(self.draw, base)
            np_random_seed = _own_seed(base)

        return _named(Environment, base.__name__)

    def _spaces(self) -> dict[str, Any]:
        kinds = (
            spaces.Box,
            spaces.Dict,
            spaces.Discrete,
            spaces.MultiBinary,
            spaces.MultiDiscrete,
            spaces.Tuple,
        )
        made = {kind.__name__: self._space(kind) for kind in (*kinds, spaces.Text)}
        return {**made, "Text": _open_text(made["Text"]), "Space": spaces.Space}

    def _space(self, base: Any) -> type:
        draw = self.draw

        class Space(base):  # type: ignore[misc]
            """Gymnasium's class, whose generator comes from the program's own until it is seeded."""

            np_random = _own_generator(draw, base)
            np_random_seed = _own_seed(base)

            def seed(self, seed: Any = None) -> Any:
                return super().seed(draw() if seed is None else seed)

        return _named(Space, base.__name__)

    def _random_module(self) -> dict[str, Any]:
        own = self._random

        class Random(random.Random):
            """`random.Random`; without an argument it draws its seed from the program's own generator."""

            def __init__(self, x: Any = None) -> None:
                super().__init__(own.getrandbits(64) if x is None else x)

            def seed(self, a: Any = None, version: int = 2) -> None:
                super().seed(own.getrandbits(64) if a is None else a, version)

        def seed(a: Any = None, version: int = 2) -> None:
            own.seed(own.getrandbits(64) if a is None else a, version)

        methods = {name: getattr(own, name) for name in RANDOM_METHODS if hasattr(own, name)}
        return {**methods, "seed": seed, "Random": Random}

    def _numpy_random(self) -> dict[str, Any]:
        def default_rng(seed: Any = None) -> np.random.Generator:
            return np.random.default_rng(self.draw() if seed is None else seed)

        def random_state(seed: Any = None) -> np.random.RandomState:
            return np.random.RandomState(self.draw() % 2**32 if seed is None else seed)

        methods = {name: getattr(self._numpy, name) for name in NUMPY_RANDOM_METHODS}
        kinds = {"Generator": SEALED[np.random.Generator], "RandomState": random_state}
        return {**methods, **kinds, "default_rng": default_rng}

    def _enum(self) -> dict[str, Any]:
        def make(base: type) -> type:
            return _ByValue(base.__name__, (base,), _ByValue.__prepare__(base.__name__, (base,)))

        return {
            kind.__name__: make(kind)
            for kind in (enum.Enum, enum.Flag, enum.IntEnum, enum.IntFlag, enum.StrEnum)
        }


def _own_generator(draw: Callable[[], int], base: Any) -> property:
    def get(self: Any) -> np.random.Generator:
        if self._np_random is None:
            self._np_random, self._np_random_seed = seeding.np_random(draw())
        generator: np.random.Generator = self._np_random
        return generator

    return property(get, base.np_random.fset)


def _own_seed(base: Any) -> property:
    def get(self: Any) -> Any:
        self.np_random  # noqa: B018  (makes generator and seed where there is none)
        return base.np_random_seed.fget(self)

    return property(get)


def _named(kind: type, name: str, module: str = "gymnasium") -> type:
    kind.__name__ = kind.__qualname__ = name
    kind.__module__ = module
    return kind


def _open_text(text: Any) -> type:
    """Return the text space that holds any Unicode text unless it is given a charset."""

    class Text(text):  # type: ignore[misc]
        """Gymnasium's class; without a charset it holds any text, the empty one included."""

        def __new__(cls, *_: Any, charset: Any = None, **__: Any) -> Any:
            return object.__new__(OpenText if charset is None else cls)

        def __init__(self, max_length: int, *, min_length: int = 0, charset: Any, seed: Any = None) -> None:
            super().__init__(max_length, min_length=min_length, charset=charset, seed=seed)

    class OpenText(UnicodeText, Text):
        def __init__(
            self, max_length: int, *, min_length: int = 0, charset: None = None, seed: Any = None
        ) -> None:
            super().__init__(max_length, min_length=min_length, seed=seed)

    return _named(Text, "Text")


class _ByValue(enum.EnumMeta):
    """Metaclass of a program's enums: calling one looks a member up; it makes no class from a name and a mapping."""

    def __call__(cls, value: Any) -> Any:  # type: ignore[override]
        return super().__call__(value)


class _Sealed(type):
    """Metaclass of a class that stands for another: for `isinstance` and `is`, not to be called or derived from."""

    stands_for: type

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, cls.stands_for)

    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise TypeError(f"{cls.__name__} is not to be called here")


def _sealed(kind: type, call: Callable[..., Any] | None = None) -> type:
    def refuse(cls: type, **_: Any) -> None:
        raise TypeError(f"{kind.__name__} cannot be derived from here")

    meta = (
        _Sealed
        if call is None
        else type("_Sealed", (_Sealed,), {"__call__": lambda _, *values: call(*values)})
    )
    made = meta(kind.__name__, (), {"__init_subclass__": classmethod(refuse), "__module__": kind.__module__})
    made.stands_for = kind  # type: ignore[attr-defined]
    return made


SEALED: dict[type, type] = {kind: _sealed(kind) for kind in (np.ndarray, np.ufunc, np.random.Generator)}
_GIVEN = frozenset({int, float, complex, bool, str, bytes, list, dict, tuple, set, frozenset, range, slice})
_GIVEN |= {
    type(None),
    collections.deque,
    collections.Counter,
    collections.OrderedDict,
    collections.defaultdict,
}


def type_of(*values: Any) -> type:
    """Return a value's type, where its constructor is harmless; for arrays and generators, what stands for it.

    Raises:
        TypeError: more than one value, or the type of this value is not to be had.
    """
    (value,) = values
    kind = type(value)
    if kind in SEALED:
        return SEALED[kind]
    if kind is type or kind is abc.ABCMeta:
        return TYPE
    harmless = kind in _GIVEN or (is_own(value) and not issubclass(kind, type))
    if harmless or issubclass(kind, (BaseException, np.generic)) or kind.__module__ in MODULES:
        return kind
    raise TypeError(f"the type of a {kind.__name__} is not to be had here")


TYPE = _sealed(type, type_of)
"""What a program has as `type`."""


def _dataclass(cls: Any = None, /, **options: Any) -> Any:
    def make(cls: Any) -> Any:
        return dataclasses.dataclass(_owned(cls), **options)

    return make if cls is None else make(cls)


def _total_ordering(cls: Any) -> Any:
    return functools.total_ordering(_owned(cls))


def _owned(cls: Any) -> Any:
    if not is_own(cls):
        raise TypeError("this decorator works on classes of your own")
    return cls


def _wraps(wrapped: Any, *_: Any, **__: Any) -> Callable[[Any], Any]:
    """`functools.wraps` for names and docstrings; the original can copy whole namespaces."""

    def decorate(wrapper: Any) -> Any:
        if isinstance(wrapper, types.FunctionType):
            wrapper.__name__ = str(getattr(wrapped, "__name__", wrapper.__name__))
            wrapper.__doc__ = getattr(wrapped, "__doc__", None)
        return wrapper

    return decorate


def _namedtuple(typename: Any, field_names: Any, *, rename: bool = False, defaults: Any = None) -> Any:
    return collections.namedtuple(typename, field_names, rename=rename, defaults=defaults, module=PROGRAM)


_REPLACED: dict[str, Callable[[Facades], dict[str, Any]]] = {
    "collections": lambda _: {"namedtuple": _namedtuple},
    "dataclasses": lambda _: {"dataclass": _dataclass},
    "enum": Facades._enum,
    "functools": lambda _: {"total_ordering": _total_ordering, "wraps": _wraps},
    "gymnasium": Facades._gymnasium,
    "gymnasium.spaces": Facades._spaces,
    "numpy": lambda _: {"ndarray": SEALED[np.ndarray], "ufunc": SEALED[np.ufunc]},
    "numpy.random": Facades._numpy_random,
    "random": Facades._random_module,
    "spade_envs": Facades._spade_envs,
}
