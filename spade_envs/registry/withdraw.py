"""Taking versions out of a registry again: for the registry of one run, when the run goes back to an earlier round.

Nothing is deleted: files move to a folder beside. Versions that others may use are never withdrawn this way.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from spade_envs.errors import RegistryError
from spade_envs.registry.store import Registry
from spade_envs.registry.versions import is_name


def keep_only(registry: Registry, ids: Collection[str], into: Path) -> list[Path]:
    """Move every version that is not among ``ids`` out of a registry, and what a crash left half-written.

    Their numbers are free again. Gymnasium forgets nothing: do this before environments are registered.

    Args:
        registry: the registry of one run.
        ids: the versions that stay, as text.
        into: the folder that takes the others; made when there are any.

    Returns:
        The new places of the files that were moved.

    Raises:
        RegistryError: a file cannot be moved.
    """
    if not registry.root.is_dir():
        return []
    with registry.locked():
        try:
            moved = [_moved(path, registry.root, into) for path in _others(registry.root, ids)]
        except OSError as error:
            raise RegistryError(f"cannot withdraw versions of {registry.root}: {error.strerror}") from error
        from spade_envs.records import changes

        with registry.own_records.writing() as connection:
            changes.withdraw(connection, ids)
        return moved


def _others(root: Path, ids: Collection[str]) -> list[Path]:
    files = [path for path in sorted(root.glob("*/*")) if is_name(path.parent.name)]
    return [path for path in files if f"spade/{path.parent.name}-{path.stem}" not in ids]


def _moved(path: Path, root: Path, into: Path) -> Path:
    place = into / path.relative_to(root)
    place.parent.mkdir(parents=True, exist_ok=True)
    os.replace(path, place)
    if not any(path.parent.iterdir()):
        path.parent.rmdir()
    return place
