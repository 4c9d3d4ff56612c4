"""Which attribute names are harmless on every object that a design can hold.

Native attribute access rests on this argument: a name is read without a guard when it is on the allow-list
(:data:`SAFE`), or when no object of the host has it, so that only the design's own objects can. :data:`HOST`
is what the host's objects have, computed from the types below. What is in HOST and not in SAFE is *guarded*:
refused, unless the design itself defines the name. Then it is given another name, which only the design's own
objects have, or, where that cannot be, is checked at run time. A test walks everything that the facades reach
and fails on a type that is missing below.
"""

from __future__ import annotations

import abc
import builtins
import collections
import contextlib
import dataclasses
import decimal
import dis
import enum
import functools
import importlib
import re
import types
import typing
from collections.abc import Iterable
from typing import Any

import numpy as np
from RestrictedPython.transformer import INSPECT_ATTRIBUTES

from spade_envs.contract import ToolEnv, UnicodeText
from spade_envs.language.names import MODULES, words

SAFE = words("""
    append appendleft bit_count bit_length capitalize casefold center clear conjugate copy count decode
    denominator difference difference_update discard elements encode endswith expandtabs extend extendleft
    find from_bytes fromhex fromkeys get hex imag index indices insert intersection intersection_update
    is_integer as_integer_ratio isalnum isalpha isascii isdecimal isdigit isdisjoint isidentifier islower
    isnumeric isprintable isspace issubset issuperset istitle isupper items join keys ljust lower lstrip
    maketrans maxlen most_common move_to_end new_child numerator parents partition pop popitem popleft real
    remove removeprefix removesuffix replace reverse rfind rindex rjust rotate rpartition rsplit rstrip
    setdefault sort split splitlines start startswith step stop strip subtract swapcase symmetric_difference
    symmetric_difference_update title to_bytes total translate union update upper values zfill
    default_factory

    T all any argmax argmin argpartition argsort astype byteswap choose clip compress conj cumprod cumsum
    diagonal dot dtype fill flat flatten item itemsize kind mT max mean min nbytes ndim nonzero num prod ptp
    put ravel repeat reshape round searchsorted shape size squeeze std str sum swapaxes take tobytes tolist
    trace transpose type var view accumulate at nargs nin nout outer reduce reduceat resolution tiny name
    names

    beta binomial bytes chisquare choice dirichlet exponential f gamma geometric get_state gumbel
    hypergeometric integers laplace logistic lognormal logseries multinomial multivariate_normal
    negative_binomial normal pareto permutation permuted poisson power rand randint randn random
    random_sample rayleigh seed shuffle spawn standard_cauchy standard_exponential standard_gamma
    standard_normal standard_t triangular uniform vonmises wald weibull zipf betavariate choices
    expovariate gammavariate gauss getrandbits getstate lognormvariate normalvariate paretovariate randbytes
    randrange sample setstate vonmisesvariate weibullvariate

    end endpos expand findall finditer fullmatch group groupdict groupindex groups lastgroup lastindex match
    pattern pos regs search span string sub subn msg lineno from_decimal from_float limit_denominator
    adjusted as_tuple canonical compare compare_total copy_abs copy_negate copy_sign exp fma is_finite
    is_infinite is_nan is_normal is_signed is_zero ln log10 logb logical_and logical_invert logical_or
    logical_xor normalize next_minus next_plus prec quantize radix remainder_near rounding same_quantum
    scaleb shift sqrt to_eng_string to_integral to_integral_exact to_integral_value create_decimal divide
    divmod multiply add abs minus plus remainder

    combine ctime date day days dst fold fromisocalendar fromisoformat fromordinal hour isocalendar
    isoformat isoweekday microsecond microseconds minute month second seconds strftime strptime time
    timetuple timetz toordinal total_seconds tzinfo tzname utc utcoffset weekday year

    close metadata np_random np_random_seed render render_mode reset spec unwrapped contains is_bounded
    characters character_set character_list character_index is_np_flattenable next_instruction

    value send throw args add_note errno strerror filename reason object setter getter deleter fget fset
    fdel func keywords cache_clear cache_info cache_parameters base cast char coords default device encoding
    fields finished flags from_iterable hash identity init kw_only kwargs mapping message offset path re
    readonly release repr signature state text types _add _all _apply _asdict _fields _make _replace _call
    _denominator _div _init _mod _mu _mul _name _np_random _np_random_seed _numerator _sigma _sub
    enter_context push callback pop_all median mode stdev variance samples cdf inv_cdf pdf overlap quantiles
    zscore

    A ASCII DEBUG DOTALL I IGNORECASE L LOCALE M MULTILINE NOFLAG S TEMPLATE U UNICODE VERBOSE X code tools
    _hash _mapping _over _under
""")
"""Names that may be read on any object."""


