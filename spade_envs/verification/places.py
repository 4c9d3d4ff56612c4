"""Which versions there are to verify: what lies in the folders, readable or not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from spade_envs.contract.findings import Finding
from spade_envs.registry.integrity import versions_in
from spade_envs.registry.naming import named
from spade_envs.registry.store import Registry
from spade_envs.verification.evidence import Place


def places(registries: Iterable[Registry]) -> list[Place]:
    """Return every version of registries, and the folders that cannot hold any; a missing registry holds nothing."""
    return [place for registry in registries if registry.root.exists() for place in _within(registry.root)]


def _within(root: Path) -> Iterator[Place]:
    try:
        there = versions_in(root)
    except OSError as error:
        found = f"the registry cannot be read: {error.strerror or error}"
        yield Place(root, root, None, Finding("files.unreadable", found, "Give leave to read it."))
        return
    for env_id in there.ids:
        yield Place(root, root / env_id.name / f"v{env_id.version}.py", env_id)
    for folder, finding in there.faults:
        yield Place(root, folder, None, finding)


def chosen(ids: Sequence[str], among: Sequence[Place]) -> list[Place]:
    """Return the places of ids as people write them, each once; without a version, the newest.

    Raises:
        UnknownEnvironment: an id that is nowhere. The message names near ones.
    """
    held = {place.id for place in among if place.id}
    wanted = {named(text, held) for text in ids}
    return [place for place in among if place.id in wanted]
