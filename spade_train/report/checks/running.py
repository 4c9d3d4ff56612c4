"""Checks of the run itself: whether it is played whole, and whether its watch is silent."""

from __future__ import annotations

from spade_train.report.checks.limits import CUT, FAULTS
from spade_train.report.checks.words import Result, percent
from spade_train.report.series import rate
from spade_train.report.values import RunFacts
from spade_train.report.verdict import Finding, Fine, TooLittle
from spade_train.rewards.uncertainty import Tally


def machine(run: RunFacts) -> Result:
    """Are rounds played whole?"""
    if not run.rounds:
        return TooLittle("no rounds")
    skipped = [one for one in run.rounds if one.skipped]
    ends = {end: sum(one.ends.get(end, 0) for one in run.rounds) for end in ("fault", "context")}
    plays = sum(sum(one.ends.values()) for one in run.rounds)
    cut, faults = (rate(Tally(ends[name], plays)) for name in ("context", "fault"))
    evidence = (
        ("skipped rounds", str(len(skipped))),
        ("plays that ran out of tokens", percent(cut)),
        ("plays that a fault ended", percent(faults)),
    )
    wrong = {
        f"{len(skipped)} rounds were skipped": len(skipped) >= 2,
        f"{faults.value:.0%} of the plays ended by a fault": faults.low > FAULTS,
        f"{cut.value:.0%} of the plays ran out of tokens": cut.low > CUT,
    }
    if not any(wrong.values()):
        return Fine(evidence)
    return Finding(
        f"Not all is played to its end: {', '.join(words for words, found in wrong.items() if found)}.",
        evidence,
        (
            "skipped rounds: faults.jsonl says why",
            "out of tokens: a larger --max_completion_length, or a smaller --turn_tokens",
            "faults: spade-envs verify, and fewer processes beside the run",
        ),
        "look",
    )


def watch(run: RunFacts) -> Result:
    """Is the watch over the designer silent?"""
    if not run.rounds:
        return TooLittle("no rounds")
    said = [alarm for one in run.rounds[-10:] for alarm in one.alarms]
    if not said:
        return Fine()
    kinds = sorted({alarm.partition(":")[0].partition(" ")[0] for alarm in said})
    return Finding(
        f"The watch has spoken {len(said)} times in the last ten rounds: {', '.join(kinds)}.",
        tuple((f"alarm {at}", alarm) for at, alarm in enumerate(said[-5:], 1)),
        ("the explanation of regret says what each alarm means, and what follows from it",),
        "look",
    )
