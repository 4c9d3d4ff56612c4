"""What a shell is offered to complete a word: quick, and never an error, whatever lies on the disk."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import islice
from typing import get_args

MOST = 100
"""How many ids are offered at once; more names are offered without their version."""


def ids(incomplete: str) -> list[str]:
    """Return the ids that begin so: the newest version of each name, and every version where one name is left.

    Folders are read, nothing else: no database, no source.
    """
    return _quietly(_ids, incomplete)


def domains(incomplete: str) -> list[str]:
    """Return the domains that begin so."""
    from spade_envs.contract.header_keys import DOMAINS

    return [word for word in DOMAINS if word.startswith(incomplete)]


def statuses(incomplete: str) -> list[str]:
    """Return the statuses that begin so."""
    from spade_envs.records.values import STATUSES

    return [word for word in STATUSES if word.startswith(incomplete)]


def orders(incomplete: str) -> list[str]:
    """Return the orders of a list that begin so."""
    from spade_envs.records.values import Sort

    return [word for word in get_args(Sort) if word.startswith(incomplete) and word != "rank"]


def _ids(incomplete: str) -> list[str]:
    from spade_envs.contract.ids import NAMESPACE
    from spade_envs.registry.stack import registries
    from spade_envs.registry.versions import numbers

    stack = registries()
    typed = incomplete.removeprefix(f"{NAMESPACE}/")
    name, dash, _ = typed.partition("-")
    found = {
        one
        for registry in stack
        for one in registry.names()
        if one == name or (not dash and one.startswith(name))
    }
    if len(found) > MOST:
        return [f"{NAMESPACE}/{one}" for one in sorted(found)]
    taken = {one: {v for registry in stack for v in numbers(registry.root / one)} for one in found}
    offered = [
        f"{NAMESPACE}/{one}-v{version}"
        for one in sorted(found)
        for version in islice(sorted(taken[one], reverse=True), None if len(found) == 1 else 1)
    ]
    return [env_id for env_id in offered if env_id.startswith(f"{NAMESPACE}/{typed}")]


def _quietly(complete: Callable[[str], list[str]], incomplete: str) -> list[str]:
    """A traceback in the middle of a line that somebody types would help nobody."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return complete(incomplete)
    except Exception:
        return []
