"""How refusals are worded: what stands there, and what to write instead."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from spade_envs.contract import near_matches
from spade_envs.language.names import BUILTINS, MODULES


class Refusal(NamedTuple):
    """A refusal before its place is known; the rule without its prefix ``language.``."""

    rule: str
    found: str
    remedy: str


_NO_CODE = "Write the logic itself; programs that an agent wrote run through spade_envs.run_program."
_NO_FILE = "Keep data in the source: an environment has no files and no console."
_NO_LOOK = "Name the attributes that you mean, or keep them in a dictionary of your own."
_NO_STOP = "End the episode: return terminated=True from step()."
_NO_CLOCK = "Count steps: an environment has no clock, or a seed would not repeat its episode."
_NO_SYSTEM = "Leave it out: an environment reaches neither the system nor the network."
_BY_HAND = "Write it with NumPy or plain Python."

REFUSED_BUILTINS = {
    **dict.fromkeys(("eval", "exec", "compile", "breakpoint"), _NO_CODE),
    **dict.fromkeys(("open", "input", "help", "copyright", "credits", "license"), _NO_FILE),
    **dict.fromkeys(("globals", "locals", "vars", "dir", "memoryview"), _NO_LOOK),
    **dict.fromkeys(("exit", "quit", "SystemExit", "KeyboardInterrupt", "GeneratorExit"), _NO_STOP),
    **dict.fromkeys(("BaseExceptionGroup", "ExceptionGroup"), "Raise and catch single exceptions."),
    **dict.fromkeys(("aiter", "anext"), "Write ordinary functions: nothing runs beside an environment."),
    "id": "Number the objects yourself: an address differs from run to run.",
    "delattr": "Write `del object.name`.",
}
"""Builtins that a design cannot have, with what to write instead."""

_MODULES = {
    **dict.fromkeys(("time", "calendar", "sched", "zoneinfo"), _NO_CLOCK),
    **dict.fromkeys(("os", "sys", "subprocess", "socket", "shutil", "pathlib", "io", "tempfile"), _NO_SYSTEM),
    **dict.fromkeys(
        ("urllib", "http", "requests", "signal", "gc", "weakref", "atexit", "ctypes"), _NO_SYSTEM
    ),
    **dict.fromkeys(("importlib", "builtins", "pickle", "marshal", "code"), _NO_CODE),
    **dict.fromkeys(("inspect", "types", "ast", "dis", "traceback"), _NO_LOOK),
    **dict.fromkeys(("asyncio", "threading", "multiprocessing", "concurrent"), "Write ordinary functions."),
    **dict.fromkeys(("scipy", "pandas", "sympy", "networkx", "torch", "sklearn", "matplotlib"), _BY_HAND),
    **dict.fromkeys(("logging", "warnings"), "Use print(): it goes to the worker's log."),
    **dict.fromkeys(("secrets", "uuid"), "Draw from self.np_random."),
    "gym": "Write `import gymnasium as gym`.",
    "typing_extensions": "Import it from typing.",
}
_MEMBERS = {
    "numpy.random.seed": "Draw from self.np_random, or write `rng = np.random.default_rng(seed)`.",
    "random.SystemRandom": "Draw from self.np_random, which the seed repeats.",
    "abc.ABCMeta": "Derive from abc.ABC.",
    "gymnasium.make": "Write this environment's own logic: it cannot make others.",
    "gymnasium.register": "Leave it out: admission registers the environment.",
    "json.load": "Use json.loads: there are no files.",
    "json.dump": "Use json.dumps: there are no files.",
}
_ATTRIBUTES = {
    **dict.fromkeys(("now", "today", "utcnow"), _NO_CLOCK),
    "__class__": "Write type(object).",
    "__dict__": "Name the attributes that you mean, or use a dataclass and asdict().",
    "__init__": "Write super().__init__().",
}


def dunder(name: str) -> Refusal:
    """Refuse a name of the form ``__name__``."""
    remedy = "Choose another name; the contract lists the methods of this form that a class may define."
    return Refusal("dunder", f"The name `{_shown(name)}` belongs to Python.", remedy)


def special_attribute(name: str) -> Refusal:
    """Refuse an attribute of the form ``__name__``."""
    other = "Use Python's own syntax or builtins instead; `__name__` and `__doc__` may be read."
    found = f"The attribute `{_shown(name)}` belongs to Python."
    return Refusal("dunder", found, _ATTRIBUTES.get(name, other))


def attribute(name: str) -> Refusal:
    """Refuse an attribute that leads from the host's objects to more than a design may reach."""
    found = f"The attribute `{_shown(name)}` is not to be had here."
    return Refusal("attribute", found, _ATTRIBUTES.get(name, "Leave it out."))


