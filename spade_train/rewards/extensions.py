"""Designer rewards of others: packages offer them under the entry point group ``spade_train.rewards``.

A term is called as ``term(measures)`` with :class:`spade_train.rewards.designer.Measures` and returns a number;
what lies outside [-1, 1] is cut, so that no term can drown the others or the penalties.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points

from spade_envs.errors import UsageError
from spade_train.rewards.designer import REWARDS, DesignerReward, Measures

GROUP = "spade_train.rewards"


def all_terms(wanted: Iterable[str]) -> dict[str, DesignerReward]:
    """Return this package's terms and, of the other packages', those that are wanted; only these are imported.

    Raises:
        UsageError: one of them cannot be loaded or is no function, or two rewards have the same name.
    """
    found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    names = [*REWARDS, *(point.name for point in found)]
    for point in found:
        if names.count(point.name) > 1:
            raise UsageError(
                f"{_place(point)} has the name of another reward; uninstall it, or have it renamed"
            )
    asked = set(wanted)
    return REWARDS | {point.name: _guarded(point, _load(point)) for point in found if point.name in asked}


def _load(point: EntryPoint) -> DesignerReward:
    try:
        term = point.load()
    except Exception as error:  # importing another's code may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(f"{_place(point)} cannot be loaded ({reason}); mend or uninstall it") from error
    if not callable(term):
        raise UsageError(f"{_place(point)} is a {type(term).__name__}, not a function; mend or uninstall it")
    return term  # type: ignore[no-any-return]


def _guarded(point: EntryPoint, term: DesignerReward) -> DesignerReward:
    """Return a term that stops the run where it breaks: a made-up number would be trained on in silence."""

    def guarded(measures: Measures) -> float:
        mend = "mend or uninstall it, or take it out of the designer's rewards, and resume"
        try:
            value = float(term(measures))
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            raise UsageError(f"{_place(point)} broke down ({reason[:200]}); {mend}") from error
        if not math.isfinite(value):
            raise UsageError(f"{_place(point)} returned {value}, not a finite number; {mend}")
        return max(-1.0, min(1.0, value))

    return guarded


def _place(point: EntryPoint) -> str:
    package = f" of {point.dist.name} {point.dist.version}" if point.dist else ""
    return f"the designer reward {point.name!r}{package} ({point.value})"
