"""Which versions go out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence

from spade_envs.contract.ids import EnvId, near_names
from spade_envs.errors import RegistryError
from spade_envs.registry.naming import named
from spade_envs.registry.stack import find, holder_of, registries
from spade_envs.registry.store import Registry
from spade_envs.registry.versions import Entry, RegistryWarning, numbers


def chosen(ids: Sequence[str] = (), registry: Registry | None = None) -> list[Entry]:
    """Return versions by name and number, each once.

    Args:
        ids: as people write them; without a version, the newest. All versions where there are none.
        registry: where they are looked for; the whole stack where missing.

    Raises:
        UnknownEnvironment: an id that is not there. The message names near ones.
    """
    if ids:
        found = [_entry(text, registry) for text in ids]
    else:
        found = list(registry.entries() if registry else _whole_stack())
    return sorted({entry.header.id: entry for entry in found}.values(), key=lambda entry: entry.header.id)


def _whole_stack() -> Iterator[Entry]:
    """Yield every version that Gymnasium can make; of one that is two files it is warned."""
    held = {EnvId(name, v) for one in registries() for name in one.names() for v in numbers(one.root / name)}
    for env_id in held:
        try:
            holder = holder_of(env_id)
        except RegistryError as error:
            warnings.warn(f"left out: {error}", RegistryWarning, stacklevel=3)
            continue
        if holder is not None:
            yield holder.entry(env_id)


def _entry(text: str, registry: Registry | None) -> Entry:
    if registry is None:
        holder, env_id = find(text)
        return holder.entry(env_id)
    names = near_names(text, registry.names())
    held = {EnvId(name, v) for name in names for v in numbers(registry.root / name)}
    return registry.entry(named(text, held, f"{registry} does not hold"))
