"""The registries that are in force: the shipped one, the user's, and those that were added, in this order.

What lies further up hides what lies below: the same id is one version, whichever folder it is read from.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from spade_envs.contract.findings import Finding
from spade_envs.contract.ids import NAMESPACE, EnvId, near_ids, near_names, with_namespace
from spade_envs.contract.printable import printable
from spade_envs.errors import RegistryError, UnknownEnvironment
from spade_envs.registry.paths import shipped_registry, user_registry
from spade_envs.registry.store import Registry
from spade_envs.registry.versions import numbers, read_version

Stack = Sequence[Registry]
"""Registries, the topmost last."""
ADDED = "SPADE_REGISTRIES"
"""The environment variable that holds the folders which were added, so that processes started by this one know them."""


def registries() -> tuple[Registry, ...]:
    """Return the registries in force, each folder once. The same folder is the same object in one process."""
    roots = [(shipped_registry(), True), (user_registry(), False), *((root, False) for root in _added())]
    unique = {root.absolute(): read_only for root, read_only in reversed(roots)}
    return tuple(_open(root, read_only) for root, read_only in reversed(unique.items()))


def add_registry(path: Path | str) -> Registry:
    """Put a folder on top of the stack, for this process and those that it starts.

    Its environments can be made at once. For a whole session set ``SPADE_REGISTRIES`` to one or more folders.
    """
    root = Path(path).absolute()
    if root not in (added := _added()):
        os.environ[ADDED] = os.pathsep.join(map(str, [*added, root]))
    return next(known for known in registries() if known.root == root)


def find(text: str, stack: Stack | None = None) -> tuple[Registry, EnvId]:
    """Return the registry and the id that a text names; without a version, the newest.

    Args:
        text: what was written.
        stack: the registries that are asked, the topmost last; those in force if none are given.

    Raises:
        UnknownEnvironment: no registry holds it. The message names near matches.
        RegistryError: its files are broken, or two registries hold different files under this id.
    """
    whole = with_namespace(text)
    parsed = EnvId.parse(whole)
    env_id = _newest_of(whole, stack) if isinstance(parsed, Finding) else parsed
    if env_id is not None and (holder := holder_of(env_id, stack)) is not None:
        return holder, env_id
    if env_id is not None and (broken := _broken(env_id, stack)) is not None:
        raise RegistryError(broken)
    near = [one for one in near_ids(text, _candidates(text, stack)) if one != env_id]  # its file may be gone
    advice = (
        f"did you mean {' or '.join(map(str, near))}?" if near else "`spade-envs list` shows what there is"
    )
    raise UnknownEnvironment(f"no registry holds {printable(text)!r}; {advice}")


def holder_of(env_id: EnvId, stack: Stack | None = None) -> Registry | None:
    """Return the topmost registry, of those in force if none are given, that holds a version, None where none does.

    Raises:
        RegistryError: two registries hold different files under this id.
    """
    holders = [registry for registry in reversed(_asked(stack)) if registry.holds(env_id)]
    entries = [registry.entry(env_id) for registry in holders]
    for other in entries[1:]:
        if other.file_sha256 != entries[0].file_sha256:
            raise RegistryError(
                f"{env_id} is {entries[0].path} and, another file, {other.path}: versions never change. "
                "Admit one of them under a new version, and remove it from its registry"
            )
    return holders[0] if holders else None


def newest(name: str, stack: Stack | None = None) -> EnvId | None:
    """Return the highest version of a name over all registries, those in force if none are given."""
    if isinstance(EnvId.parse(f"{NAMESPACE}/{name}-v0"), Finding):
        return None
    return max((found for r in _asked(stack) if (found := r.newest(name)) is not None), default=None)


def _newest_of(text: str, stack: Stack | None) -> EnvId | None:
    name = text.removeprefix(f"{NAMESPACE}/")
    return None if name == text else newest(name, stack)


def _broken(env_id: EnvId, stack: Stack | None) -> str | None:
    """Say what is wrong with the files of a version that no registry can read, None where there are none."""
    paths = (registry.root / env_id.name / f"v{env_id.version}.py" for registry in reversed(_asked(stack)))
    path = next((path for path in paths if path.exists()), None)
    wrong = None if path is None else read_version(path)
    return f"{printable(str(path))}: {wrong}" if isinstance(wrong, str) else None


def _candidates(text: str, stack: Stack | None) -> list[EnvId]:
    """Return every version of the names that a text may have meant."""
    known = {name for registry in _asked(stack) for name in registry.names()}
    near = near_names(text, known)
    return [EnvId(name, v) for name in near for r in _asked(stack) for v in numbers(r.root / name)]


def _asked(stack: Stack | None) -> Stack:
    return registries() if stack is None else stack


def _added() -> list[Path]:
    return [Path(text).absolute() for text in os.environ.get(ADDED, "").split(os.pathsep) if text]


@cache
def _open(root: Path, read_only: bool) -> Registry:
    return Registry(root, read_only)
