"""The gate on novelty: nothing that stands in a registry again, and nothing like what is held out.

The lines lie where measuring put them (docs/novelty.md): designs that were written apart from each other share
at most about a fifth of their syntax tree and a tenth of their rules; copies under other names share nearly all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from spade_envs.admission.evidence import Evidence
from spade_envs.admission.fingerprint import LEVELS, STREAMS, Fingerprint, no_streams, of_source, with_streams
from spade_envs.admission.likeness import Likeness, differs, likeness
from spade_envs.admission.neighbours import Neighbour
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import Sheet
from spade_envs.contract.header import Header, code_sha256
from spade_envs.contract.ids import EnvId

NAMED = 3  # near duplicates that a finding or the report names


def novelty(evidence: Evidence, settings: Settings, sheet: Sheet) -> None:
    """A design is unlike every other, or a variant that names its source and behaves differently."""
    own = fingerprint(evidence)
    others = [other for other in evidence.around.neighbours if not _itself(evidence, other)]
    alike = likeness(own, [other.fingerprint for other in others])
    order = np.argsort(-alike.overall, kind="stable")[:NAMED]
    nearest = float(alike.overall.max(initial=0.0))
    sheet.saw |= {"compared with": len(others), "distance": round(1 - nearest, 3)}
    sheet.saw |= {"nearest": [_shown(others[k], alike, k) for k in order]}
    sheet.saw |= {"fingerprint": own.as_dict()}
    near = np.flatnonzero(_near(alike, settings)).tolist()
    for k in sorted(near, key=lambda k: -alike.overall[k])[:NAMED]:
        _judge(evidence, own, others[k], _percent(alike, k), sheet)


def came_since(
    header: Header, seen: Fingerprint, others: Sequence[Neighbour], settings: Settings
) -> Neighbour | None:
    """Return the first near duplicate among versions that were added while a design was judged.

    What behaves differently cannot be told any more, so only what the design names as its source may be near.
    """
    alike = likeness(seen, [other.fingerprint for other in others])
    near = (others[k] for k in np.flatnonzero(_near(alike, settings)).tolist())
    return next((other for other in near if not _names(header, other, others)), None)


def fingerprint(evidence: Evidence) -> Fingerprint:
    """Return the fingerprint of a design that was played."""
    streams = no_streams()
    for place, level in enumerate(evidence.levels[:LEVELS]):
        for k, course in enumerate(evidence.courses.get(level, ())):
            streams[:, place * STREAMS + k] = course.whole, course.bare
    success, steps = {}, {}
    for level in evidence.levels:
        random, experts = evidence.by("uniform", level), evidence.by("expert", level)
        success[str(level)] = (sum(e.success for e in random), len(random))
        steps[str(level)] = tuple(len(e.actions) for e in experts)
    static = of_source(evidence.source)
    return replace(with_streams(static, streams), success=success, steps=steps)


def _near(alike: Likeness, settings: Settings) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return (
        (alike.tree >= settings.near_tree)
        | (alike.contained >= settings.near_contained)
        | (alike.text >= settings.near_text)
        | (alike.behaviour >= settings.near_behaviour)
    )


def _itself(evidence: Evidence, other: Neighbour) -> bool:
    """Whether this is the very version: a person checks a file that stands in the registry or is held out."""
    header = evidence.header
    same = code_sha256(evidence.source) == other.code_sha256 and _name(other.id) == header.id.name
    return same and (header.origin == "seed" or not other.held_out)


def _judge(evidence: Evidence, own: Fingerprint, other: Neighbour, shares: str, sheet: Sheet) -> None:
    """Refuse a near duplicate, unless it is a variant or a person's revision of his own."""
    if other.held_out:
        found = f"it is like {other.id}, which is held out for evaluation ({shares})"
        sheet.fail("novelty.held-out", found, "Write another environment; no variant of this one is taken.")
        return
    if evidence.header.origin == "seed" and evidence.header.id.name == _name(other.id):
        return
    parted = differs(own, other.fingerprint)
    if _names(evidence.header, other, evidence.around.neighbours) and parted:
        sheet.saw.setdefault("variant of", f"{other.id}: {parted}")
        return
    found = f"it is a near duplicate of {other.id} ({shares})" + (f", though {parted}" if parted else "")
    remedy = f"Write another environment, or make this one a variant: {_missing(other, parted)}."
    sheet.fail("novelty.near-duplicate", found, remedy)


def _missing(other: Neighbour, parted: str | None) -> str:
    if parted:
        return f"set `parent` to {other.id}"
    if not other.fingerprint.played:
        return (
            f"for that, {other.id} must be admitted anew, since its report holds no episodes to compare with"
        )
    return "let the same actions lead to other numbers or ends"


def _names(header: Header, other: Neighbour, known: Sequence[Neighbour]) -> bool:
    """Whether the design names this one as its source: an earlier version of it, or one of a line with its parent."""
    parents = {_name(one.id): _name(one.parent) for one in (*known, other) if one.parent}
    own = {header.id.name} | _line(header.parent.name if header.parent else None, parents)
    return not own.isdisjoint(_line(_name(other.id), parents))


def _line(name: str | None, parents: Mapping[str, str]) -> set[str]:
    """Return a name with those that it stems from, its parent's parent and so on."""
    line: set[str] = set()
    while name is not None and name not in line:
        line.add(name)
        name = parents.get(name)
    return line


def _name(env_id: str) -> str:
    parsed = EnvId.parse(env_id)
    return parsed.name if isinstance(parsed, EnvId) else env_id


def _shown(other: Neighbour, alike: Likeness, k: int) -> dict[str, Any]:
    shares = {
        "tree": alike.tree,
        "contained": alike.contained,
        "text": alike.text,
        "behaviour": alike.behaviour,
    }
    return {"id": other.id, **{name: round(float(share[k]), 3) for name, share in shares.items()}}


def _percent(alike: Likeness, k: int) -> str:
    """Return in words what two designs share."""
    parts = {"of the syntax tree": alike.tree, "of the rules": alike.text, "of the episodes": alike.behaviour}
    contained = f", {alike.contained[k]:.0%} of the smaller one's tree"
    return ", ".join(f"{share[k]:.0%} {what}" for what, share in parts.items()) + contained
