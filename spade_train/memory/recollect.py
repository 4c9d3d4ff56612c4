"""A memory out of a registry: what it holds and what it refused, for whoever designs outside of a run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from spade_envs import Registry
from spade_envs.records import Listed, Query
from spade_envs.registry import Refused, ask, refused_designs
from spade_train.memory.record import Record
from spade_train.memory.store import LIMIT, Memory


def recollect(registry: Registry, limit: int = LIMIT) -> Memory:
    """Return the memory of the latest generated designs of a registry, admitted and refused, at most ``limit``.

    Raises:
        RegistryError: its records cannot be read.
    """
    if not registry.root.is_dir():
        return Memory(limit=limit)
    records = [*islice(_refused(registry), limit // 2), *_admitted(registry, limit)]
    return Memory(sorted(records, key=lambda one: one.round), limit)


def _admitted(registry: Registry, limit: int) -> Iterator[Record]:
    """Yield the newest versions with their newest measures, the oldest of them first."""
    query = Query(origin="generated", all_versions=True, sort="newest", limit=limit)
    for found in reversed(ask(query, [registry]).rows):
        yield _with_measures(Record.of(found.path.read_text("utf-8"), _round(found.listed)), found.listed)


def _with_measures(record: Record, listed: Listed) -> Record:
    return replace(
        record,
        id=listed.id,
        standing=listed.status,
        success=listed.success,
        hinted=listed.hinted_success,
        regret=listed.regret,
        regret_low=listed.regret_low,
        regret_high=listed.regret_high,
        plays=listed.plays or 0,
    )


def _round(listed: Listed) -> int:
    return next((one for one in (listed.round, listed.generation_round) if one is not None), 0)


def _refused(registry: Registry) -> Iterator[Record]:
    for one in refused_designs(registry.root):
        if one.reasons and one.path.is_file():
            yield Record.of(
                one.path.read_text("utf-8"), _refused_round(one), reason=f"design: {one.reasons[0]}"
            )


def _refused_round(one: Refused) -> int:
    found = one.report.get("round")
    return found if isinstance(found, int) else 0
