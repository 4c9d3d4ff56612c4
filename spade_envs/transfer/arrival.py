"""A version on its way in: where it stood, and its text or what is wrong with it."""

from __future__ import annotations

from dataclasses import dataclass

from spade_envs.contract.findings import Finding, Rejection
from spade_envs.registry.integrity import Reading


@dataclass(frozen=True, slots=True)
class Arrival:
    """One version as it came in.

    Attributes:
        place: the file in which it stood, and the member or the line of it.
        source: its text, as it was recorded, or why it cannot be taken.
    """

    place: str
    source: str | Rejection


def arrived(place: str, reading: Reading) -> Arrival:
    """Return a version that was read from its two files."""
    if reading.faults or reading.source is None:
        return Arrival(place, Rejection(reading.faults))
    return Arrival(place, reading.source)


def broken(place: str, found: str, remedy: str) -> Arrival:
    """Return what cannot be read at all."""
    return Arrival(place, Rejection((Finding("files.unreadable", found, remedy),)))
