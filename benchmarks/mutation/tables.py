"""The tables in which outcomes are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from mutation.outcomes import Outcome
from spade_envs.admission.judging import STAGES

GATES = tuple(name for name, *_ in STAGES)


def summary(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """Return all figures as JSON-ready data."""
    by = {
        group: [o for o in outcomes if o.group == group] for group in ("honest", "flawed", "proved", "review")
    }
    broken = by["proved"] + by["flawed"]
    refused = [o for o in broken if not o.admitted]
    return {
        "honest admitted": _count(o.admitted for o in by["honest"]),
        "proved mutants refused": _count(not o.admitted for o in by["proved"]),
        "flawed designs refused": _count(not o.admitted for o in by["flawed"]),
        "refused for their own reason": _count(o.own_reason for o in refused),
        "only warned of": sum(o.only_warned for o in broken),
        "left to the review": len(by["review"]),
        "of these refused": sum(not o.admitted for o in by["review"]),
        "discarded": sum(o.group == "nothing" for o in outcomes),
        "gates": gates(broken),
        "seconds": seconds([o for o in outcomes if o.group == "honest"]),
        "operators": operators(by["proved"]),
        "misses": [miss(o) for o in broken if o.admitted or not o.own_reason],
        "honest refused": [miss(o) for o in by["honest"] if not o.admitted],
    }


def _count(found: Iterable[bool]) -> list[int]:
    verdicts = list(found)
    return [sum(verdicts), len(verdicts)]


def gates(broken: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """Return for each gate how many it refuses first, and how many it alone refuses."""
    first = Counter(o.gates[0] for o in broken if o.gates)
    alone = Counter(o.gates[0] for o in broken if len(o.gates) == 1)
    names = [*GATES, *(name for name in first if name not in GATES)]
    return {name: {"first": first[name], "alone": alone[name]} for name in names}


def seconds(honest: Sequence[Outcome]) -> dict[str, float]:
    """Return the time that an honest design takes, through all gates."""
    cpu, wall = sorted(o.cpu_s for o in honest), sorted(o.wall_s for o in honest)
    if not honest:
        return {}
    middle = len(honest) // 2
    figures = {
        "cpu median": cpu[middle],
        "cpu most": cpu[-1],
        "wall median": wall[middle],
        "wall most": wall[-1],
    }
    return {name: round(value, 2) for name, value in figures.items()}


def operators(proved: Sequence[Outcome]) -> dict[str, list[int]]:
    """Return for each operator how many mutants were proved, refused, and refused for their own reason."""
    table: dict[str, list[int]] = {}
    for o in proved:
        row = table.setdefault(f"{o.family}: {o.kind}", [0, 0, 0])
        for at, count in enumerate((1, not o.admitted, o.own_reason)):
            row[at] += count
    return table


def miss(outcome: Outcome) -> dict[str, Any]:
    """Return what is worth knowing of a verdict that is not the wanted one."""
    verdict = f"refused: {', '.join(outcome.rules)}" if outcome.rules else "admitted"
    verdict += f", warned: {', '.join(outcome.warnings)}" if outcome.admitted and outcome.warnings else ""
    return {
        "name": outcome.name,
        "verdict": verdict,
        "known": outcome.known,
        "reasons": list(outcome.reasons),
    }


def text(figures: dict[str, Any]) -> str:
    """Return the figures as people read them."""
    lines = []
    for name in (
        "honest admitted",
        "proved mutants refused",
        "flawed designs refused",
        "refused for their own reason",
    ):
        good, of = figures[name]
        lines.append(f"{name}: {good}/{of}" + (f" ({good / of:.1%})" if of else ""))
    lines.append(f"broken, admitted with a warning for their own reason: {figures['only warned of']}")
    lines.append(
        f"only rules and code disagree (the review's work): {figures['left to the review']},"
        f" of which gates refuse {figures['of these refused']}; mutants that prove nothing: {figures['discarded']}"
    )
    lines += ["", f"{'gate':14}{'refuses first':>15}{'it alone':>10}"]
    lines += [f"{name:14}{row['first']:15}{row['alone']:10}" for name, row in figures["gates"].items()]
    lines += ["", f"{'operator':58}{'proved':>8}{'refused':>9}{'own reason':>12}"]
    lines += [f"{name:58}{a:8}{b:9}{c:12}" for name, (a, b, c) in figures["operators"].items()]
    for title in ("honest refused", "misses"):
        lines += ["", f"{title}:" if figures[title] else f"{title}: none"]
        lines += [f"  {m['name']}: {m['verdict']}\n    {m['known'][:220]}" for m in figures[title]]
    return "\n".join([*lines, "", f"seconds of an honest design: {figures['seconds']}"])
