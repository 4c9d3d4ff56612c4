"""One instance of a design, as its worker holds it."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import CodeType
from typing import Any

import gymnasium

from spade_envs.language import Program

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


def build(code: CodeType, class_name: str, arguments: dict[str, Any]) -> Instance:
    """Build an instance in a namespace of its own, with ``render_mode="ansi"`` where the constructor takes that."""
    run = contextvars.Context().run
    program, environment = run(_built, code, class_name, arguments)
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


def _built(code: CodeType, class_name: str, arguments: dict[str, Any]) -> tuple[Program, Any]:
    program = Program(code, class_name)
    try:
        return program, program.environment_class(render_mode="ansi", **arguments)
    except TypeError as error:
        if "'render_mode'" not in str(error):
            raise
    program = Program(code, class_name)  # the constructor may have drawn numbers
    return program, program.environment_class(**arguments)
