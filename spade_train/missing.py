"""Why an environment cannot be played, and what to do about it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from spade_envs import EnvId, Finding, Registry, near_ids
from spade_envs.registry import refused_designs


def why_missing(name: str, held: Collection[EnvId], registries: Iterable[Registry]) -> str:
    """Return why no registry offers ``name``: it is misspelt, was refused, is damaged, or is unknown.

    Args:
        name: an id as somebody wrote it.
        held: every id that can be made.
        registries: where to look for what is left of it.
    """
    env_id = EnvId.parse(name)
    if isinstance(env_id, Finding):
        return f"{name} is no id. {_near(name, held)}"
    for registry in registries:
        path = registry.root / env_id.name / f"v{env_id.version}.py"
        if path.exists():
            return f"{path} is there, but damaged or without its report. Admit it anew: spade-envs admit."
        for design in refused_designs(registry.root):
            if design.id == name:
                reason = next(iter(design.reasons), design.gate)
                return f"{name} was refused: {reason}. Mend {design.path} and admit it: spade-envs admit."
    return f"there is no environment {name}. {_near(name, held)}"


def wrong_weight(name: str, held: Collection[EnvId]) -> str | None:
    """Return what is wrong with the name of an environment in ``environment_weights``; None where it is held.

    Args:
        name: an id, with its version or without.
        held: every id that can be made.
    """
    if name in {str(env_id) for env_id in held} | {f"spade/{env_id.name}" for env_id in held}:
        return None
    return f"there is no environment {name}. {_near(name, held)}"


def nothing_to_play(registries: Iterable[Registry]) -> str:
    """Return what to say where no registry holds a seed environment."""
    roots = ", ".join(str(registry.root) for registry in registries)
    return (
        f"no seed environment is registered in {roots}, so nothing could fill a refused design's block. "
        "Admit one (spade-envs admit FILE) or name others with --curriculum."
    )


def _near(name: str, held: Collection[EnvId]) -> str:
    near = ", ".join(map(str, near_ids(name, held)))
    return f"Did you mean {near}?" if near else "spade-envs list shows what there is."
