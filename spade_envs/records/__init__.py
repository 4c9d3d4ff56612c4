"""What is on record of a registry: a SQLite database beside its files, which can be made anew from them.

It knows how each version came to be, what was measured of it in which run and round, each change of its status with
the reason, and when it was chosen for training. Sources and admission reports themselves are files. ``Database`` and
``Query`` are loaded when they are first used: they alone need SQLAlchemy.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from spade_envs.records.values import Choice, Listed, Measured, Refusal, Sort, StatusChange

if TYPE_CHECKING:
    from spade_envs.records.database import Database
    from spade_envs.records.query import Query

_HOMES = {"Database": "database", "Query": "query"}

__all__ = [
    "Choice",
    "Database",
    "Listed",
    "Measured",
    "Query",
    "Refusal",
    "Sort",
    "StatusChange",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'spade_envs.records' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"spade_envs.records.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