def _classes(module: Any, names: Iterable[str]) -> set[type]:
    members = (getattr(module, name) for name in names)
    return {member for member in members if isinstance(member, type)}


def _exported() -> frozenset[type]:
    originals = {name: importlib.import_module(name) for name in MODULES if name != "spade_envs"}
    return frozenset().union(*(_classes(module, MODULES[name]) for name, module in originals.items()))


EXPORTED = _exported()
"""The classes among the members of the modules that a design may import."""

_VIEWS: tuple[Any, ...] = (
    {}.keys(),
    {}.values(),
    {}.items(),
    iter([]),
    iter({}),
    iter(""),
    iter(()),
    NotImplemented,
)
_FORMS = (typing.Any, typing.List, typing.List[int], typing.Union, typing.NewType)  # noqa: UP006
HOST_TYPES = EXPORTED.union(
    _classes(builtins, vars(builtins)),
    _classes(types, vars(types)),
    map(type, (*_VIEWS, *_FORMS)),
    # what functions return
    (collections.namedtuple("Row", ""), type(functools.cache(len)), re.Pattern, re.Match, dataclasses.Field),
    (type(contextlib.contextmanager(lambda: iter(()))()), type(decimal.localcontext()), typing.ForwardRef),
    (np.flatiter, np.nditer, type(np.zeros(1).flags), type(np.mean), np.random.BitGenerator),
    (ToolEnv, UnicodeText),
    # what classes are made by
    (abc.ABCMeta, enum.EnumMeta, type(np.dtype), type(typing.Protocol)),
)
"""The types of the host whose objects a design may come to hold, and those that must not let it further."""


def names_of(kind: type) -> set[str]:
    """Return the names that a type's objects have by their classes, without double-underscore names."""
    found = {name for base in kind.__mro__ for name in vars(base)}
    return {name for name in found if not is_dunder(name)}


def is_dunder(name: str) -> bool:
    """Say whether a name has the form of Python's own, ``__name__``."""
    return name.startswith("__") and name.endswith("__")


def _stored_by(code: types.CodeType) -> set[str]:
    """Return the names of attributes that a function's code stores, those of functions within it included."""
    stored = {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_ATTR"}
    inner = (part for part in code.co_consts if isinstance(part, types.CodeType))
    return stored.union(*map(_stored_by, inner))


def _instance_names(kind: type) -> set[str]:
    """Return the names of attributes that a type's methods store on its instances."""
    functions = (member for base in kind.__mro__ for member in vars(base).values())
    return set().union(*(_stored_by(f.__code__) for f in functions if isinstance(f, types.FunctionType)))


HOST = frozenset().union(*map(names_of, HOST_TYPES))
"""Names that the host's objects have."""

HELD = HOST.union(*map(_instance_names, HOST_TYPES))
"""Names that are not stored without a guard: the host's objects have them, by their classes or of their own."""

READABLE = frozenset({"__name__", "__doc__"})
"""The only names of Python's own form that may be read."""

FORMAT = frozenset({"format", "format_map"})
"""Methods of text that read attributes by a template; the guard gives a safe form of them."""

NEVER = INSPECT_ATTRIBUTES
"""Names of frames, code objects and tracebacks: refused even where a design defines them itself."""

GUARDED = (HOST - SAFE) | FORMAT | NEVER
"""Names that are not read without a guard."""


def own_name(name: str) -> str:
    """Return what a guarded name becomes where only the design's own statements store it.

    No object of the host has such a name, and no source can write it, so it needs no guard.
    """
    return f"{name}$"
