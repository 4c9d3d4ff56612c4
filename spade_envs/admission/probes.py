"""What is played for each gate. A probe adds evidence to the lab; it gives no verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

from gymnasium import spaces

from spade_envs.admission import policies
from spade_envs.admission.actions import KINDS
from spade_envs.admission.evidence import Episode, Level, Search
from spade_envs.admission.gates import SEARCHED_SEED
from spade_envs.admission.lab import Lab
from spade_envs.admission.rates import Verdict, against
from spade_envs.admission.readings import readings
from spade_envs.admission.scene import Policy
from spade_envs.admission.task_gates import HELD, limit_of

ELSEWHERE = 1  # the bench whose interpreter has another hash seed
TEST_SEEDS = 1000  # seeds of the short-cut plays begin here, apart from those that the expert showed


def form(lab: Lab) -> None:
    """Compile the design in a worker and build an instance of every level."""
    lab.open()
    for level in lab.evidence.levels:
        lab.play("reset", policies.nothing, level, 0)
        lab.evidence.instances[level] = lab.bench().instance(level)


def runs(lab: Lab) -> None:
    """Reset many seeds, hold actions to the time limit, follow a spoilt expert, look at every state."""
    for level in lab.evidence.levels:
        for seed in range(4):
            lab.play("expert", policies.expert, level, seed, watch=True)
            lab.play("uniform watched", policies.uniform, level, seed, watch=True)
        for seed in range(2 * KINDS):
            lab.play("spoilt expert", policies.spoilt, level, seed)
        for name, policy in held_policies(lab, level):
            lab.play(name, policy, level, TEST_SEEDS)
        for seed in range(lab.settings.reset_seeds // len(lab.evidence.levels)):
            lab.play("reset", policies.nothing, level, seed)
    lab.weigh(max(lab.evidence.episodes, key=lambda episode: len(episode.actions)), times=8)


def determinism(lab: Lab) -> None:
    """Play episodes again: in another interpreter in reversed order, and in the first one later."""
    seeds = range(lab.settings.replayed_seeds)
    for level in lab.evidence.levels:
        shown = [
            lab.play(name, policy, level, seed, watch=True)
            for seed in seeds
            for name, policy in (("expert", policies.expert), ("uniform watched", policies.uniform))
        ]
        shown.append(lab.perform("unseeded resets", policies.unseeded, level, 0))
        for episode in reversed(shown):
            lab.repeat(episode, bench=ELSEWHERE, watch=bool(episode.views))
        for episode in shown:
            lab.repeat(episode, bench=0)
        lab.beside(shown[1])


def solvable(lab: Lab) -> None:
    """Let the expert play every level, and look for ways without it."""
    for level in lab.evidence.levels:
        experts(lab, level)
        more_experts(lab, level)
        search(lab, level)


def more_experts(lab: Lab, level: Level) -> None:
    """Let the expert play further seeds where its episodes are short: one that fails is rare in some designs."""
    steps = 0
    for seed in range(lab.settings.expert_seeds, lab.settings.expert_seeds + lab.settings.more_expert_seeds):
        steps += max(1, len(lab.play("expert", policies.expert, level, seed).actions))
        if steps > lab.settings.more_expert_steps:
            return


def search(lab: Lab, level: Level) -> None:
    """Try all short sequences of actions where there are few enough, the shortest first."""
    space = lab.evidence.instances[level].action_space
    if not isinstance(space, spaces.Discrete) or space.n > lab.settings.search_episodes:
        return
    tried = depth = 0
    while tried + space.n ** (depth + 1) <= lab.settings.search_episodes:
        depth += 1
        for sequence in product(range(int(space.start), int(space.start + space.n)), repeat=depth):
            tried += 1
            policy = policies.script(sequence)
            if lab.perform(f"search {sequence}", policy, level, SEARCHED_SEED).success:
                lab.evidence.searched[level] = Search(tried, depth, sequence)
                return
    lab.evidence.searched[level] = Search(tried, depth, None)


def short_cuts(lab: Lab) -> None:
    """Play what must not succeed, up to the first that does."""
    for level in lab.evidence.levels:
        for name, turns in cuts(lab, level):
            if settle(lab, name, level, turns) == "broken" and name != "empty answer":
                return


def cuts(lab: Lab, level: Level) -> Iterator[tuple[str, Sequence[Policy]]]:
    """Yield the short cuts: random play, another's actions, the hint's text, every answer, one action ..."""
    shown, instance = experts(lab, level), lab.evidence.instances[level]
    yield "uniform", [policies.uniform]
    yield "another's actions", [policies.script(episode.actions) for episode in shown]
    yield "hint's text", [policies.hint_text]
    yield "hints, step by step", [policies.hints_followed]
    stuffed = policies.superset(shown, instance.action_space)
    if stuffed is not None:
        yield "every answer at once", [policies.held(stuffed)]
    for name, policy in held_policies(lab, level):
        yield name, [policy]
    if instance.tools:
        yield "empty answer", [policies.changed_end(shown_on(lab, level), policies.without_answer)]
    if instance.tools or _answers(shown):
        yield "wrong answer", [policies.changed_end(shown_on(lab, level), policies.other_numbers)]
    for name in readings(shown, instance):
        yield name, [policies.reading(name)]


def _answers(shown: Sequence[Episode]) -> bool:
    """Say whether the expert answers in one text. Of several, the last may be a move and its numbers a choice."""
    return all(len(e.actions) == 1 and isinstance(e.actions[0], str) for e in shown)


def shown_on(lab: Lab, level: Level) -> Callable[[int], Episode]:
    """Return the function from a seed to the expert's episode on it."""
    return lambda seed: lab.play("expert", policies.expert, level, seed)


def order(lab: Lab) -> None:
    """Play at random often enough to compare the levels."""
    if len(lab.evidence.levels) > 1:
        for level in lab.evidence.levels:
            for seed in range(lab.settings.order_episodes):
                lab.play("uniform", policies.uniform, level, TEST_SEEDS + seed)


def experts(lab: Lab, level: Level) -> list[Episode]:
    """Return the expert's episodes of a level."""
    return [
        lab.play("expert", policies.expert, level, seed, watch=True)
        for seed in range(lab.settings.expert_seeds)
    ]


def held_policies(lab: Lab, level: Level) -> list[tuple[str, Policy]]:
    """Return the policies that repeat one action, with their names."""
    shown = [lab.play("expert", policies.expert, level, seed, watch=True) for seed in range(4)]
    held = policies.held_actions(lab.evidence.instances[level], shown)
    return [(f"{HELD}{str(action)[:60]}", policies.held(action)) for action in held]


def settle(lab: Lab, name: str, level: Level, turns: Sequence[Policy]) -> Verdict:
    """Let policies play in turn until their rate lies on one side of the limit, or the last look."""
    verdict: Verdict = "undecided"
    won = played = 0
    for look in lab.settings.looks:
        for k in range(played, look):
            won += lab.play(name, turns[k % len(turns)], level, TEST_SEEDS + k).success
        played = look
        verdict = against(won, played, limit_of(name, lab.settings))
        if verdict == "within" or (verdict == "broken" and played >= lab.settings.broken_from):
            break
    return verdict
