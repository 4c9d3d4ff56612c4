"""What is played for each gate. A probe adds evidence to the lab; it gives no verdict."""

from __future__ import annotations

from itertools import product

from gymnasium import spaces

from spade_envs.admission import policies, questions
from spade_envs.admission.actions import KINDS
from spade_envs.admission.evidence import Episode, Level, Search
from spade_envs.admission.gates import SEARCHED_SEED, grows
from spade_envs.admission.lab import Lab
from spade_envs.admission.scene import Policy
from spade_envs.admission.short_cut_gate import HELD

ELSEWHERE = 1  # the bench whose interpreter has another hash seed
TEST_SEEDS = 1000  # seeds of the short-cut plays begin here, apart from those that the expert showed


def form(lab: Lab) -> None:
    """Compile the design in a worker and build an instance of every level."""
    lab.open()
    for level in lab.evidence.levels:
        lab.play("reset", policies.nothing, level, 0)
        lab.evidence.instances[level] = lab.bench().instance(level)


def runs(lab: Lab) -> None:
    """Hold actions to the time limit, follow a spoilt expert, look at every state, weigh what is kept."""
    for level in lab.evidence.levels:
        for seed in range(4):
            lab.play("expert", policies.expert, level, seed, watch=True)
            lab.play("uniform watched", policies.uniform, level, seed, watch=True)
        for seed in range(2 * KINDS):
            lab.play("spoilt expert", policies.spoilt, level, seed)
        for name, policy in held_policies(lab, level):
            lab.play(name, policy, level, TEST_SEEDS)
    weigh(lab)


def weigh(lab: Lab) -> None:
    """Weigh what the longest episode leaves behind, and what the expert does, who is asked at every step."""
    longest = max(lab.evidence.episodes, key=_length)
    lab.weigh("the longest episode", policies.script(longest.actions), longest)
    own = max((e for e in lab.evidence.episodes if e.policy == "expert"), key=_length)
    if not any(map(grows, lab.evidence.memory.values())):
        lab.weigh("the expert's episode", policies.expert, own)


def _length(episode: Episode) -> int:
    return len(episode.actions)


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
    """Let the expert play every level, reset further seeds, and look for ways without the expert."""
    for level in lab.evidence.levels:
        experts(lab, level)
        more_experts(lab, level)
        other_answers(lab, level)
        resets(lab, level)
        search(lab, level)


def more_experts(lab: Lab, level: Level) -> None:
    """Let the expert play further seeds where its episodes are short: one that fails is rare in some designs."""
    steps = 0
    for seed in range(lab.settings.expert_seeds, lab.settings.expert_seeds + lab.settings.more_expert_seeds):
        steps += max(1, len(lab.play("expert", policies.expert, level, seed).actions))
        if steps > lab.settings.more_expert_steps:
            return


def other_answers(lab: Lab, level: Level) -> None:
    """Where an episode is one answer, give what is right on one seed on another that shows the same."""
    pair = questions.doubles(lab.evidence.by("expert", level))
    if pair is not None and questions.asks_once(lab.evidence, level):
        first, other = pair
        lab.play(questions.ANSWERS, policies.script(first.actions), level, other.seed)


def resets(lab: Lab, level: Level) -> None:
    """Reset the seeds that the expert has not begun."""
    begun = {episode.seed for episode in lab.evidence.by("expert", level)}
    for seed in range(lab.settings.reset_seeds // len(lab.evidence.levels)):
        if seed not in begun:
            lab.play("reset", policies.nothing, level, seed)


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


def order(lab: Lab) -> None:
    """Play at random often enough to compare the levels; where no level is won by then, steps decide."""
    if len(lab.evidence.levels) == 1:
        return
    for look in (lab.settings.order_episodes // 2, lab.settings.order_episodes):
        won = 0
        for level in lab.evidence.levels:
            for seed in range(look):
                won += lab.play("uniform", policies.uniform, level, TEST_SEEDS + seed).success
        if not won:
            return


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
