"""What happens to environments after their admission: measured, chosen, given another status, taken back."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy import ColumnElement, Connection, Table, and_, delete, func, insert, or_, select, update
from sqlalchemy.dialects.sqlite import insert as upsert

from spade_envs.records.filing import forget, mark_newest
from spade_envs.records.tables import CHOICES, MEASUREMENTS, STATUSES, VERSIONS
from spade_envs.records.values import Choice, Measured, Status, StatusChange, now

_NEWEST = ("plays", "success", "hinted_success", "regret", "regret_low", "regret_high")


def change_status(connection: Connection, change: StatusChange) -> None:
    """Put a change on record; the version stands there from now on."""
    connection.execute(insert(STATUSES).values(**change.as_dict()))
    _stand(connection, change.id, change.status, change.at)


def measure(connection: Connection, measured: Measured) -> None:
    """Put a round's measures on record; the same run and round takes its earlier place."""
    values = measured.as_dict()
    statement = upsert(MEASUREMENTS).values(**values)
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["id", "run", "round"],
            set_={name: value for name, value in values.items() if name not in ("id", "run", "round")},
        )
    )
    show_newest(connection, [measured.id])


def choose(connection: Connection, choices: Iterable[Choice]) -> None:
    """Put on record what was chosen for a round, and why."""
    rows = [choice.as_dict() for choice in choices]
    if rows:
        connection.execute(insert(CHOICES), rows)


def take_back(connection: Connection, run: str, round_: int) -> None:
    """Forget everything of a run that came with this round or later, as if it had not been: for a run that goes on
    from an earlier round, in records that are its own.
    """
    touched: set[str] = set()
    for table in (MEASUREMENTS, STATUSES, CHOICES):
        later = _later(table, run, round_)
        touched |= set(connection.execute(select(table.c.id).where(later)).scalars())
        connection.execute(delete(table).where(later))
    show_newest(connection, touched)
    stand_as_recorded(connection, touched)


def withdraw(connection: Connection, kept: Collection[str]) -> None:
    """Forget the held versions that are not among ``kept``: their files have left the registry."""
    held = connection.execute(select(VERSIONS.c.id, VERSIONS.c.name).where(VERSIONS.c.held)).all()
    gone = [row for row in held if row.id not in kept]
    forget(connection, [row.id for row in gone])
    mark_newest(connection, {row.name for row in gone})


def roll_back(connection: Connection, run: str, round_: int) -> list[StatusChange]:
    """Give every version the status that it had when a round of a run ended, by changes that are themselves on record.

    What the run admitted later is retired: others may use it already, and versions never go. Going back to a later
    round afterwards gives all of it back.

    Returns:
        The changes that were made.
    """
    made = to_roll_back(connection, run, round_)
    for change in made:
        change_status(connection, change)
    return made


def to_roll_back(connection: Connection, run: str, round_: int) -> list[StatusChange]:
    """Return the changes that :func:`roll_back` would make."""
    reason, at = f"rolled back to the end of round {round_} of {run}", now()
    of_run = select(STATUSES.c.id).where(or_(_later(STATUSES, run, round_ + 1), _rolled_back(run)))
    touched = connection.execute(
        select(VERSIONS.c.id, VERSIONS.c.status).where(VERSIONS.c.id.in_(of_run)).order_by(VERSIONS.c.key)
    ).all()
    wanted = [(row, _status_before(connection, row.id, run, round_)) for row in touched]
    return [StatusChange(row.id, to, reason, run, None, at) for row, to in wanted if to != row.status]


def _status_before(connection: Connection, env_id: str, run: str, round_: int) -> Status:
    """Return the last status before the first of the run's later changes; earlier roll-backs do not count."""
    of_it = select(STATUSES).where(STATUSES.c.id == env_id, ~_rolled_back(run)).order_by(STATUSES.c.key)
    before: Status = "retired"
    for row in connection.execute(of_it):
        if row.run == run and row.round is not None and row.round > round_:
            break
        before = row.status
    return before


def _rolled_back(run: str) -> ColumnElement[bool]:
    """What a run does, it does in a round; what is on record of it without one are roll-backs."""
    return and_(func.coalesce(STATUSES.c.run == run, False), STATUSES.c.round.is_(None))


def _later(table: Table, run: str, round_: int) -> ColumnElement[bool]:
    return and_(table.c.run == run, table.c.round >= round_)


def show_newest(connection: Connection, ids: Iterable[str]) -> None:
    """Have the newest measurement of each version stand beside it."""
    for env_id in ids:
        of_it = select(MEASUREMENTS).where(MEASUREMENTS.c.id == env_id).order_by(MEASUREMENTS.c.key.desc())
        row = connection.execute(of_it).mappings().first()
        values = {name: row[name] if row else None for name in _NEWEST}
        connection.execute(update(VERSIONS).where(VERSIONS.c.id == env_id).values(**values))


def stand_as_recorded(connection: Connection, ids: Iterable[str]) -> None:
    """Have each version stand where the last change on record says."""
    for env_id in ids:
        of_it = select(STATUSES).where(STATUSES.c.id == env_id).order_by(STATUSES.c.key.desc())
        last = connection.execute(of_it).first()
        _stand(connection, env_id, last.status if last else "admitted", last.at if last else None)


def _stand(connection: Connection, env_id: str, status: str, since: str | None) -> None:
    connection.execute(
        update(VERSIONS).where(VERSIONS.c.id == env_id).values(status=status, status_since=since)
    )
