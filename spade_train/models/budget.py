"""What a round costs, known before it is played: designs, episodes, rows, steps, tokens."""

from __future__ import annotations

from dataclasses import dataclass

from spade_train.schedule import RoundPlan, Schedule


@dataclass(frozen=True)
class Lengths:
    """Tokens of one design or of one episode, each beside what the model reads first.

    Attributes:
        design_prompt: of the designer's first prompt.
        design: of an example of a design; None where nobody designs.
        prompt: of an agent's prompt.
        episode: of an expert's episode.
    """

    design_prompt: int
    design: int
    prompt: int
    episode: int


@dataclass(frozen=True)
class RoundBudget:
    """One kind of round, of one process.

    Attributes:
        rounds: the numbers of these rounds, counted from 1.
        designs: replies of the designer.
        blocks: blocks of the batch: the designer's, the agent's.
        episodes: episodes without the hint, and as many with it.
        extra: the most further episodes, of both kinds together.
        rows: rows of the batch.
        sampled_most: tokens that are sampled at most.
        sampled_expected: if designs were as long as the examples, and episodes as an expert's.
        trained_most: tokens of the batch at most, prompts included.
        trained_expected: the same, as expected.
    """

    rounds: tuple[int, ...]
    designs: int
    blocks: tuple[int, int]
    episodes: int
    extra: int
    rows: int
    sampled_most: int
    sampled_expected: int
    trained_most: int
    trained_expected: int


def budgets(
    schedule: Schedule, rounds: int, extra_seeds: int, lengths: Lengths, prompt: int, completion: int
) -> list[RoundBudget]:
    """Return one budget for each kind of round that the schedule has.

    Args:
        schedule: who does what in which round.
        rounds: how many rounds there are.
        extra_seeds: seeds that may be added where regret is vague: one play each way.
        lengths: what is expected of a design and of an episode.
        prompt: the most tokens of an agent's prompt.
        completion: the most tokens that follow a prompt.
    """
    kinds: dict[RoundPlan, list[int]] = {}
    for number in range(rounds):
        kinds.setdefault(schedule.plan(number), []).append(number + 1)
    return [
        _budget(plan, tuple(numbers), schedule.group, extra_seeds, lengths, prompt, completion)
        for plan, numbers in kinds.items()
    ]


def _budget(
    plan: RoundPlan,
    numbers: tuple[int, ...],
    group: int,
    extra_seeds: int,
    lengths: Lengths,
    prompt: int,
    completion: int,
) -> RoundBudget:
    agent = plan.blocks + plan.fillers
    extra = 2 * extra_seeds if plan.designs else 0
    plays = 2 * agent * group + extra
    blocks = (int(plan.designer_learns), agent if plan.agent_learns else 0)
    designs, episodes = blocks[0] * group, blocks[1] * group
    expected = min(lengths.design, completion), min(lengths.episode, completion)
    return RoundBudget(
        rounds=numbers,
        designs=plan.designs,
        blocks=blocks,
        episodes=agent * group,
        extra=extra,
        rows=designs + episodes,
        sampled_most=(plan.designs + plays) * completion,
        sampled_expected=plan.designs * expected[0] + plays * expected[1],
        trained_most=designs * (lengths.design_prompt + completion) + episodes * (prompt + completion),
        trained_expected=designs * (lengths.design_prompt + expected[0])
        + episodes * (lengths.prompt + expected[1]),
    )
