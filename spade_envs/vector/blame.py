"""Whose fault what was lost is: what the next step tells of it, and who is asked no more."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from spade_envs.errors import WorkerFault
from spade_envs.isolation.quarantine import DEADLY, Quarantine
from spade_envs.vector.outcome import Outcome
from spade_envs.vector.squad import Member

MOST_DEATHS = 10
"""After so many deaths in a row by one instance's fault it is asked no more."""


class Blame:
    """Faults by instance. It is true while there is anything to remember.

    Args:
        members: the instances.
        quarantine: where designs are blamed, too.

    Attributes:
        noted: faults outside of steps, which the next step tells.
        deaths: how many workers in a row died of an instance.
    """

    def __init__(self, members: Sequence[Member], quarantine: Quarantine) -> None:
        self._members, self._quarantine = members, quarantine
        self.noted: dict[int, WorkerFault] = {}
        self.deaths: dict[int, int] = {}

    def __bool__(self) -> bool:
        return bool(self.noted or self.deaths)

    def refused(self, wanted: Collection[int], resets: Collection[int]) -> dict[int, WorkerFault]:
        """Return the instances that are not asked: a fault is already known, or they died too often."""
        refused = {}
        for position in wanted:
            noted = self.noted.pop(position, None)
            if noted is not None and position not in resets:
                refused[position] = noted
            elif self.deaths.get(position, 0) >= MOST_DEATHS:
                text = (
                    f"{MOST_DEATHS} workers in a row died of this instance: make the vector anew to try again"
                )
                refused[position] = WorkerFault("quarantined", text)
        return refused

    def one(self, position: int, fault: WorkerFault) -> None:
        """Note that a worker was lost by an instance's fault: that one is asked no more at last, and no other."""
        if fault.kind in DEADLY:
            self.deaths[position] = self.deaths.get(position, 0) + 1

    def design(self, source: str, fault: WorkerFault) -> None:
        """Note that a whole worker was lost, by whomever."""
        self._quarantine.blame(source, fault)

    def forgive(self, outcome: Outcome) -> None:
        """An instance whose episode ends in order has its deaths forgiven."""
        for position in list(self.deaths):
            over = outcome.terminated[position] or outcome.truncated[position]
            if over and position not in outcome.faults:
                del self.deaths[position]
                self._quarantine.absolve(self._members[position].source)
