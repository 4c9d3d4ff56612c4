"""What can be changed or joined: the stored environments that a designer may be shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from spade_envs import EnvId, registries
from spade_envs.errors import UsageError
from spade_envs.registry import find
from spade_train.designer.context import DesignContext

Known = Callable[[], Mapping[str, str]]
"""Returns id -> source of the environments that a designer may be shown."""


def stored() -> dict[str, str]:
    """Return the newest version of every environment in the registries, by id; nothing that is held out."""
    newest: dict[str, tuple[EnvId, str]] = {}
    for registry in registries():
        for entry in registry.entries():
            env_id = entry.header.id
            if env_id.name not in newest or newest[env_id.name][0].version < env_id.version:
                newest[env_id.name] = (env_id, entry.source)
    return {str(env_id): source for env_id, source in newest.values()}


def source_of(env_id: str, known: Mapping[str, str]) -> str | None:
    """Return the source of a version that was chosen; None where it is gone.

    Only the newest version of a name may be chosen, and a newer one may come while a model writes.
    """
    if env_id in known:
        return known[env_id]
    try:
        registry, found = find(env_id)
        return registry.source(found)
    except UsageError:
        return None


def chosen(
    known: Mapping[str, str], context: DesignContext, fits: Callable[[str], bool], count: int
) -> tuple[str, ...]:
    """Return the ids of ``count`` environments to derive from: those that are wished for first, the rest by lot.

    Raises:
        UsageError: there are not so many that fit.
    """
    wished = [env_id for env_id in context.parents if env_id in known]
    others = context.own_rng("parents").sample(sorted(known), len(known))
    found: list[str] = []
    for env_id in dict.fromkeys([*wished, *others]):
        if len(found) < count and fits(known[env_id]):
            found.append(env_id)
    if len(found) < count:
        raise UsageError(
            f"Of {len(known)} stored environments {len(found)} fit the prompt, and {count} must. Allow more tokens."
        )
    return tuple(found)


def shown_code(source: str) -> str:
    """Return what a prompt shows of a source: all below the header."""
    return re.sub(r"\A.*?^# ///[ \t]*\n", "", source, count=1, flags=re.DOTALL | re.MULTILINE).strip("\n")
