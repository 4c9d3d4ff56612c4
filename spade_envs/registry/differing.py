"""What two versions have in common and what not."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import unified_diff

from spade_envs.contract.header import code_sha256
from spade_envs.contract.ids import EnvId
from spade_envs.registry.stack import Stack, find, holder_of, registries
from spade_envs.registry.versions import Entry, numbers


@dataclass(frozen=True, slots=True)
class Difference:
    """What changed from one version to another.

    Attributes:
        old, new: the ids, as text.
        only_header: whether all that differs stands above the code.
        lines: a unified diff; empty where the two are the same.
    """

    old: str
    new: str
    only_header: bool
    lines: tuple[str, ...]


def difference(old: Entry, new: Entry) -> Difference:
    """Return what changed from one version to another."""
    first, second = str(old.header.id), str(new.header.id)
    texts = old.source.splitlines(), new.source.splitlines()
    lines = tuple(unified_diff(*texts, first, second, lineterm=""))
    return Difference(
        first, second, bool(lines) and code_sha256(old.source) == code_sha256(new.source), lines
    )


def before(entry: Entry, stack: Stack | None = None) -> Entry | None:
    """Return what a version came from: its parent, or the version of its name before it; None where there is neither.

    Raises:
        UnknownEnvironment: no registry holds its parent.
    """
    header, asked = entry.header, registries() if stack is None else stack
    if header.parent is not None:
        registry, env_id = find(str(header.parent), asked)
        return registry.entry(env_id)
    name, number = header.id.name, header.id.version
    taken = {v for registry in asked for v in numbers(registry.root / name) if v < number}
    for version in sorted(taken, reverse=True):
        if (holder := holder_of(earlier := EnvId(name, version), asked)) is not None:
            return holder.entry(earlier)
    return None
