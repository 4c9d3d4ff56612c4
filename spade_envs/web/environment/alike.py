"""What an environment was like when it was admitted: its nearest neighbours, as the novelty gate saw them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from spade_envs.admission.report import gates_of
from spade_envs.contract.given import given
from spade_envs.contract.ids import NAMESPACE
from spade_envs.records import reading
from spade_envs.registry.overview import held_by, opened
from spade_envs.registry.stack import Stack
from spade_envs.web.environment.subject import Head, Subject

PARTS = ("tree", "contained", "text", "behaviour")
"""What is compared, each from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """One of the nearest.

    Attributes:
        title, status: None where no registry has it on record.
        held: whether a registry holds it.
        alike: of each part how like it is; None where the report does not say.
    """

    id: str
    title: str | None
    status: str | None
    held: bool
    alike: dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Alike:
    """The page.

    Attributes:
        at: when it was admitted, and compared; None where the report does not say.
        compared: with how many it was compared; None where the report does not say.
        distance: to the nearest one.
    """

    head: Head
    at: str | None
    compared: int | None
    distance: float | None
    nearest: tuple[Neighbour, ...]


def alike(one: Subject, stack: Stack) -> Alike:
    """Return the page. Raises RegistryError where records break while they are read."""
    gate = next((gate for gate in gates_of(one.entry.report) if gate.get("name") == "novelty"), {})
    saw = given(gate, "saw", dict) or {}
    found = [near for near in given(saw, "nearest", list) or () if isinstance(near, dict)]
    ids = [env_id for near in found if (env_id := given(near, "id", str))]
    with opened(stack) as shelves:
        told = {k: v for _, connection in shelves for k, v in reading.told(connection, ids).items()}
        held = held_by(shelves, ids)
    nearest = (_neighbour(near, told, env_id in held) for near in found if (env_id := given(near, "id", str)))
    return Alike(
        one.head,
        given(one.entry.report, "admitted_at", str),
        given(saw, "compared with", int),
        given(saw, "distance", float | int),
        tuple(nearest),
    )


def _neighbour(near: dict[str, Any], told: dict[str, tuple[str, str]], held: bool) -> Neighbour:
    title, status = told.get(near["id"], (None, None))
    return Neighbour(
        near["id"], title, status, held, {part: given(near, part, float | int) for part in PARTS}
    )


def linked(neighbour: Neighbour) -> str | None:
    """Return where a neighbour's page is, None where there is none."""
    return neighbour.id.removeprefix(f"{NAMESPACE}/") if neighbour.held else None
