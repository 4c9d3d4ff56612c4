"""The admission report, gate by gate, whatever an old or edited one holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spade_envs.admission.report import gates_of
from spade_envs.contract.given import given
from spade_envs.contract.plain import to_json
from spade_envs.replay import Recorded
from spade_envs.web.environment.subject import Head, Subject

_ELSEWHERE = ("rules", "fingerprint", "episode", "nearest")
"""What a gate saw that stands on another page, or that nobody can read."""


@dataclass(frozen=True, slots=True)
class Found:
    """One finding of an admitted design: a warning.

    Attributes:
        number: among all findings of the report, from 1.
        line: of the source, None where there is none.
        replayed: whether the episode behind it is kept.
    """

    number: int
    rule: str
    found: str
    remedy: str
    severity: str
    line: int | None
    replayed: bool


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate.

    Attributes:
        saw: what it measured, in words.
    """

    name: str
    passed: bool
    saw: tuple[tuple[str, str], ...]
    findings: tuple[Found, ...]


@dataclass(frozen=True, slots=True)
class Admission:
    """The page.

    Attributes:
        scores: what the environment was worth when it was admitted.
        pool: whether it entered the active pool, and why not; None where the report does not say.
        facts: when, by whom, with which versions of what judged it.
    """

    head: Head
    gates: tuple[Gate, ...]
    scores: tuple[tuple[str, str], ...]
    pool: str | None
    facts: tuple[tuple[str, str], ...]


def admission(one: Subject) -> Admission:
    """Return the page."""
    report = one.entry.report
    return Admission(
        one.head,
        tuple(gates(report)),
        tuple(_pairs(given(report, "scores", dict) or {})),
        _pool(given(report, "active_pool", dict)),
        tuple(_facts(report)),
    )


def gates(report: Mapping[str, Any]) -> Iterator[Gate]:
    """Yield the gates of a report, in the order in which they were asked."""
    number = 0
    for gate in gates_of(report):
        found = [one for one in given(gate, "findings", list) or () if isinstance(one, dict)]
        saw = given(gate, "saw", dict) or {}
        kept = Recorded.read(saw.get("episode")) is not None
        findings = tuple(_finding(one, number + k, kept) for k, one in enumerate(found, 1))
        number += len(given(gate, "findings", list) or ())
        shown = {name: value for name, value in saw.items() if name not in _ELSEWHERE}
        yield Gate(text(gate.get("name")), gate.get("passed") is True, tuple(_pairs(shown)), findings)


def text(value: Any) -> str:
    """Return a value of a report in words."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return ", ".join(map(text, value))
    return "-" if value is None else to_json(value)


def _finding(one: Mapping[str, Any], number: int, kept: bool) -> Found:
    words = {name: text(one.get(name) or "") for name in ("rule", "found", "remedy", "severity")}
    return Found(number=number, line=given(one, "line", int), replayed=kept, **words)


def _pairs(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    return ((text(name), text(value)) for name, value in data.items())


def _pool(pool: Mapping[str, Any] | None) -> str | None:
    if pool is None:
        return None
    reasons = "; ".join(map(text, given(pool, "reasons", list) or ()))
    return (
        "enters the active pool" if pool.get("enters") is True else f"stays out of the active pool: {reasons}"
    )


def _facts(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, title in (
        ("admitted_at", "admitted at"),
        ("run", "run"),
        ("round", "round"),
        ("seconds", "seconds"),
    ):
        if report.get(name) is not None:
            yield title, text(report[name])
    yield from _pairs(given(report, "versions", dict) or {})