def unknown(name: str, bound: Iterable[str]) -> Refusal:
    """Refuse a name that nothing defines."""
    if name in REFUSED_BUILTINS:
        return Refusal("builtin", f"`{name}` is not to be had here.", REFUSED_BUILTINS[name])
    homes = sorted(module for module in MODULES if name in MODULES[module])
    alike = [other for other in (*bound, *BUILTINS) if other[:1] == name[:1]]
    near = near_matches(name[:80], alike[:200])
    if name in MODULES:
        remedy = f"Write `import {name}` first."
    elif homes:
        remedy = f"Write `from {homes[0]} import {name}` first."
    else:
        remedy = f"Did you mean `{near[0]}`?" if near else "Define it first."
    return Refusal("name", f"Nothing defines `{_shown(name)}`.", remedy)


def module(name: str) -> Refusal:
    """Refuse the import of a module."""
    near = near_matches(name[:80], MODULES)
    other = f"Did you mean `{near[0]}`?" if near else f"Leave it out. There are {', '.join(sorted(MODULES))}."
    remedy = _MODULES.get(name.lstrip(".").partition(".")[0], other)
    return Refusal("import", f"`{_shown(name)}` cannot be imported.", remedy)


def member(home: str, name: str) -> Refusal:
    """Refuse a member that a module's facade does not have."""
    near = near_matches(name[:80], MODULES[home])
    other = f"Did you mean `{near[0]}`?" if near else "Write it yourself, or do without."
    remedy = _MEMBERS.get(f"{home}.{name}", other)
    return Refusal("import", f"`{home}` has no `{_shown(name)}` here.", remedy)


def replaced(name: str) -> Refusal:
    """Refuse the replacing of a builtin at the module's top level."""
    return Refusal("builtin", f"This replaces the builtin `{name}`.", "Choose another name.")


def foreign_write(path: str) -> Refusal:
    """Refuse a write into what was imported."""
    found = f"This writes into `{_shown(path)}`, which was imported."
    return Refusal("foreign-write", found, "Keep your own state on self.")


def construct(name: str) -> Refusal:
    """Refuse a node of the syntax tree that the policy does not know."""
    if name.startswith(("Async", "Await")):
        return Refusal("async", "This is asynchronous.", "Write ordinary functions and loops.")
    return Refusal("construct", f"`{name}` is not part of the language.", "Write it in plainer Python.")


RAW_MEMORY = Refusal(
    "construct",
    "This builds an object on raw memory.",
    "Write np.zeros(shape), np.array(values) or np.random.default_rng(seed).",
)
CLOCK_TYPE = Refusal(
    "clock", "NumPy's type of dates reads the clock.", "Count days as whole numbers, or use datetime.date."
)
MAKES_CLASS = Refusal("type", "`type` with more than one argument makes a class.", "Write a class statement.")
METACLASS = Refusal(
    "metaclass",
    "This gives a class another metaclass.",
    "Leave it out; for abstract classes derive from abc.ABC.",
)
FINALLY = Refusal(
    "limit", "This `finally` would be copied too often.", "Shorten it, and nest no other `finally` in it."
)
EXCEPT_STAR = Refusal("construct", "`except*` handles exception groups.", "Write `except`.")
STAR_IMPORT = Refusal("import", "`import *` hides what it imports.", "Name each member that you use.")
TOO_DEEP = Refusal(
    "limit", "Statements and expressions are nested too deep here.", "Split them: name the inner parts."
)


def _shown(name: str) -> str:
    return name if len(name) <= 60 else name[:57] + "..."
