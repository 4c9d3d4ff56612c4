"""Oracles on what a design is worth as a task: short cuts, hints that tell, levels out of order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

from gymnasium import spaces

from mutation import actors
from mutation.oracle import oracle
from mutation.oracles_play import SEEDS
from mutation.playing import Level, Play, Policy, Trial
from mutation.statistics import p_at_least, p_higher, p_lower
from spade_envs.isolation import InstanceInfo

TESTS = range(9000, 9060)
ORDER = range(9000, 9150)
LIMIT, SURE = 0.25, 1e-4


def _wins(trial: Trial, level: Level, policies: list[Policy]) -> str | None:
    """Return a proof where policies, played in turn, win clearly more than a quarter of 60 episodes."""
    won = 0
    for played, seed in enumerate(TESTS, 1):
        play = trial.play(policies[seed % len(policies)], level, seed)
        if play.fault:
            return None
        won += play.success
        if (played == 6 and not won) or (played == 15 and won < 3):  # it would have to win most of the rest
            return None
    return f"level {level}: {won} of {len(TESTS)}" if p_at_least(won, len(TESTS), LIMIT) < SURE else None


def _any(trial: Trial, choices: dict[str, list[Policy]], level: Level) -> str | None:
    for name, policies in choices.items():
        if policies and (proof := _wins(trial, level, policies)):
            return f"{name} wins; {proof}"
    return None


def _experts(trial: Trial, level: Level) -> list[Play]:
    return [trial.play(actors.expert, level, seed, look=True) for seed in SEEDS]


def _constants(trial: Trial, level: Level) -> dict[str, list[Policy]]:
    edges = {f"plain action {at}": [actors.edge(at)] for at in range(actors.EDGE_COUNT)}
    own = [actors.frozen(action) for play in _experts(trial, level) for action in play.actions]
    frequent = sorted(set(own), key=own.count)[-3:]
    space = trial.stage.info(level).action_space
    if isinstance(space, spaces.Discrete) and space.n <= 200:
        own += [str(action) for action in range(space.start, space.start + space.n)]
        frequent = list(dict.fromkeys([*frequent, *own]))
    return edges | {f"holding {text[:60]}": [actors.hold(text)] for text in frequent}


def _stuffed(trial: Trial, level: Level) -> dict[str, list[Policy]]:
    answers = [_answer(play.actions[-1]) for play in _experts(trial, level) if play.actions]
    texts = list(dict.fromkeys(text for text in answers if text))
    return {"every answer at once": [actors.says(" ".join(texts))] if len(texts) > 1 else []}


def _answer(action: Any) -> str | None:
    given = action.get("arguments", {}).get("answer") if isinstance(action, dict) else action
    return given if isinstance(given, str) else None


@oracle("No short cut: each succeeds in at most a quarter of the episodes, at every difficulty", "short-cut.")
def a_short_cut_wins(trial: Trial) -> str | None:
    for level in trial.stage.levels:
        shown = _experts(trial, level)
        if any(play.fault for play in shown):
            return None
        choices: dict[str, list[Policy]] = {
            "random play": [actors.random],
            "the hint's text": [actors.hint_said],
        }
        choices["another's actions"] = [actors.replay(play.actions) for play in shown]
        choices |= _stuffed(trial, level) | _constants(trial, level)
        if trial.stage.info(level).tools:
            choices["wrong numbers"] = [actors.other_numbers]
        if proof := _any(trial, choices, level):
            return proof
    return None


@oracle(
    "No short cut: what the agent sees does not give the answer away", "short-cut.", "hint.leak", "answer."
)
def the_answer_is_shown(trial: Trial) -> str | None:
    for level in trial.stage.levels:
        plays = _experts(trial, level)
        turns = [(play, at) for play in plays for at, _ in enumerate(play.actions)]
        if any(play.fault for play in plays) or _easy(trial, level):
            continue
        shown = [
            (_tail(play.states[at]), _texts(play.actions[at], trial.stage.info(level))) for play, at in turns
        ]
        if all(any(text == tail for text in texts) for tail, texts in shown):
            return f"level {level}: each observation ends with the expert's action, such as {shown[0][0]!r}"
    return None


def _tail(state: str) -> str:
    return state.rpartition("answer: ")[2].removesuffix(")")


def _easy(trial: Trial, level: Level) -> bool:
    """Whether an action is guessed so easily that naming it gives nothing away."""
    space = trial.stage.info(level).action_space
    return isinstance(space, spaces.Discrete) and int(space.n) <= 10


def _texts(action: Any, info: InstanceInfo) -> list[str]:
    """Return the texts that give an action away."""
    if isinstance(action, dict) and "arguments" in action:
        return [str(v) for v in action["arguments"].values() if len(str(v)) >= 3] + [str(action)]
    if isinstance(action, str):
        return [action]
    if isinstance(action, int) and info.action_names:
        return [info.action_names[action - int(getattr(info.action_space, "start", 0))]]
    return [str(action), " ".join(map(str, getattr(action, "tolist", lambda: [action])()))]


@oracle("info holds nothing that helps to act", "short-cut.info")
def the_info_tells(trial: Trial) -> str | None:
    for level in trial.stage.levels:
        plays = [play for play in _experts(trial, level) if not play.fault and play.actions]
        if plays and not _easy(trial, level) and all(map(partial(_told, trial.stage.info(level)), plays)):
            return f"level {level}: info names the expert's action, such as {plays[0].told[0][:80]}"
    return None


def _told(info: InstanceInfo, play: Play) -> bool:
    """Whether each info names the action that follows."""
    actions = zip(play.told, play.actions, strict=False)
    return all(any(_names(told, text) for text in _texts(action, info)) for told, action in actions)


@oracle("The hint is not the answer itself", "hint.leak", "short-cut.hint")
def the_hint_tells(trial: Trial) -> str | None:
    for level in trial.stage.levels:
        plays = [play for play in _experts(trial, level) if not play.fault and play.actions]
        if not plays or _easy(trial, level):
            continue
        info = trial.stage.info(level)
        told = sum(any(_hinted(play, at, info) for at, _ in enumerate(play.hints)) for play in plays)
        if told > len(plays) / 2:
            return f"level {level}: the hint names the expert's action in {told} of {len(plays)} episodes"
    return None


def _hinted(play: Play, at: int, info: InstanceInfo) -> bool:
    texts = [text for text in _texts(play.actions[at], info) if len(text) >= 3 or text.isdigit()]
    return any(_names(play.hints[at], text) for text in texts)


def _names(said: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said) is not None


@oracle("A hint is a text of at most 100 words", "hint.long", "hint.empty", "runs.contract", "runs.raised")
def the_hint_is_no_hint(trial: Trial) -> str | None:
    for play in (play for level in trial.stage.levels for play in _experts(trial, level)):
        if play.fault and play.fault[1].startswith("hint:"):
            return play.fault[1]
        if any(not 1 <= len(hint.split()) <= 100 for hint in play.hints):
            return f"a hint has {max(len(hint.split()) for hint in play.hints)} words (seed {play.seed})"
    return None


@oracle("No higher level is easier", "difficulty.")
def a_higher_level_is_easier(trial: Trial) -> str | None:
    levels = trial.stage.levels
    for low, high in ((a, b) for a in levels for b in levels if a is not None and b is not None and a < b):
        plays = [[trial.play(actors.random, level, seed) for seed in ORDER] for level in (low, high)]
        steps = [[len(p.actions) for p in _experts(trial, level)] for level in (low, high)]
        if any(play.fault for play in (*plays[0], *plays[1])):
            return None
        won, more = (sum(play.success for play in side) for side in plays)
        p = p_higher(more, len(ORDER), won, len(ORDER)) if won or more else p_lower(steps[1], steps[0])
        if p < 0.001:
            return (
                f"level {high} against {low}: random {more} to {won}, expert's steps {steps[1]} to {steps[0]}"
            )
    return None


def near_misses(trial: Trial, level: Level, seed: int) -> Iterator[Policy]:
    """Yield policies that do nearly what the original's expert does."""
    actions = list(trial.original.play(actors.expert, level, seed).actions)
    yield actors.replay(actions)
    for at in range(len(actions)):
        yield actors.replay(actions[:at] + actions[at + 1 :])
        yield actors.replay([*actions[:at], actions[at], *actions[at:]])
    other = list(trial.original.play(actors.expert, level, seed + 1).actions)
    yield actors.replay(other)
    yield actors.replay([*actions[:-1], *other])
    yield actors.random
    yield actors.half_random


@oracle("Rules and code agree", "review.")
def success_is_judged_otherwise(trial: Trial) -> str | None:
    """Find the same seed and actions after which the seed says something else of success."""
    for level in trial.stage.levels:
        for seed in SEEDS[:6]:
            for policy in near_misses(trial, level, seed):
                ours = trial.stage.play(policy, level, seed)
                theirs = trial.original.play(actors.replay(ours.actions), level, seed)
                same_until_then = ours.states[:-1] == theirs.states[: len(ours.states) - 1]
                if same_until_then and not ours.fault and ours.success != theirs.success:
                    return f"level {level}, seed {seed}, {len(ours.actions)} steps: success {ours.success}"
    return None
