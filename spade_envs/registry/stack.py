"""The registries that are in force: the shipped one, the user's, and those that were added, in this order."""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path

import gymnasium

from spade_envs.contract.findings import Finding
from spade_envs.contract.ids import EnvId, near_ids
from spade_envs.errors import UnknownEnvironment
from spade_envs.registry.gym_registration import register, register_all
from spade_envs.registry.paths import shipped_registry, user_registry
from spade_envs.registry.store import Registry

_added: list[Path] = []


def registries() -> tuple[Registry, ...]:
    """Return the registries in force, each folder once. The same folder is the same object in one process."""
    roots = [(shipped_registry(), True), (user_registry(), False), *((root, False) for root in _added)]
    unique = {root.absolute(): read_only for root, read_only in reversed(roots)}
    return tuple(_open(root, read_only) for root, read_only in reversed(unique.items()))


def add_registry(path: Path | str) -> Registry:
    """Put a folder on top of the stack, for this process, and register its environments with Gymnasium."""
    root = Path(path).absolute()
    if root not in _added:
        _added.append(root)
    registry = next(known for known in registries() if known.root == root)
    register_all(registry)
    return registry


def find(text: str) -> tuple[Registry, EnvId]:
    """Return the registry and the id that a text names; without a version, the newest.

    Raises:
        UnknownEnvironment: no registry holds it. The message names near matches.
    """
    held = {
        str(env_id): (registry, env_id) for registry in reversed(registries()) for env_id in registry.ids()
    }
    env_id = EnvId.parse(text)
    if not isinstance(env_id, Finding) and str(env_id) in held:
        return held[str(env_id)]
    of_name = [pair for pair in held.values() if f"spade/{pair[1].name}" == text]
    if of_name:
        return max(of_name, key=lambda pair: pair[1].version)
    near = near_ids(text, (env_id for _, env_id in held.values()))
    advice = f"did you mean {' or '.join(map(str, near))}?" if near else "`spade-envs list` shows what there is"
    raise UnknownEnvironment(f"no registry holds {text!r}; {advice}")


def catch_up(env_id: str) -> None:
    """Register an environment that another process has admitted since the registries were read."""
    if env_id in gymnasium.registry:
        return
    with contextlib.suppress(UnknownEnvironment):  # Gymnasium's own message names what is near
        registry, found = find(env_id)
        register(registry.entry(found))


@cache
def _open(root: Path, read_only: bool) -> Registry:
    return Registry(root, read_only)
