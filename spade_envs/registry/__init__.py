"""The registry: immutable, hashed versions of environments in plain folders, several of them stacked."""

from __future__ import annotations

from spade_envs.registry.paths import seeds_folder, shipped_registry, user_registry
from spade_envs.registry.refused import Refused, keep_refused, refused_designs
from spade_envs.registry.stack import add_registry, find, registries
from spade_envs.registry.store import Registry
from spade_envs.registry.versions import Entry, RegistryWarning
from spade_envs.registry.withdraw import keep_only

__all__ = [
    "Entry",
    "Refused",
    "Registry",
    "RegistryWarning",
    "add_registry",
    "find",
    "keep_only",
    "keep_refused",
    "refused_designs",
    "registries",
    "seeds_folder",
    "shipped_registry",
    "user_registry",
]
