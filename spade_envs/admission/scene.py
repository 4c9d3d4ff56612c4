"""What a policy sees and what it may do: single actions, scripts of them, or the expert's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spade_envs.admission.bench import Bench
from spade_envs.admission.evidence import Level, Restart
from spade_envs.isolation import Turn


@dataclass(frozen=True, slots=True)
class Script:
    """Actions that a policy knows ahead: they are played in one exchange, up to the episode's end."""

    actions: Sequence[Any]


@dataclass(frozen=True, slots=True)
class Follow:
    """The expert's actions, so many, played like a script."""

    steps: int


class Scene:
    """What a policy may look at while it plays."""

    def __init__(self, bench: Bench, level: Level, seed: int, rng: np.random.Generator) -> None:
        self._worker = bench.worker
        self.instance = bench.instance(level)
        self.seed, self.rng = seed, rng
        self.observation: Any = None
        self.info: dict[str, Any] = {}
        self.over = False
        self.restarts = False  # whether the policy goes on after the end, with an unseeded reset
        self.breaches: list[tuple[str, str]] = []
        self.trying: tuple[Any, ...] = ()  # the action that is being played, should it be the last

    def ask(self, call: str, *arguments: Any, **options: Any) -> Any:
        """Call one of the design's methods in its worker."""
        return getattr(self._worker, call)(self.instance.index, *arguments, **options)

    def turns(self, move: Any, *, singly: bool, watch: bool) -> Iterator[Turn]:
        """Play a policy's move and yield what comes of each step; a move that is no script is one action."""
        if isinstance(move, (Script, Follow)) and not singly:
            moves = move.steps if isinstance(move, Follow) else move.actions
            yield from self.ask("advance", moves, watch=watch)
            return
        steps: Iterable[Any] = [move]
        if isinstance(move, Follow):
            steps = (self.ask("expert_action") for _ in range(move.steps))
        elif isinstance(move, Script):
            steps = move.actions
        for action in steps:
            self.trying = (action,)
            turn = Turn(action, *self.ask("step", action))
            self.trying = ()
            yield replace(turn, view=self.view()) if watch and not turn.over else turn

    def view(self) -> tuple[str | None, str]:
        """Return the state's text, where the design renders it, and the hint."""
        return self.ask("render") if self.instance.has_render else None, self.ask("hint")

    def breach(self, rule: str, found: str) -> None:
        """Note what breaks the contract without stopping the episode."""
        self.breaches.append((rule, found))


Policy = Callable[[Scene], Iterator[Any]]


def scripted(actions: Iterable[Any]) -> Iterator[Any]:
    """Yield actions as scripts, with the restarts between them."""
    part: list[Any] = []
    for action in actions:
        if isinstance(action, Restart):
            yield Script(part)
            yield action
            part = []
        else:
            part.append(action)
    yield Script(part)
