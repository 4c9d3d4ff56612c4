"""Tell Gymnasium about a registry's environments. Cheap: it reads files and starts nothing."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import gymnasium

from spade_envs.errors import RegistryError
from spade_envs.registry.store import RegistryWarning

if TYPE_CHECKING:
    from spade_envs.registry.store import Entry, Registry

ENTRY_POINT = "spade_envs.envs:make_environment"


def register_all(registry: Registry) -> None:
    """Register every version of a registry that Gymnasium does not know yet; warn of those that it cannot."""
    for entry in registry.entries():
        try:
            register(entry)
        except RegistryError as error:
            warnings.warn(f"skipped {entry.path}: {error}", RegistryWarning, stacklevel=3)


def register(entry: Entry) -> None:
    """Register one version. The same id with the same file is silent.

    Raises:
        RegistryError: the id stands for another file already.
    """
    env_id = str(entry.header.id)
    known = gymnasium.registry.get(env_id)
    if known is None:
        gymnasium.register(
            id=env_id,
            entry_point=ENTRY_POINT,
            max_episode_steps=entry.header.max_episode_steps,
            kwargs={"path": str(entry.path), "sha256": entry.file_sha256},
        )
    elif known.kwargs.get("sha256") != entry.file_sha256:
        raise RegistryError(
            f"{env_id} is registered already, from {known.kwargs.get('path', known.entry_point)}; "
            f"{entry.path} differs: admit it under a new version"
        )
