"""The registry: immutable, hashed versions of environments in plain folders, several of them stacked, and what is on
record of them. Names below are loaded when they are first used: what keeps records loads SQLAlchemy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spade_envs.registry.life_cycle import Rules
    from spade_envs.registry.overview import ask, known
    from spade_envs.registry.paths import seeds_folder, shipped_registry, user_registry
    from spade_envs.registry.refused import Refused, keep_refused, refused_designs
    from spade_envs.registry.seasons import keep_round, roll_back, standings, take_back
    from spade_envs.registry.stack import add_registry, find, registries
    from spade_envs.registry.status import change
    from spade_envs.registry.store import Registry
    from spade_envs.registry.versions import Entry, RegistryWarning
    from spade_envs.registry.withdraw import keep_only

_HOMES = {
    "Entry": "versions",
    "Refused": "refused",
    "Registry": "store",
    "RegistryWarning": "versions",
    "Rules": "life_cycle",
    "add_registry": "stack",
    "ask": "overview",
    "change": "status",
    "find": "stack",
    "keep_only": "withdraw",
    "keep_refused": "refused",
    "keep_round": "seasons",
    "known": "overview",
    "refused_designs": "refused",
    "registries": "stack",
    "roll_back": "seasons",
    "seeds_folder": "paths",
    "shipped_registry": "paths",
    "standings": "seasons",
    "take_back": "seasons",
    "user_registry": "paths",
}

__all__ = [
    "Entry",
    "Refused",
    "Registry",
    "RegistryWarning",
    "Rules",
    "add_registry",
    "ask",
    "change",
    "find",
    "keep_only",
    "keep_refused",
    "keep_round",
    "known",
    "refused_designs",
    "registries",
    "roll_back",
    "seeds_folder",
    "shipped_registry",
    "standings",
    "take_back",
    "user_registry",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'spade_envs.registry' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"spade_envs.registry.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
