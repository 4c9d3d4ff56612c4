"""What the two files of a version, and of a refused design, say: written into the records as it stands there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from spade_envs.contract.given import given
from spade_envs.contract.header import Header
from spade_envs.contract.ids import EnvId
from spade_envs.records.tables import CHOICES, INTENTS, MEASUREMENTS, REFUSALS, SKILLS, STATUSES, VERSIONS
from spade_envs.records.values import Refusal, StatusChange

_INDEX = "INSERT INTO texts (rowid, name, title, summary, skills, rules) VALUES (?, ?, ?, ?, ?, ?)"
_AT_ONCE = 500
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[0-9]+")

_OTHERS = VERSIONS.alias()
_HIGHEST = select(func.max(_OTHERS.c.version)).where(_OTHERS.c.name == VERSIONS.c.name).scalar_subquery()
_MARK = update(VERSIONS).values(newest=VERSIONS.c.version == _HIGHEST)


def enter(connection: Connection, header: Header, report: Mapping[str, Any], *, held: bool = True) -> None:
    """Put one version on record: see :func:`enter_all`."""
    enter_all(connection, [(header, report)], held=held)


def enter_all(
    connection: Connection, files: Iterable[tuple[Header, Mapping[str, Any]]], *, held: bool = True
) -> None:
    """Put versions on record as their files describe them; what is there already stays as it is.

    Args:
        connection: in a transaction.
        files: of each version the header and the report.
        held: False for another registry's versions of which something is to be recorded here.
    """
    for part in batched(files, _AT_ONCE):
        _enter_part(connection, part, held)


def _enter_part(connection: Connection, files: list[tuple[Header, Mapping[str, Any]]], held: bool) -> None:
    ids = {str(header.id): report["code_sha256"] for header, report in files}
    columns = VERSIONS.c
    rows = connection.execute(select(columns.id, columns.code_sha256).where(columns.id.in_(ids))).all()
    known = {row.id for row in rows}
    if held and known:
        other = [row.id for row in rows if row.code_sha256 != ids[row.id]]  # of files that lay here before
        forget(connection, other)
        known.difference_update(other)
        connection.execute(update(VERSIONS).where(columns.id.in_(known)).values(held=True))
    if not (new := [(header, report) for header, report in files if str(header.id) not in known]):
        return
    first = _next_key(connection)
    connection.execute(
        insert(VERSIONS), [{"key": key, **_values(*file, held)} for key, file in enumerate(new, first)]
    )
    skills = [(key, s) for key, (header, _) in enumerate(new, first) for s in dict.fromkeys(header.skills)]
    connection.execute(insert(SKILLS), [{"skill": skill, "key": key} for key, skill in skills])
    connection.exec_driver_sql(_INDEX, [(key, *_texts(*file)) for key, file in enumerate(new, first)])
    if held:
        changes = [change for header, report in new for change in first_statuses(str(header.id), report)]
        connection.execute(insert(STATUSES), [change.as_dict() for change in changes])
    mark_newest(connection, {header.id.name for header, _ in new})


def enter_row(connection: Connection, row: Mapping[str, Any]) -> None:
    """Put a version on record as a row of other records has it, with its ``skills`` and, where known, its ``texts``."""
    key = _next_key(connection)
    values = {column.name: row.get(column.name) for column in VERSIONS.columns}
    connection.execute(insert(VERSIONS).values(values | {"key": key, "newest": False}))
    for skill in row["skills"]:
        connection.execute(insert(SKILLS).values(skill=skill, key=key))
    plain = (_words(row["name"]), row["title"], row["summary"], _listed(row["skills"]), "")
    connection.exec_driver_sql(_INDEX, (key, *(row["texts"] or plain)))
    mark_newest(connection, [row["name"]])


def forget(connection: Connection, ids: Collection[str]) -> None:
    """Take versions off the record, with all that happened to them."""
    for env_id in ids:
        key = connection.execute(select(VERSIONS.c.key).where(VERSIONS.c.id == env_id)).scalar()
        connection.execute(delete(VERSIONS).where(VERSIONS.c.key == key))
        connection.execute(delete(SKILLS).where(SKILLS.c.key == key))
        connection.exec_driver_sql("DELETE FROM texts WHERE rowid = ?", (key,))
        for table in (STATUSES, MEASUREMENTS, CHOICES):
            connection.execute(delete(table).where(table.c.id == env_id))


def _next_key(connection: Connection) -> int:
    return int(connection.execute(select(func.coalesce(func.max(VERSIONS.c.key), 0))).scalar_one()) + 1


def first_statuses(env_id: str, report: Mapping[str, Any]) -> list[StatusChange]:
    """Return where a version stands when it has been admitted: in the active pool, or not yet, and why."""
    at, pool = given(report, "admitted_at", str) or "", given(report, "active_pool", dict) or {}
    run, round_ = given(report, "run", str), given(report, "round", int)
    changes = [StatusChange(env_id, "admitted", "passed every gate", run, round_, at)]
    if pool.get("enters"):
        changes.append(StatusChange(env_id, "active", "entered the active pool", run, round_, at))
    elif reasons := _line(given(pool, "reasons", list)):
        reason = f"stays out of the active pool: {reasons}"
        changes[0] = StatusChange(env_id, "admitted", reason, run, round_, at)
    return changes


def mark_newest(connection: Connection, names: Collection[str]) -> None:
    """Have exactly the highest version of each name marked as such."""
    connection.execute(_MARK.where(VERSIONS.c.name.in_(names)))


def batched(values: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Yield the values in lists of at most this size."""
    remaining = iter(values)
    while part := list(islice(remaining, size)):
        yield part


