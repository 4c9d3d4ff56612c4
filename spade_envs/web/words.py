"""Values as pages write them: each name here is a filter of the templates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from markupsafe import Markup

from spade_envs.charts.sparkline import sparkline as drawn

__all__ = ["count", "day", "minute", "name_of", "plural", "rate", "sparkline", "status", "unversioned"]


def rate(value: float | None) -> str:
    """Return a number between -1 and 1."""
    if value is None:
        return "–"  # noqa: RUF001 (as text is set)
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text


def count(value: int) -> str:
    """Return a number of things."""
    return f"{value:,}"


def plural(value: int, word: str) -> str:
    """Return a number of things with their word."""
    return f"{value:,} {word}{'' if value == 1 else 's'}"


def day(at: str | None) -> str:
    """Return the day of a moment as records have it."""
    return (at or "")[:10]


def minute(at: str | None) -> str:
    """Return a moment as records have it, to the minute."""
    return (at or "")[:16].replace("T", " ")


def name_of(env_id: str) -> str:
    """Return an id as addresses have it: without the namespace, that all share."""
    return env_id.rpartition("/")[2]


def unversioned(name: str) -> str:
    """Return the name of an environment without its version."""
    return name.rpartition("-v")[0] or name


@lru_cache(maxsize=64)
def status(word: str | None) -> Markup:
    """Return where a version stands."""
    return Markup('<span class="status {}">{}</span>').format(word, (word or "not known").replace("_", " "))


def sparkline(
    values: Sequence[float | None], what: str, low: float | None = None, high: float | None = None
) -> Markup:
    """Return numbers as a small line, that is named and told to a screen reader."""
    if not values:
        return Markup()
    said = ", ".join([rate(value) for value in values if value is not None])
    return Markup(drawn(values, f"{what} lately: {said}", low=low, high=high))
