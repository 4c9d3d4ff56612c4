"""Where environments stand, changed by hand or by a run: on record with the reason, taken back by another change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import Connection

from spade_envs.contract.findings import Finding
from spade_envs.contract.ids import EnvId
from spade_envs.contract.printable import printable
from spade_envs.errors import UnknownEnvironment, UsageError
from spade_envs.records import StatusChange, changes, filing, reading
from spade_envs.records.query import one_of
from spade_envs.records.values import STATUSES, Status
from spade_envs.registry.overview import opened
from spade_envs.registry.stack import Stack, holder_of, registries
from spade_envs.registry.store import Registry


def change(
    ids: Sequence[str],
    status: Status,
    reason: str,
    registry: Registry,
    *,
    run: str | None = None,
    round: int | None = None,
) -> list[StatusChange]:
    """Have versions stand somewhere else, all of them or none.

    Args:
        ids: the versions, as text; each held by the registry or by one in force.
        status: where they stand from now on.
        reason: why, in words.
        registry: in whose records it is written; versions of other registries are put on record there, too.
        run, round: where it happened; None where a person does it.

    Returns:
        What was changed: what stands there already is not.

    Raises:
        UsageError: there is no such status, or no reason is given.
        UnknownEnvironment: no registry holds one of them.
        RegistryError: the records cannot be written.
    """
    one_of("status", status, STATUSES)
    if not reason.strip():
        raise UsageError("no reason is given; say in a few words why, for whoever looks at it later")
    said = printable(reason.strip())
    with registry.own_records.writing() as connection:
        know(connection, registry, ids)
        made = [
            StatusChange(env_id, status, said, run, round)
            for env_id in dict.fromkeys(ids)
            if _standing(connection, env_id) != status
        ]
        for one in made:
            changes.change_status(connection, one)
    return made


def know(connection: Connection, registry: Registry, ids: Iterable[str]) -> None:
    """Put versions that other registries hold on record in this one, standing where they stand there.

    Args:
        connection: to the registry's records, in a transaction.
        registry: which one it is.
        ids: the versions; those that no registry holds are left out.
    """
    others = _others(registry)
    for env_id in sorted(set(ids)):
        borrowed = reading.one(connection, env_id) is None and borrow(connection, registry, env_id)
        if borrowed and (last := _last_change(env_id, others)) is not None:
            changes.change_status(connection, last)


def borrow(connection: Connection, registry: Registry, text: str) -> bool:
    """Put a version on record in a registry, of whichever one holds it; return whether any does."""
    env_id = EnvId.parse(text)
    if isinstance(env_id, Finding):
        return False
    if (holder := holder_of(env_id, [*_others(registry), registry])) is None:
        return False
    entry = holder.entry(env_id)
    filing.enter(connection, entry.header, entry.report, held=holder is registry)
    return True


def home(env_id: str, stack: Stack, otherwise: Registry) -> Registry:
    """Return the registry in which a change of a version's status is seen from all of a stack: the topmost one that has
    the version on record, or another one further up where that is never written.
    """
    with opened(stack) as shelves:
        knowing = [one for one, connection in shelves if reading.one(connection, env_id) is not None]
    return knowing[-1] if knowing and not knowing[-1].read_only else otherwise


def _others(registry: Registry) -> Stack:
    return [other for other in registries() if other.root != registry.root]


def _standing(connection: Connection, env_id: str) -> str:
    known = reading.one(connection, env_id)
    if known is None:
        raise UnknownEnvironment(
            f"no registry holds {printable(repr(env_id))}; `spade-envs list` shows what there is"
        )
    return known.status


def _last_change(env_id: str, stack: Stack) -> StatusChange | None:
    """Return the change by which a version stands where it does, in the topmost registry that knows it."""
    with opened(stack) as shelves:
        for _, connection in reversed(shelves):
            if reading.one(connection, env_id) is not None:
                return next(reversed(reading.statuses(connection, env_id)), None)
    return None
