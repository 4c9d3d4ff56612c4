"""What a suite is. A question is an environment of one turn, so that one player plays all of them.

Another package offers a suite under the entry point group ``spade_train.suites``: a function that takes
:class:`Options` and returns a :class:`Suite`, or a :class:`Skipped` that says what is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spade_envs.text_face import ActionFormat
from spade_train.playing.play import Make


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to be solved: an environment, its seed, its level. The same for every model that is evaluated."""

    env_id: str
    seed: int
    level: int = 1

    @property
    def name(self) -> str:
        """Return what it is called in results."""
        level = "" if self.level == 1 else f" level {self.level}"
        return f"{self.env_id}{level} #{self.seed}"


@dataclass(frozen=True, slots=True)
class Try:
    """One play of an item.

    Attributes:
        counts: False where a fault of the environment's own has ended it, or the prompt was too long.
        turns: how often the model spoke.
        tokens: that it sampled.
    """

    success: bool
    return_: float
    counts: bool
    turns: int
    tokens: int
    end: str


@dataclass(frozen=True, slots=True)
class Suite:
    """Items and how to open them.

    Attributes:
        items: in the order in which they are played.
        make: opens an item's environment: its id, and ``difficulty`` above the easiest level.
        examples: worked examples in the prompt, which come from seeds of their own; 0 where there are none.
        completion: tokens that an episode wants at least.
        turn: tokens that one turn wants at least.
        note: what was left out, or whatever else a reader must know.
    """

    name: str
    items: tuple[Item, ...]
    make: Make
    examples: int = 0
    completion: int = 0
    turn: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Skipped:
    """A suite that cannot be played here, why, and what to do about it."""

    name: str
    why: str


@dataclass(frozen=True)
class Options:
    """What a suite is made with.

    Attributes:
        items: how many are wanted, at most.
        seed: which ones, where they are drawn.
        given: what stands behind the suite's name: ``aime=PATH``; nothing where it is not said.
        run: the folder of the run whose history is asked for; None where there is none.
        action_format: how actions are written.
    """

    items: int = 50
    seed: int = 0
    given: str = ""
    run: Path | None = None
    action_format: ActionFormat = "xml"


Factory = Callable[[Options], Suite | Skipped]
