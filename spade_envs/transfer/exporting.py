"""Versions on their way out."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spade_envs.contract.printable import printable
from spade_envs.errors import RegistryError, UsageError
from spade_envs.registry.stack import registries
from spade_envs.registry.versions import Entry
from spade_envs.transfer import archive, folder, lines, wheel
from spade_envs.transfer.formats import Format, guessed
from spade_envs.transfer.placing import new_file, new_folder


def export(
    destination: Path | str, versions: Sequence[Entry], *, format: Format | None = None, force: bool = False
) -> Format:
    """Write versions with their reports to one place. It appears whole or not at all.

    ``"folder"`` is itself a registry, ``"zip"`` a zip of it; ``"wheel"`` is a package that registers its
    environments with Gymnasium when it is imported, named by its file (``my_envs-1.0-py3-none-any.whl``);
    ``"jsonl"`` is a data set with one line a version. The same versions give the same bytes.

    Args:
        destination: where to.
        versions: as :func:`chosen` returns them.
        format: guessed from the destination's ending where missing.
        force: whether an earlier export there is overwritten.

    Returns:
        The format.

    Raises:
        UsageError: something is there already, there is nothing to write, or the name does not fit the format.
        RegistryError: it cannot be written.
    """
    target = Path(destination).absolute()
    chosen = format or guessed(target)
    if not versions:
        raise UsageError("there is no version to export; `spade-envs list` shows what there is")
    _check_apart(target, versions)
    try:
        _write(target, versions, chosen, force)
    except OSError as error:
        raise RegistryError(
            f"cannot write {printable(str(target))}: {error.strerror or error};"
            " make room or give leave, or name another place"
        ) from error
    return chosen


def _write(target: Path, versions: Sequence[Entry], chosen: Format, force: bool) -> None:
    if chosen == "folder":
        with new_folder(target, force) as new:
            return folder.write(versions, new)
    package = wheel.package(target.name) if chosen == "wheel" else None
    with new_file(target, force) as file:
        if package:
            wheel.write(versions, file, package)
        elif chosen == "zip":
            archive.write(versions, file)
        else:
            lines.write(versions, file)
    return None


def _check_apart(target: Path, versions: Sequence[Entry]) -> None:
    """A registry is no place for an export: what lies there never changes."""
    place = target.resolve()
    roots = {registry.root for registry in registries()} | {entry.path.parents[1] for entry in versions}
    for root in sorted(root.resolve() for root in roots):
        if place == root or root in place.parents or place in root.parents:
            raise UsageError(
                f"{printable(str(target))} and the registry {printable(str(root))} lie in each other;"
                " name another place"
            )