def announce(connection: Connection, name: str) -> int:
    """Note that a version of this name is about to be written; return the note's key."""
    key = connection.execute(insert(INTENTS).values(name=name)).inserted_primary_key
    assert key
    return int(key[0])


def announced(connection: Connection) -> list[str]:
    """Return the names of which a version may have been written without being put on record."""
    return list(connection.execute(select(INTENTS.c.name).distinct()).scalars())


def settle(connection: Connection, names: Iterable[str]) -> None:
    """Take back what was announced of these names."""
    connection.execute(delete(INTENTS).where(INTENTS.c.name.in_(list(names))))


def enter_refusal(connection: Connection, refusal: Refusal) -> None:
    """Put a refused design on record, in the place of what was known of the same code."""
    connection.execute(delete(REFUSALS).where(REFUSALS.c.code_sha256 == refusal.code_sha256))
    connection.execute(insert(REFUSALS).values(**refusal.as_dict()))


def _values(header: Header, report: Mapping[str, Any], held: bool) -> dict[str, Any]:
    scores, saw = given(report, "scores", dict) or {}, _first_sight(report)
    env_id: EnvId = header.id
    return {
        "id": str(env_id),
        "name": env_id.name,
        "version": env_id.version,
        "held": held,
        "title": header.title,
        "summary": header.summary,
        "domain": header.domain,
        "origin": header.origin,
        "parent": str(header.parent) if header.parent else None,
        "generation_round": header.generation_round,
        "max_episode_steps": header.max_episode_steps,
        "difficulty_levels": header.difficulty_levels,
        "tools": given(saw, "tools", int),
        "code_sha256": report["code_sha256"],
        "file_sha256": report["file_sha256"],
        "admitted_at": given(report, "admitted_at", str),
        "run": given(report, "run", str),
        "round": given(report, "round", int),
        **{name: given(scores, name, int | float) for name in ("difficulty", "diversity", "stability")},
        "provenance": {**(given(report, "provenance", dict) or {}), **_imported(report)},
        "newest": False,  # until all of its name are in
        "status": first_statuses(str(env_id), report)[-1].status,
        "status_since": given(report, "admitted_at", str),
    }


def _texts(header: Header, report: Mapping[str, Any]) -> tuple[str, ...]:
    rules = given(_first_sight(report), "rules", str) or ""
    return _words(header.id.name), header.title, header.summary, _listed(header.skills), rules


def _first_sight(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the first gate saw: rules, tools, spaces."""
    gates = given(report, "gates", list) or [{}]
    return (given(gates[0], "saw", dict) if isinstance(gates[0], dict) else None) or {}


def _words(name: str) -> str:
    return f"{name} {' '.join(_WORD.findall(name))}"


def _listed(skills: Iterable[str]) -> str:
    return " ".join(skills).replace("_", " ")


def _imported(report: Mapping[str, Any]) -> dict[str, Any]:
    return {"imported": report["imported"]} if "imported" in report else {}


def _line(reasons: list[Any] | None) -> str:
    return "; ".join(map(str, reasons or ())).encode("utf-8", "replace").decode()
