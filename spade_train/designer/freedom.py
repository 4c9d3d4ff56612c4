"""Which way a round designs in: one that is fixed, or more freedom as more designs are admitted."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from spade_train.designer.ways import WAYS, Way


@dataclass(frozen=True, slots=True)
class Freedom:
    """A ladder of ways and the place on it; a value, so that it can be kept with a checkpoint.

    Attributes:
        ladder: the ways, the one that leaves the least freedom first.
        place: where on it the next round stands.
        recent: of the latest designs at this place, whether each was admitted; at most ``window``.
        window: how many designs it takes to judge a way.
        up, down: from which admitted share on a step is taken up, below which one down.
    """

    ladder: tuple[Way, ...] = WAYS
    place: int = 0
    recent: tuple[bool, ...] = ()
    window: int = 16
    up: float = 0.6
    down: float = 0.2

    @property
    def way(self) -> Way:
        """Return the way of the next round."""
        return self.ladder[self.place]

    def after(self, admitted: Iterable[bool]) -> Freedom:
        """Return the freedom after a round's designs: a step is taken once a whole window of one way is known."""
        recent = tuple(deque((*self.recent, *admitted), self.window))
        share = sum(recent) / len(recent) if recent else 0.0
        step = 0 if len(recent) < self.window else (share >= self.up) - (share < self.down)
        place = min(max(self.place + step, 0), len(self.ladder) - 1)
        return Freedom(
            self.ladder, place, recent if place == self.place else (), self.window, self.up, self.down
        )

    def state(self) -> dict[str, Any]:
        """Return what changes, as JSON-ready data."""
        return {"way": self.way, "recent": list(self.recent)}

    def resumed(self, state: dict[str, Any]) -> Freedom:
        """Return this ladder at the place that a state names; at its beginning where the ladder has no such way."""
        place = self.ladder.index(state["way"]) if state.get("way") in self.ladder else 0
        recent = tuple(map(bool, state.get("recent", ()))) if state else ()
        return Freedom(self.ladder, place, recent, self.window, self.up, self.down)


def fixed(way: Way) -> Freedom:
    """Return the ladder of one way."""
    return Freedom((way,))
