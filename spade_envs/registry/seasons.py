"""What a round of training leaves in a registry's records: measures, choices, and the changes of status that follow."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection

from spade_envs.records import Choice, Measured, Query, StatusChange, changes, reading
from spade_envs.registry.life_cycle import Rules, crowded_out, verdict
from spade_envs.registry.status import know
from spade_envs.registry.store import Registry


def keep_round(
    registry: Registry,
    run: str,
    round: int,
    *,
    measured: Sequence[Measured],
    choices: Sequence[Choice] = (),
    rules: Rules = Rules(),  # noqa: B008 (frozen)
    also: Sequence[StatusChange] = (),
) -> list[StatusChange]:
    """Put a round of a run on record, in one transaction; a round that comes again takes its earlier place.

    Args:
        registry: of whose records; environments that other registries of the stack hold are put on record there, too.
        run, round: which round it is.
        measured: what was played, one entry a version.
        choices: what was chosen to be played, and why.
        rules: when an environment changes its status.
        also: changes of status for other reasons; those that change nothing are left out.

    Returns:
        The changes of status, those that followed and the others.

    Raises:
        RegistryError: the records cannot be written. Then nothing of the round is on record.
    """
    with registry.own_records.writing() as connection:
        changes.take_back(connection, run, round)
        know(
            connection, registry, [*(m.id for m in measured), *(c.id for c in choices), *(c.id for c in also)]
        )
        changes.choose(connection, choices)
        for one in measured:
            changes.measure(connection, one)
        followed = _judged(connection, measured, rules)
        followed += _changed(connection, also)
        followed += _crowded(connection, run, round, rules)
    return followed


def take_back(registry: Registry, run: str, round: int) -> None:
    """Forget what a run put on record with this round or later; the run goes on before it.

    Raises:
        RegistryError: the records cannot be written.
    """
    with registry.own_records.writing() as connection:
        changes.take_back(connection, run, round)


def roll_back(registry: Registry, run: str, round: int) -> list[StatusChange]:
    """Give every version the status that it had when a round of a run ended: see :func:`records.changes.roll_back`.

    Raises:
        RegistryError: the records cannot be written.
    """
    with registry.own_records.writing() as connection:
        return changes.roll_back(connection, run, round)


def standings(registry: Registry) -> dict[str, str]:
    """Return id -> status of every version on record in a registry."""
    with registry.records.reading() as connection:
        return {one.id: one.status for one in reading.listed(connection, Query(all_versions=True))}


def _judged(connection: Connection, measured: Sequence[Measured], rules: Rules) -> list[StatusChange]:
    followed = []
    for one in measured:
        known = reading.one(connection, one.id)
        history = reading.measurements(connection, one.id)[-rules.rounds :]
        if known is not None and (new := verdict(known.status, history, rules)) is not None:
            followed.append(StatusChange(one.id, *new, run=one.run, round=one.round))
            changes.change_status(connection, followed[-1])
    return followed


def _changed(connection: Connection, wanted: Sequence[StatusChange]) -> list[StatusChange]:
    known = {change.id: reading.one(connection, change.id) for change in wanted}
    made = [change for change in wanted if (one := known[change.id]) is None or one.status != change.status]
    for change in made:
        changes.change_status(connection, change)
    return made


def _crowded(connection: Connection, run: str, round_: int, rules: Rules) -> list[StatusChange]:
    if rules.pool_size is None:
        return []
    active = reading.listed(connection, Query(status="active", all_versions=True))
    leaving = crowded_out(active, rules)
    followed = [StatusChange(env_id, "retired", why, run=run, round=round_) for env_id, why in leaving]
    for change in followed:
        changes.change_status(connection, change)
    return followed
