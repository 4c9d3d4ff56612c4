"""One instance of a design, as its worker holds it."""

from __future__ import annotations

import contextvars
import marshal
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import gymnasium

from spade_envs.language import FIRST_SEED, Program, Uses, may_share

STEP_RULE = "step() must return (observation, reward, terminated, truncated, info)"


class ContractError(Exception):
    """The design did something that the contract does not allow."""


@dataclass(frozen=True, slots=True)
class Instance:
    """An environment with its program.

    Attributes:
        program: the namespace that it lives in.
        environment: what the design's class made.
        run: calls a function within a context of the instance's own: NumPy's and decimal's settings are its own.
        has_render: whether the class defines ``render``.
    """

    program: Program
    environment: Any
    run: Callable[..., Any]
    has_render: bool

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> tuple[Any, Any]:
        """Begin an episode; returns observation and info."""
        if seed is not None:
            self.program.seed(seed)
        result = self.run(partial(self.environment.reset, seed=seed, options=options))
        observation, info = parts(result, 2, "reset() must return (observation, info)")
        return observation, info

    def step(self, action: Any) -> tuple[Any, ...]:
        """Take a step."""
        result = self.run(self.environment.step, action)
        return parts(result, 5, STEP_RULE)

    def call(self, name: str) -> Any:
        """Return what a method returns."""
        return self.view() if name == "render" else self.run(getattr(self.environment, name))

    def view(self) -> str | None:
        """Return what the instance renders, None where it renders nothing."""
        if not self.has_render:
            return None
        text = self.run(self.environment.render)
        if text is None or type(text) is str:
            return text
        if isinstance(text, str):
            return str.__str__(text)
        raise ContractError(f"it must return text, found {type(text).__name__[:60]}")


class Maker:
    """Makes instances of one design.

    Args:
        compiled: class name, code and uses (:class:`~spade_envs.language.Uses`) of the design, marshalled.

    Attributes:
        class_name: name of the environment's class.
    """

    def __init__(self, compiled: bytes) -> None:
        self._compiled = compiled
        self.class_name, _, uses = marshal.loads(compiled)
        self._uses = None if uses is None else Uses(*uses)
        self._shared: Program | None = None

    def alone(self, arguments: dict[str, Any]) -> Instance:
        """Make an instance in a namespace of its own, with ``render_mode="ansi"`` where the constructor takes that."""
        run = contextvars.Context().run
        return self._instance(run, *run(self._built, self._program, arguments))

    def together(self, arguments: dict[str, Any]) -> Instance:
        """Make an instance, in the namespace of those before it where nothing in it can ever change."""
        program = self._shared
        if program is None:
            instance = self.alone(arguments)
            if self._uses is not None and may_share(instance.program.namespace, self._uses):
                self._shared = instance.program
        else:
            run = contextvars.Context().run
            instance = self._instance(run, *run(self._built, lambda: program, arguments))
        if instance.program.has_drawn:  # the next constructor would draw other numbers than this one did
            self._shared, self._uses = None, None
        return instance

    def _program(self) -> Program:
        # Read anew for each namespace: Python keeps in the code what it has learnt of names and types, and what it
        # learns of one namespace and its classes is wrong for all others.
        _, code, _ = marshal.loads(self._compiled)
        return Program(code, self.class_name)

    def _built(self, program_of: Callable[[], Program], arguments: dict[str, Any]) -> tuple[Program, Any]:
        program = program_of()
        program.seed(FIRST_SEED)
        try:
            return program, program.environment_class(render_mode="ansi", **arguments)
        except TypeError as error:
            if "'render_mode'" not in str(error):
                raise
        program = program_of()  # the constructor may have drawn numbers
        return program, program.environment_class(**arguments)

    def _instance(self, run: Callable[..., Any], program: Program, environment: Any) -> Instance:
        return Instance(program, environment, run, has_render(type(environment)))


def has_render(kind: type) -> bool:
    """Say whether a class has a ``render`` of its own."""
    return getattr(kind, "render", None) is not gymnasium.Env.render


def parts(result: Any, count: int, rule: str) -> tuple[Any, ...]:
    """Return a result that must be a tuple of so many."""
    if not isinstance(result, tuple) or len(result) != count:
        found = f"{len(result)} values" if isinstance(result, tuple) else type(result).__name__[:60]
        raise ContractError(f"{rule}, found {found}")
    return tuple(result)
