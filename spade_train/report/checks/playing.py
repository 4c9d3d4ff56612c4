"""Checks of what is played: how hard it is, and whether the curriculum chooses what is new."""

from __future__ import annotations

from collections.abc import Sequence

from spade_train.report.checks.limits import EASY, EITHER, EXTREME, HARD, LATELY, LEAST, PLAYS, ROUNDS, STALE
from spade_train.report.checks.words import Result, percent
from spade_train.report.series import newest_played, rate
from spade_train.report.values import Played, RunFacts
from spade_train.report.verdict import Finding, TooLittle
from spade_train.rewards.uncertainty import Estimate, Tally, total


def difficulty(run: RunFacts) -> Result:
    """Is what is played neither trivial nor out of reach?"""
    lately = newest_played(run.rounds, LATELY, PLAYS)
    if len(lately) < LEAST:
        return TooLittle(f"{len(lately)} environments with {PLAYS} plays in a round; {LEAST} are needed")
    easy = rate(Tally(sum(one.plain.rate >= EASY for one in lately), len(lately)))
    hard = rate(Tally(sum(one.plain.rate <= HARD for one in lately), len(lately)))
    either = rate(Tally(sum(not HARD < one.plain.rate < EASY for one in lately), len(lately)))
    evidence = (
        (f"success of {EASY:.0%} or more", percent(easy)),
        (f"success of {HARD:.0%} or less", percent(hard)),
        ("success with the hint", percent(_hinted(lately))),
        ("environments in rounds", str(len(lately))),
    )
    if easy.low > EXTREME:
        return Finding("Most of what is played is won nearly always: it teaches nothing.", evidence, _EASIER)
    if hard.low > EXTREME:
        return Finding(
            "Most of what is played is hardly ever won: it teaches nothing.", evidence, _harder(lately)
        )
    if either.low > EITHER:
        return Finding(
            "What is played is won nearly always or hardly ever, with little between.",
            evidence,
            ("--prioritised true: draws by what can be learned", *_EASIER, *_harder(lately)),
        )
    return None


_EASIER = (
    "--levels true, and a lower --mastered_above: what is mastered makes room",
    "--memory: the designer is told what the agent can do",
)


def _harder(lately: Sequence[Played]) -> tuple[str, ...]:
    if _hinted(lately).low > HARD:
        return (
            "the hint helps: a larger --num_generations, so that some plays of a group are won",
            "--warm_up_steps: experts' episodes first",
        )
    return (
        "not even the hint helps: an easier --curriculum and templates, or a larger model",
        "--too_hard_below and --too_hard_rounds: what cannot be won is set aside sooner",
        "a higher --turn_tokens or --max_completion_length, if plays end for want of tokens",
    )


def _hinted(lately: Sequence[Played]) -> Estimate:
    return rate(total(one.hinted for one in lately))


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
    if fresh.high >= STALE * uniform:
        return None
    return Finding(
        f"What the curriculum chooses is old: {fresh.value:.0%} of its last {len(chosen)} choices are of the last two "
        f"thirds of the run, which made {uniform:.0%} of the pool.",
        (
            ("chosen that are newer", percent(fresh)),
            ("share of newer ones in the pool", f"{uniform:.0%}"),
            ("newer environments", str(new)),
        ),
        (
            "--replay true: the run's own environments are played again",
            "--prioritised true, and a smaller --reference_share and --replay_share",
            "where newer ones stand as too hard or mastered (spade-envs list --status), mend that first",
        ),
    )
