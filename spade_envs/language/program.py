"""A compiled design, running: one namespace with modules, generators and a log of its own."""

from __future__ import annotations

import builtins
import contextvars
import dataclasses
import decimal
import functools
import io
import json
import sys
import types
import typing
from typing import Any

from spade_envs.contract import Rejection
from spade_envs.language import rewriting
from spade_envs.language.bases import build_class
from spade_envs.language.compiler import CompiledSource, compile_program
from spade_envs.language.facades import Facades
from spade_envs.language.guards import check_own, check_store, get_attribute, has_attribute, set_attribute
from spade_envs.language.names import BUILTINS, FILENAME, PROGRAM
from spade_envs.language.sealed import TYPE
from spade_envs.language.stopwatch import ProgramTimeoutError, cpu_limit

PROGRAM_SECONDS = 0.25
"""CPU time of one run of an agent's program: well within the deadline of the step that asks for it."""
PRINTED_LIMIT = 64 * 1024
"""The most characters that are kept of what a program prints."""


_COMPUTED = frozenset({"getattr", "hasattr", "format", "format_map"})


class Program:
    """One execution of a compiled design.

    Args:
        code: what :func:`~spade_envs.language.compiler.compile_source` made.
        class_name: the environment class; None for a program that is no environment.
    """

    def __init__(self, code: types.CodeType, class_name: str | None = None) -> None:
        self._facades = Facades(run_program, _may_draw(code))
        self._log = io.StringIO()
        self._room = PRINTED_LIMIT
        self.namespace: dict[str, Any] = {
            "__builtins__": self._builtins(),
            "__name__": PROGRAM,
            "__doc__": None,
        }
        exec(code, self.namespace)
        if class_name is not None:
            self.environment_class: type = self.namespace[class_name]

    def seed(self, seed: int | None) -> None:
        """Seed what the program has as `random` and `numpy.random`. With None they go on as they are."""
        if seed is not None:
            self._facades.seed(seed)

    @property
    def has_drawn(self) -> bool:
        """Whether the program has got hold of a generator of its own, which is not the one of an episode."""
        return self._facades.has_drawn

    def printed(self) -> str:
        """Return what the program printed, up to :data:`PRINTED_LIMIT` characters."""
        return self._log.getvalue()

    def _print(self, *values: Any, sep: str | None = None, end: str | None = None, **_: Any) -> None:
        """`print` to the program's log; `file` and `flush` mean nothing here."""
        line = str.join(" " if sep is None else sep, map(str, values))
        text = "".join((line, "\n" if end is None else end))[: self._room]
        self._room -= len(text)
        self._log.write(text)

    def _builtins(self) -> dict[str, Any]:
        own = {
            "BaseException": Exception,  # what stops a worker is not to be caught
            "getattr": get_attribute,
            "hasattr": has_attribute,
            "print": self._print,
            "setattr": set_attribute,
            "type": TYPE,
            "__build_class__": build_class,
            "__import__": _loaded_module,
            rewriting.OWN: check_own,
            rewriting.STORE: check_store,
            rewriting.ATTRIBUTE: get_attribute,
            rewriting.IMPORT: self._facades.get,
            rewriting.EXCEPTION: Exception,
            rewriting.ANY: typing.Any,
            rewriting.CLASS_VAR: typing.ClassVar,
            rewriting.INIT_VAR: dataclasses.InitVar,
            rewriting.KW_ONLY: dataclasses.KW_ONLY,
        }
        return {name: getattr(builtins, name) for name in BUILTINS} | own


@functools.lru_cache(maxsize=64)
def _may_draw(code: types.CodeType) -> bool:
    """Say whether code may come upon a module named `random`: by that name, or by one that it puts together."""
    words = [*code.co_names, *map(str, code.co_consts)]
    if any("random" in word.replace("np_random", "") or word in _COMPUTED for word in words):
        return True
    return any(_may_draw(part) for part in code.co_consts if isinstance(part, types.CodeType))


def load(compiled: CompiledSource) -> Program:
    """Run a design's module in a new namespace. Call this in a worker, or for code that you trust.

    Raises:
        Exception: whatever the design's own code raises.
    """
    return Program(compiled.code, compiled.class_name)


def run_program(source: str, function: str, arguments: Any = ()) -> dict[str, Any]:
    """Run one function of a program that an agent wrote, under the same policy, in a namespace of its own.

    Args:
        source: the program's text, without a header.
        function: the name of the function to call.
        arguments: a list of positional arguments or a dictionary of named ones; it is copied as JSON.

    Returns:
        ``{"result": ...}``, copied as JSON, or ``{"error": "..."}``, which says what was wrong and where.
    """
    try:
        # The contexts keep NumPy's and decimal's settings as they are.
        with cpu_limit(PROGRAM_SECONDS), decimal.localcontext():
            code = compile_program(str(source))
            if isinstance(code, Rejection):
                return {"error": code.text("program")}
            return contextvars.copy_context().run(_call, code, function, json.dumps(arguments))
    except ProgramTimeoutError:
        return {"error": f"The program used up its {PROGRAM_SECONDS:g} s of CPU time."}
    except Exception as error:
        return {"error": describe(error)}


def _call(code: types.CodeType, function: str, arguments: str) -> dict[str, Any]:
    target = Program(code).namespace.get(function)
    if not isinstance(target, types.FunctionType):
        return {"error": f"The program defines no function `{function}`."}
    given = json.loads(arguments)
    result = target(**given) if isinstance(given, dict) else target(*given)
    return {"result": json.loads(json.dumps(result))}


def describe(error: BaseException) -> str:
    """Return an exception as one line of text, with the line of the design where it was raised."""
    line, traceback = None, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == FILENAME:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    try:
        message = "".join((str(error), ""))[:500]  # joined, for the design's own kind of text
    except Exception:
        message = "(its text cannot be made)"
    return f"{type(error).__name__}: {message}" + ("" if line is None else f" (line {line})")


def _loaded_module(name: str, *_: Any, **__: Any) -> types.ModuleType:
    """Serve imports that compiled code of NumPy and the standard library makes while a design runs.

    A design's own import statements never come here: the policy turned them into lookups of facades.
    """
    if name in sys.modules:
        return sys.modules[name]
    raise ImportError(f"{name!r} is not loaded")
