"""Gates of others: packages offer them under the entry point group ``spade_envs.gates``.

A gate is called as ``gate(evidence, settings, sheet)`` after all of this package's own. It may refuse a design
that they let pass; it cannot let pass what they refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib.metadata import EntryPoint, entry_points

from spade_envs.admission.evidence import Evidence
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import Sheet
from spade_envs.errors import UsageError

GROUP = "spade_envs.gates"
Gate = Callable[[Evidence, Settings, Sheet], None]


def extensions(taken: Collection[str] = ()) -> tuple[tuple[str, Gate], ...]:
    """Return the gates that installed packages offer, by name.

    Args:
        taken: names that are in use already.

    Raises:
        UsageError: one of them cannot be loaded, is no function, or has the name of another gate.
    """
    found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    names = [*taken, *(point.name for point in found)]
    for point in found:
        if names.count(point.name) > 1:
            raise UsageError(
                f"{_place(point)} has the name of another gate; uninstall it, or have it renamed"
            )
    return tuple((point.name, _guarded(point, _load(point))) for point in found)


def _load(point: EntryPoint) -> Gate:
    try:
        gate = point.load()
    except Exception as error:  # importing another's code may raise anything
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(f"{_place(point)} cannot be loaded ({reason}); mend or uninstall it") from error
    if not callable(gate):
        raise UsageError(f"{_place(point)} is a {type(gate).__name__}, not a function; mend or uninstall it")
    return gate  # type: ignore[no-any-return]


def _guarded(point: EntryPoint, gate: Gate) -> Gate:
    """Return a gate that refuses where it breaks: what could not be judged is not let in."""

    def guarded(evidence: Evidence, settings: Settings, sheet: Sheet) -> None:
        try:
            gate(evidence, settings, sheet)
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            remedy = "That is no fault of the design: mend or uninstall the extension, and judge again."
            sheet.fail("extension.broken", f"{_place(point)} broke down ({reason[:200]})", remedy)

    return guarded


def _place(point: EntryPoint) -> str:
    package = f" of {point.dist.name} {point.dist.version}" if point.dist else ""
    return f"the gate {point.name!r}{package} ({point.value})"
