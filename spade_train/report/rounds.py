"""One round of a run as a value: its line, if it is done, with what its plays and designs came to. Pure functions."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping
from statistics import fmean
from typing import Any

from spade_train.report.gathering import Key, Line, Plays
from spade_train.report.values import Designs, Evaluated, Played, RoundFacts
from spade_train.rewards.uncertainty import NONE, Estimate, Tally


def going(number: int, designs: Designs, plays: Plays) -> RoundFacts:
    """Return a round that has no line of its own yet: it goes on, or was cut off."""
    played = [_played(key, (), plays) for key in sorted({*plays.plain, *plays.hinted})]
    return RoundFacts(
        number,
        finished=False,
        designs=designs,
        played=tuple(played),
        signal=plays.signal,
        invalid=plays.invalid,
        recovered=plays.recovered,
    )


def finished(line: Line, designs: Designs, plays: Plays) -> RoundFacts:
    """Return a round that is done. What the line holds of another kind than it should is left out."""
    ends: dict[str, int] = {}
    for one in _environments(line):
        for end, count in _numbers(one.get("ends")).items():
            ends[end] = ends.get(end, 0) + int(count)
    return RoundFacts(
        int(line["round"]),
        designs=designs if designs.asked else _told(line),
        played=_all_played(_environments(line), plays, line["admitted"]),
        admitted=tuple(str(env_id) for env_id in line["admitted"]),
        regret=number(line.get("regret")),
        regret_error=number(line.get("regret_error")),
        agent_reward=number(line.get("agent_reward")),
        designer_reward=number(line.get("designer_reward")),
        loss=number(line.get("loss")),
        grad_norm=number(line.get("grad_norm")),
        entropy=number(line.get("entropy")),
        signal=plays.signal,
        ideas=number(_part(line, "diversity").get("effective_ideas")) if line.get("designs") else None,
        ends=ends,
        invalid=plays.invalid,
        recovered=plays.recovered,
        seconds=_numbers(line.get("seconds")),
        alarms=tuple(str(one) for one in _list(line.get("alarms"))),
        skipped=str(line["skipped"]) if line.get("skipped") else None,
    )


def evaluated(line: Line) -> Evaluated:
    """Return a line of ``evaluations.jsonl``."""
    suite, rounds = str(line["suite"]), int(line["round"])
    if "skipped" in line:
        return Evaluated(suite, rounds, skipped=str(line["skipped"]))
    lost = tuple(str(one["env_id"]) for one in line.get("forgotten") or ())
    names = {str(name).rpartition(" #")[0] for name in line.get("items") or ()}
    score, gain = estimate(line["figures"].get("avg_k")), estimate(line.get("gain"))
    return Evaluated(
        suite, rounds, score, gain if rounds else None, lost, len(names) if suite == "history" else 0
    )


def asked_for(result: Mapping[str, Any]) -> list[Evaluated]:
    """Return the suites of one ``spade-train eval``."""
    found = [Evaluated(str(one["name"]), None, skipped=str(one["why"])) for one in result["skipped"]]
    for one in result["suites"]:
        lost = tuple(str(each["env_id"]) for each in one["kept"] if each["forgotten"])
        score, gain = estimate(one["figures"].get("avg_k")), estimate(one.get("gain"))
        found.append(Evaluated(str(one["suite"]), None, score, gain, lost, len(one["kept"])))
    return found


def estimate(data: Any) -> Estimate | None:
    """Return a figure with its interval; None of nothing."""
    return Estimate(float(data["value"]), float(data["low"]), float(data["high"])) if data else None


def number(value: Any) -> float | None:
    """Return a number; None of anything else, and of one that no float holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    with contextlib.suppress(OverflowError):
        return float(value)
    return None


def _all_played(environments: Iterable[Line], plays: Plays, new: Collection[Any]) -> tuple[Played, ...]:
    """Return one entry for each environment and level; blocks of the same one are joined."""
    blocks: dict[Key, list[Line]] = {}
    for one in environments:
        blocks.setdefault((str(one.get("env_id")), int(number(one.get("level")) or 1)), []).append(one)
    return tuple(_played(key, lines, plays, key[0] not in new) for key, lines in blocks.items())


def _played(key: Key, lines: Iterable[Line], plays: Plays, chosen: bool = False) -> Played:
    known = list(lines)
    regrets = [mean for one in known if (mean := number(_part(one, "regret").get("mean"))) is not None]
    reasons = [str(one["why"]) for one in known if one.get("why")]
    return Played(
        *key,
        chosen=chosen,
        why=reasons[0] if reasons else "",
        plain=plays.plain.get(key) or _tally(known, "success"),
        hinted=plays.hinted.get(key) or _tally(known, "hinted_success"),
        regret=fmean(regrets) if regrets else None,
    )


def _tally(blocks: Iterable[Line], rate: str) -> Tally:
    """Return plays of which the round's line alone tells: a rate, and how many ended, half of them hinted."""
    wins = total = 0
    for one in blocks:
        value, ends = number(one.get(rate)), _numbers(one.get("ends"))
        count = (sum(ends.values()) - ends.get("fault", 0)) // 2
        if value is not None and count:
            wins, total = wins + round(value * count), total + int(count)
    return Tally(min(wins, total), total) if total else NONE


def _told(line: Line) -> Designs:
    """Return the designs as the round's line tells of them, where their own lines are gone."""
    asked, compiled = (int(number(line.get(name)) or 0) for name in ("designs", "compiled"))
    admitted = len(line["admitted"])
    return Designs(asked, compiled, compiled, max(compiled, admitted), admitted)


def _environments(line: Line) -> list[Line]:
    return [one for one in _list(line.get("environments")) if isinstance(one, dict)]


def _part(line: Line, name: str) -> Line:
    part = line.get(name)
    return part if isinstance(part, dict) else {}


def _numbers(value: Any) -> dict[str, float]:
    found = value.items() if isinstance(value, dict) else ()
    return {str(name): known for name, each in found if (known := number(each)) is not None}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
