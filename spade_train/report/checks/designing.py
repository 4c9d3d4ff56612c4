"""Checks of what the designer writes and of what admission makes of it."""

from __future__ import annotations

from spade_train.report.checks.limits import ADMITTED, LATELY, LEAST, RUNS
from spade_train.report.checks.words import Result, percent, refusals
from spade_train.report.series import newest_designs, rate
from spade_train.report.values import Designs, RunFacts
from spade_train.report.verdict import Finding, Fine, TooLittle
from spade_train.rewards.uncertainty import Tally


def designs(run: RunFacts) -> Result:
    """Do designs compile and run?"""
    lately = newest_designs(run.rounds, LATELY)
    if lately.asked < LEAST:
        return TooLittle(f"{lately.asked} designs; {LEAST} are needed")
    share = rate(Tally(lately.ran, lately.asked))
    evidence = (
        ("compile and run", percent(share)),
        ("limit", f"{RUNS:.0%}"),
        *((name, str(count)) for name, count in lately.stages),
        *refusals(lately),
    )
    if share.high >= RUNS:
        return Fine(evidence)
    lost, tries = _lost(lately)
    return Finding(
        f"Only {share.value:.0%} of the last {lately.asked} designs compile and run; most are lost {lost}.",
        evidence,
        tries,
    )


def _lost(lately: Designs) -> tuple[str, tuple[str, ...]]:
    """Return where most designs are lost that do not run, and what to try there."""
    steps = {
        "before a source is found": lately.asked - lately.read,
        "in compiling": lately.read - lately.compiled,
        "in running": lately.compiled - lately.ran,
    }
    worst = max(steps, key=lambda name: steps[name])
    every = "read refused replies: designs.jsonl, or the run's page"
    tries = {
        "before a source is found": (
            "a larger --max_completion_length: a reply may be cut off",
            "--designer slots",
        ),
        "in compiling": (
            "--designer slots or --designer edit: a smaller task",
            "--max_repairs 2: it is told what failed",
        ),
        "in running": ("--max_repairs 2: it is told what failed", "--designer slots or --designer edit"),
    }
    return worst, (*tries[worst], every)


def gates(run: RunFacts) -> Result:
    """Do gates let through what runs?"""
    lately = newest_designs(run.rounds, LATELY)
    if lately.ran < LEAST:
        return TooLittle(f"{lately.ran} designs that run; {LEAST} are needed")
    share = rate(Tally(lately.admitted, lately.ran))
    rules = refusals(lately)
    evidence = (("admitted of those that run", percent(share)), ("limit", f"{ADMITTED:.0%}"), *rules)
    if share.high >= ADMITTED:
        return Fine(evidence)
    most = rules[0][0].removeprefix("refused by ") if rules else "no rule on record"
    return Finding(
        f"Only {share.value:.0%} of the last {lately.ran} designs that run are admitted; {most} refuses most.",
        evidence,
        (
            f"read three designs that {most} refused: is the design wrong, or the limit?",
            "where designs are wrong, tell the designer: --memory, --max_repairs 2, another --designer",
            "where the limit is, see the reference of gates",
        ),
    )
