"""What Gymnasium knows of the registries. Its own registry is a dictionary of what was registered, read by ``make``,
``make_vec`` and ``spec``; it has no way to ask for what is not there. So a dictionary that asks takes its place.

Listed in it from the beginning are the newest versions of what is shipped, which are few. Any other id is looked up
in the registries when it is asked for, and is not kept: so a version that another process has just admitted can be
made, importing this package costs the same whatever the user's registry holds, ``make`` searches a short list for
the newest version, and an older version that was asked for on purpose gives no warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
from gymnasium.envs import registration
from gymnasium.envs.registration import EnvSpec

from spade_envs.contract.ids import NAMESPACE, EnvId

if TYPE_CHECKING:
    from spade_envs.registry.store import Registry
    from spade_envs.registry.versions import Entry

ENTRY_POINT = "spade_envs.envs:make_environment"
VECTOR_ENTRY_POINT = "spade_envs.envs:make_vector_environment"


class LiveSpecs(dict[str, Any]):
    """Gymnasium's registry, which also answers for every id that a registry of the stack holds."""

    def get(self, key: str, default: Any = None) -> Any:
        """Return the specification of an id; without a version, see to it that Gymnasium finds the newest."""
        if key in self.keys():
            return self[key]
        found = _looked_up(key)
        if found is None and isinstance(key, str) and key.startswith(f"{NAMESPACE}/"):
            self._know_newest(key.removeprefix(f"{NAMESPACE}/"))
        return default if found is None else found

    def __missing__(self, key: str) -> Any:
        found = _looked_up(key)
        if found is None:
            raise KeyError(key)
        return found

    def __contains__(self, key: object) -> bool:
        return key in self.keys() or (isinstance(key, str) and _looked_up(key) is not None)

    def _know_newest(self, name: str) -> None:
        """Gymnasium looks for the newest version of a name among what is listed."""
        from spade_envs.registry.stack import holder_of, newest

        env_id = newest(name)
        if env_id is not None and (holder := holder_of(env_id)) is not None:
            self[str(env_id)] = spec_of(holder.entry(env_id))


def install() -> LiveSpecs:
    """Put the dictionary that asks in the place of Gymnasium's, once; what is registered stays."""
    if isinstance(registration.registry, LiveSpecs):
        return registration.registry
    live = LiveSpecs(registration.registry)
    for module in (registration, gymnasium.envs, gymnasium):
        module.registry = live  # type: ignore[attr-defined]
    return live


def list_newest(registry: Registry) -> None:
    """Have the newest version of each of a registry's environments listed."""
    live = install()
    for name in registry.names():
        if (env_id := registry.newest(name)) is not None:
            live[str(env_id)] = spec_of(registry.entry(env_id))


def spec_of(entry: Entry) -> EnvSpec:
    """Return what Gymnasium needs to know of one version."""
    return EnvSpec(
        id=str(entry.header.id),
        entry_point=ENTRY_POINT,
        vector_entry_point=VECTOR_ENTRY_POINT,
        max_episode_steps=entry.header.max_episode_steps,
        kwargs={"path": str(entry.path), "sha256": entry.file_sha256},
    )


def _looked_up(key: str) -> EnvSpec | None:
    from spade_envs.registry.stack import holder_of

    env_id = EnvId.parse(key) if isinstance(key, str) else None
    if not isinstance(env_id, EnvId):
        return None
    holder = holder_of(env_id)
    return spec_of(holder.entry(env_id)) if holder else None
