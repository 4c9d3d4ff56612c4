"""What is on record of a registry: a SQLite database beside its files, which can be made anew from them.

It knows how each version came to be, what was measured of it in which run and round, each change of its status with
the reason, and when it was chosen for training. Sources and admission reports themselves are files.
"""

from __future__ import annotations

from spade_envs.records.database import Database
from spade_envs.records.query import Query, Sort
from spade_envs.records.values import Choice, Listed, Measured, Refusal, StatusChange

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
