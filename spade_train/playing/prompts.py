"""What the agent reads: the rules, two worked examples, then the episode itself.

A small model keeps a format that it sees used, and copies an answer that it sees twice: so the examples have
different answers. A hint stands in the examples too; one that only the task has breaks the pattern and harms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

# Seeds: training draws below the first; worked examples and held-out plays have ranges of their own.
TRAINING_SEEDS = 500_000
EXAMPLE_SEED = 900_000
HELD_OUT_SEED = 1_000_000


class TextEnvironment(Protocol):
    """The part of :class:`spade_envs.TextEnv` that the trainer uses."""

    @property
    def rules(self) -> str:
        """What to do, and how to write an action."""

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Function schemas; empty where the environment has none."""

    @property
    def turn_limit(self) -> int | None:
        """The turns of an episode, where they are limited."""

    def reset(self, *, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode."""

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take what the agent wrote; text that is no action is answered with what is expected."""

    def hint(self) -> str:
        """Return privileged help for the present episode."""

    def expert_text(self) -> str:
        """Return what an expert would write now."""

    def close(self) -> None:
        """Stop the worker."""


@dataclass(frozen=True)
class Example:
    """One moment of an expert's episode: what was seen, the hint there, and what the expert wrote."""

    observation: str
    hint: str
    answer: str


def worked_examples(env: TextEnvironment, count: int = 2, seeds: int = 8) -> tuple[Example, ...]:
    """Return moments with different answers where there are such: first moves first, then second ones.

    The environment is reset; where it stands afterwards is of no use.
    """
    chosen: dict[str, Example] = {}
    spare: list[Example] = []
    for example in _moments(env, seeds) if count else ():
        if chosen.setdefault(example.answer, example) is not example:
            spare.append(example)
        if len(chosen) == count:
            break
    return tuple([*chosen.values(), *spare][:count])


def agent_messages(
    env: TextEnvironment, examples: Sequence[Example], observation: str, hint: str | None
) -> list[dict[str, str]]:
    """Return the chat that asks for the first action; ``hint=None`` leaves the examples' hints out, too."""
    messages = [{"role": "system", "content": env.rules}]
    for example in examples:
        seen = _with_hint(example.observation, None if hint is None else example.hint)
        messages += [{"role": "user", "content": seen}, {"role": "assistant", "content": example.answer}]
    return [*messages, {"role": "user", "content": _with_hint(observation, hint)}]


def _with_hint(observation: str, hint: str | None) -> str:
    return observation if hint is None else f"Hint: {hint}\n{observation}"


def _moments(env: TextEnvironment, seeds: int, moves: int = 3) -> Iterator[Example]:
    for move in range(moves):
        for seed in range(EXAMPLE_SEED, EXAMPLE_SEED + seeds):
            seen, _ = env.reset(seed=seed)
            over = False
            for _ in range(move):
                seen, _, terminated, truncated, _ = env.step(env.expert_text())
                over = terminated or truncated
                if over:
                    break
            if not over:
                yield Example(seen, env.hint(), env.expert_text())
