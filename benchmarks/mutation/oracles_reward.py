"""Oracles on the reward and the end of an episode."""

from __future__ import annotations

from collections.abc import Iterator

from mutation import actors
from mutation.oracle import oracle
from mutation.oracles_play import tour
from mutation.playing import Play, Trial


def _whole(trial: Trial) -> Iterator[Play]:
    for play in tour(trial):
        if play.fault:
            return
        if play.over:
            yield play


def _place(play: Play) -> str:
    return f"level {play.level}, seed {play.seed}, {len(play.actions)} steps"


@oracle("The sum over an episode lies in [-1, 1]", "reward.bound")
def a_return_is_too_large(trial: Trial) -> str | None:
    worst = max(_whole(trial), key=lambda play: abs(play.total), default=None)
    if worst and abs(worst.total) > 1.00001:
        return f"the rewards add up to {worst.total:.3g} ({_place(worst)})"
    return None


@oracle("Every successful episode returns more than every failed one", "reward.order")
def failure_pays(trial: Trial) -> str | None:
    for level in trial.stage.levels:
        plays = [play for play in _whole(trial) if play.level == level]
        least = min((p.total for p in plays if p.success), default=None)
        most = max((p for p in plays if not p.success), key=lambda p: p.total, default=None)
        if least is not None and most and least <= most.total + 1e-6:
            return f"a failure returns {most.total:.3g}, a success {least:.3g} ({_place(most)})"
    return None


@oracle("A step that terminates states info['is_success'], a bool", "reward.is-success")
def success_is_not_stated(trial: Trial) -> str | None:
    for play in _whole(trial):
        stated = [value for value in play.stated if value is not None]
        if play.terminated and play.stated[-1] is None:
            return f"the last step states no success ({_place(play)})"
        if any(type(value).__name__ not in ("bool", "bool_") for value in stated):
            return f"is_success is {stated[-1]!r} ({_place(play)})"
    return None


@oracle("Reaching the goal terminates", "reward.goes-on")
def success_goes_on(trial: Trial) -> str | None:
    for play in _whole(trial):
        if any(play.stated[:-1]) or (play.success and not play.terminated):
            return f"success is stated, but the episode goes on ({_place(play)})"
    return None


@oracle(
    "The class's constructor and time limit let an episode be played",
    "runs.",
    "form.",
    "language.",
    "header.",
)
def nothing_can_be_played(trial: Trial) -> str | None:
    for level in trial.stage.levels:
        play = trial.play(actors.replay(()), level, 0)
        if play.fault:
            return f"level {level}: {play.fault[1]}"
    return None
