"""What can be changed or joined: the stored environments that a designer may be shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import islice

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
    known: Mapping[str, str],
    context: DesignContext,
    fits: Callable[[str], bool],
    count: int,
    better: Callable[[str], bool] | None = None,
) -> tuple[str, ...]:
    """Return the ids of ``count`` environments to derive from: those that are wished for first, the rest by lot.

    Args:
        known: what there is to choose from.
        context: names the wishes.
        fits: whether a source can be derived from.
        count: how many are wanted.
        better: whether it should be, where there is a choice among the wished or among the others.

    Raises:
        UsageError: there are not so many that fit.
    """
    wished = [env_id for env_id in dict.fromkeys(context.parents) if env_id in known]
    others = context.own_rng("parents").sample(sorted(known), len(known))
    found: dict[str, None] = {}
    for among in (wished, others):
        for test in (better, None) if better else (None,):
            fresh = (one for one in among if one not in found)
            fitting = (one for one in fresh if fits(known[one]) and (test is None or test(known[one])))
            found |= dict.fromkeys(islice(fitting, count - len(found)))
    if len(found) < count:
        raise UsageError(
            f"Of {len(known)} stored environments {len(found)} fit the prompt, and {count} must. Allow more tokens."
        )
    return tuple(found)


def shown_code(source: str) -> str:
    """Return what a prompt shows of a source: all below the header."""
    return re.sub(r"\A.*?^# ///[ \t]*\n", "", source, count=1, flags=re.DOTALL | re.MULTILINE).strip("\n")
