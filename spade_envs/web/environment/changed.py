"""What changed from one version to another, line by line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from spade_envs.contract.ids import NAMESPACE
from spade_envs.registry.differing import Difference, before, difference
from spade_envs.registry.stack import Stack, find
from spade_envs.web.environment.subject import Head, Subject

SHOWN = 1_000
"""How many lines the page has; its JSON has all."""
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a diff.

    Attributes:
        old, new: its number in either version, None where it is in the other alone.
    """

    kind: Literal["kept", "added", "removed", "gap"]
    old: int | None
    new: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Changed:
    """The page.

    Attributes:
        difference: None where nothing came before the version.
    """

    head: Head
    difference: Difference | None

    @property
    def lines(self) -> tuple[Line, ...]:
        """The lines that are shown."""
        return tuple(lines(self.difference.lines[: SHOWN + 2])) if self.difference else ()

    @property
    def hidden(self) -> int:
        """How many lines are not."""
        return max(0, len(self.difference.lines) - SHOWN - 2) if self.difference else 0

    def as_dict(self) -> dict[str, Any]:
        """Return the page as JSON-ready data, as ``spade-envs diff`` prints it."""
        one = self.difference
        if one is None:
            return {"from": None, "to": self.head.id, "only_header": False, "diff": ""}
        return {"from": one.old, "to": one.new, "only_header": one.only_header, "diff": "\n".join(one.lines)}


def changed(one: Subject, other: str | None, stack: Stack) -> Changed:
    """Return the page.

    Args:
        one: the later version.
        other: the earlier one, as addresses have it; its parent or the version before it where missing.
        stack: where it lies.

    Raises:
        UnknownEnvironment: no registry holds the earlier one.
    """
    if not other:
        earlier = before(one.entry, stack)
        return Changed(one.head, difference(earlier, one.entry) if earlier else None)
    registry, env_id = find(f"{NAMESPACE}/{other.removeprefix(f'{NAMESPACE}/')}", stack)
    return Changed(one.head, difference(registry.entry(env_id), one.entry))


def lines(diff: tuple[str, ...]) -> Iterator[Line]:
    """Yield the lines of a unified diff with their numbers, without its two first."""
    old = new = 0
    for text in diff[2:]:
        if hunk := _HUNK.match(text):
            old, new = int(hunk[1]), int(hunk[2])
            yield Line("gap", None, None, f"from line {new}")
        elif text.startswith("-"):
            yield Line("removed", old, None, text[1:])
            old += 1
        elif text.startswith("+"):
            yield Line("added", None, new, text[1:])
            new += 1
        else:
            yield Line("kept", old, new, text[1:])
            old, new = old + 1, new + 1
