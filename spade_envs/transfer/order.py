"""The order in which versions come in."""

from __future__ import annotations

from collections.abc import Sequence

from spade_envs.contract.header import Header, parse_header
from spade_envs.contract.ids import EnvId
from spade_envs.transfer.arrival import Arrival


def parents_first(came: Sequence[Arrival]) -> list[Arrival]:
    """Return arrivals by name and version, each after its parent where that came too."""
    headers = [parse_header(a.source) if isinstance(a.source, str) else None for a in came]
    by_id = {h.id: k for k, h in reversed(list(enumerate(headers))) if isinstance(h, Header)}
    order: dict[int, None] = {}

    def visit(place: int) -> None:
        line: dict[int, None] = {}
        at: int | None = place
        while at is not None and at not in order and at not in line:
            line[at] = None
            header = headers[at]
            at = by_id.get(header.parent) if isinstance(header, Header) and header.parent else None
        order.update(dict.fromkeys(reversed(line)))

    for place in sorted(range(len(came)), key=lambda k: _rank(headers[k], k)):
        visit(place)
    return [came[place] for place in order]


def _rank(header: object, place: int) -> tuple[int, EnvId | int]:
    return (1, header.id) if isinstance(header, Header) else (0, place)
