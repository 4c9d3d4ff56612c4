"""Checks of what is learned: on what is played again, on what was held out, and of what was learned before."""

from __future__ import annotations

from collections.abc import Sequence

from spade_train.monitors import Limits
from spade_train.report.checks.limits import CHANCE, FLAT, LATELY, LEAST, ROUNDS, SIGNAL
from spade_train.report.checks.words import Result, last_known, percent
from spade_train.report.series import last_of_each, newest_signal, rate, rise
from spade_train.report.values import RoundFacts, RunFacts
from spade_train.report.verdict import Finding, Fine, TooLittle
from spade_train.rewards.uncertainty import p_at_least


def agent(run: RunFacts) -> Result:
    """Does the agent get better at what it plays again?"""
    done = run.done
    signal = newest_signal(done, LATELY)
    if signal.plays >= LEAST and rate(signal).high < SIGNAL:
        return Finding(
            f"Rewards differ in only {signal.wins} of the agent's last {signal.plays} blocks, and GRPO learns from "
            "differences.",
            (
                ("blocks that differ", percent(rate(signal))),
                ("limit", f"{SIGNAL:.0%}"),
                *last_known("entropy", [one.entropy for one in done]),
            ),
            (
                *_where_sure(done),
                "a larger --num_generations",
                "a higher --temperature, if replies are all the same (entropy below)",
                "--format_reward or --efficiency_reward: smaller differences count, too",
            ),
        )
    if len(done) < ROUNDS:
        return TooLittle(f"{len(done)} rounds; {ROUNDS} are needed")
    risen = rise(done)
    if risen is None:
        return TooLittle("nothing was played again that was not mastered from the beginning")
    change, environments = risen
    evidence = (
        ("change of success", change.text(sign=True)),
        ("limit", f"{FLAT:+.2f}"),
        ("environments that were played again", str(environments)),
        ("blocks that differ", percent(rate(signal))),
        *last_known("entropy", [one.entropy for one in done]),
        *last_known("gradient's norm", [one.grad_norm for one in done]),
    )
    if change.low > 0:
        return Fine(evidence)
    if change.high >= FLAT:
        return TooLittle(
            f"success has changed by {change.text(sign=True)}: more plays would tell whether it rises"
        )
    return Finding(
        f"The agent does not get better: success in {environments} environments that were played again has changed "
        f"by {change.text(sign=True)}.",
        evidence,
        (
            "a higher --learning_rate, if the gradient's norm is small and success steady",
            "a lower one, if success jumps up and down",
            "a smaller --upper_layers trains less; 0 trains all",
            "more plays of each environment: a larger --num_generations, or fewer environments",
        ),
    )


def _where_sure(done: Sequence[RoundFacts]) -> tuple[str, ...]:
    """What to try where the agent has come to say the same always, though it did not at first."""
    known = [one.entropy for one in done if one.entropy is not None]
    if known and known[-1] < Limits().entropy <= known[0]:
        return (
            f"spade-train rollback and a lower --learning_rate: entropy fell from {known[0]:.2g} to {known[-1]:.2g}",
        )
    return ()


def held_out(run: RunFacts) -> Result:
    """Does what was held out hold, as the pool rises?"""
    last = {name: one for name, one in last_of_each(run).items() if name != "history" and one.gain}
    if not last:
        return TooLittle(
            "no evaluation that compares with a beginning: --evaluate_rounds, or spade-train eval RUN"
        )
    fallen = [one for one in last.values() if one.gain is not None and one.gain.high < 0]
    if not fallen:
        return Fine(
            tuple((f"{one.suite}: gain", one.gain.text(sign=True)) for one in last.values() if one.gain)
        )
    risen = rise(run.done)
    rises = risen is not None and risen[0].low > 0
    while_ = (
        "while the pool rises: the agent learns its pool and loses the rest"
        if rises
        else "and no rise of the pool is seen"
    )
    names = ", ".join(one.suite for one in fallen)
    return Finding(
        f"Held-out success falls ({names}) {while_}.",
        (
            *((f"{one.suite}: gain", one.gain.text(sign=True)) for one in fallen if one.gain is not None),
            *((("change of the pool", risen[0].text(sign=True)),) if risen else ()),
        ),
        (
            "an earlier checkpoint: spade-train rollback",
            "a larger pool and more domains: --designer_every 1, --use_corpus",
            "a lower --learning_rate, or --beta: it stays nearer to where it began",
        ),
    )


def forgetting(run: RunFacts) -> Result:
    """Is what was learned still known?"""
    last = last_of_each(run).get("history")
    if last is None or not last.looked_at:
        return TooLittle("no evaluation of the suite history")
    lost = len(last.forgotten)
    if lost < 2 or p_at_least(lost, last.looked_at, CHANCE) >= CHANCE:
        return Fine(
            (("forgotten", f"{lost} of {last.looked_at}"), ("by chance", f"{CHANCE * last.looked_at:.1f}"))
        )
    return Finding(
        f"{lost} of {last.looked_at} environments of the run's history are played surely worse than when last trained.",
        (("forgotten", ", ".join(last.forgotten[:8])), ("by chance", f"{CHANCE * last.looked_at:.1f}")),
        ("a larger --replay_share: mastered environments are played again", "a lower --learning_rate"),
        "look",
    )
