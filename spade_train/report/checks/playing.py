"""Checks of what is played: how hard it is, whether hints help, and whether the curriculum chooses what is new."""

from __future__ import annotations

from collections.abc import Sequence

from spade_train.report.checks.limits import (
    EASY,
    EXTREME,
    HARD,
    HINTED,
    LEAST,
    ONE_SIDED,
    PAID,
    PLAYS,
    ROUNDS,
    SEEN,
    STALE,
    UNREAD,
)
from spade_train.report.checks.words import Result, percent
from spade_train.report.series import hint_gain, newest_played, rate
from spade_train.report.values import Played, RunFacts
from spade_train.report.verdict import Finding, Fine, TooLittle
from spade_train.rewards.uncertainty import Estimate, Tally, total


def difficulty(run: RunFacts) -> Result:
    """Is what is played neither trivial nor out of reach?"""
    lately = newest_played(run.rounds, SEEN, PLAYS)
    if len(lately) < LEAST:
        return TooLittle(f"{len(lately)} environments with {PLAYS} plays in a round; {LEAST} are needed")
    easy = [one for one in lately if one.plain.rate >= EASY]
    hard = [one for one in lately if one.plain.rate <= HARD]
    extreme = rate(Tally(len(easy) + len(hard), len(lately)))
    unread = total(one.invalid for one in run.rounds[-ROUNDS:])
    evidence = (
        ("at the extremes", percent(extreme)),
        ("limit", f"{EXTREME:.0%}"),
        (f"success of {EASY:.0%} or more", f"{len(easy)} of {len(lately)}"),
        (f"success of {HARD:.0%} or less", f"{len(hard)} of {len(lately)}"),
        ("success of those with the hint", percent(_hinted(hard)) if hard else "-"),
        *((("plays with an unreadable turn", percent(rate(unread))),) if unread.plays else ()),
    )
    if extreme.low <= EXTREME:
        return Fine(evidence)
    count, found, tries = _which(easy, hard)
    return Finding(
        f"{count} of the last {len(lately)} groups of plays {found}: a group whose plays all end alike teaches "
        "nothing.",
        evidence,
        (*tries, *(_FORMAT if hard and rate(unread).low > UNREAD else ())),
    )


def _which(easy: Sequence[Played], hard: Sequence[Played]) -> tuple[int, str, tuple[str, ...]]:
    """Say how many lie at the extreme where most lies, which that is, and what to try there."""
    both = len(easy) + len(hard)
    if len(easy) >= ONE_SIDED * both:
        return len(easy), "were won nearly always", _EASIER
    if len(hard) >= ONE_SIDED * both:
        return len(hard), "were hardly ever won", _harder(hard)
    return both, "were won nearly always or hardly ever", (_DRAWS, *_harder(hard), *_EASIER)


_DRAWS = "--prioritised true: draws by what can be learned"
_EASIER = (
    "--levels true, and a lower --mastered_above: what is mastered makes room",
    "--memory: the designer is told what the agent can do",
)


_FORMAT = ("--warm_up_steps or --format_reward: many turns cannot be read, and such plays are lost, too",)


def _harder(hard: Sequence[Played]) -> tuple[str, ...]:
    if _hinted(hard).low > HARD:
        return (
            "the hint helps there: a larger --num_generations, so that some plays of a group are won",
            "--warm_up_steps: experts' episodes first",
        )
    return (
        "not even the hint helps there: an easier --curriculum and templates, or a larger model",
        "--too_hard_below and --too_hard_rounds: what cannot be won is set aside sooner",
        "a higher --turn_tokens or --max_completion_length, if plays end for want of tokens",
    )


def _hinted(played: Sequence[Played]) -> Estimate:
    return rate(total(one.hinted for one in played))


def regret(run: RunFacts) -> Result:
    """Does the hint help, so that there is regret to pay the designer by?"""
    lately = [one for one in newest_played(run.rounds, HINTED, PLAYS) if one.hinted.plays]
    gain = hint_gain(lately)
    if len(lately) < LEAST or gain is None:
        return TooLittle(f"{len(lately)} environments with {PLAYS} plays and hinted ones; {LEAST} are needed")
    lost = [one for one in lately if one.plain.rate <= HARD and one.hinted.rate <= HARD]
    evidence = (
        ("gain by the hint", gain.text(sign=True)),
        ("limit", f"{PAID:+.2f}"),
        ("hardly ever won, with it or without", f"{len(lost)} of {len(lately)}"),
    )
    if gain.low > 0:
        return Fine(evidence)
    if gain.high >= PAID:
        return TooLittle(
            f"the hint raises success by {gain.text(sign=True)}: more plays would tell whether it does"
        )
    return Finding(
        f"The hint does not help: in {len(lately)} environments it has changed success by {gain.text(sign=True)}, so "
        "the designer is paid for chance.",
        evidence,
        (
            "read episodes with the hint, below: does it say what to do, and does the agent do it?",
            "--hints reader: the model writes them on reading the source",
            "easier environments, if most are hardly ever won: --curriculum, --levels true",
            "--designer_reward solve_rate or learning_potential, which ask for no hint",
        ),
    )


def curriculum(run: RunFacts) -> Result:
    """Does the curriculum choose what is new?"""
    done, born = run.done, run.born
    if len(done) < ROUNDS:
        return TooLittle(f"{len(done)} rounds; {ROUNDS} are needed")
    third = len(done) // 3
    early, late = done[third].number, done[-third:]
    pool = [at for at in born.values() if at < late[0].number]
    new = sum(at >= early for at in pool)
    chosen = [born.get(one.env_id, -1) >= early for each in late for one in each.played if one.chosen]
    if new < 4 or len(chosen) < LEAST:
        return TooLittle(
            f"{new} environments of later rounds and {len(chosen)} choices; 4 and {LEAST} are needed"
        )
    fresh, uniform = rate(Tally(sum(chosen), len(chosen))), new / len(pool)
    evidence = (
        ("chosen that are newer", percent(fresh)),
        ("share of newer ones in the pool", f"{uniform:.0%}"),
        ("newer environments", str(new)),
    )
    if fresh.high >= STALE * uniform:
        return Fine(evidence)
    return Finding(
        f"What the curriculum chooses is old: {fresh.value:.0%} of its last {len(chosen)} choices are of the last two "
        f"thirds of the run, which made {uniform:.0%} of the pool.",
        evidence,
        (
            "--replay true: the run's own environments are played again",
            "--prioritised true, and a smaller --reference_share and --replay_share",
            "where newer ones stand as too hard or mastered (spade-envs list --status), mend that first",
        ),
    )
