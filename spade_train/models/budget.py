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
class Measured:
    """What a round may play besides its blocks.

    Attributes:
        seeds: that are added where regret is vague: one play each way.
        blind: plays of a new design with the hint alone, where the hint solves it.
    """

    seeds: int = 0
    blind: int = 0


@dataclass(frozen=True)
class RoundBudget:
    """One kind of round, of one process.

    Attributes:
        rounds: the numbers of these rounds, counted from 1.
        designs: replies of the designer.
        blocks: blocks of the batch: the designer's, the agent's.
        episodes: episodes without the hint, and as many with it.
        extra: the most further episodes that are measured only, of all kinds together.
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
    schedule: Schedule,
    rounds: int,
    measured: Measured,
    lengths: Lengths,
    prompt: int,
    completion: int,
) -> list[RoundBudget]:
    """Return one budget for each kind of round that the schedule has.

    Args:
        schedule: who does what in which round.
        rounds: how many rounds there are.
        measured: what may be played besides.
        lengths: what is expected of a design and of an episode.
        prompt: the most tokens of an agent's prompt.
        completion: the most tokens that follow a prompt.
    """
    kinds: dict[RoundPlan, list[int]] = {}
    for number in range(rounds):
        kinds.setdefault(schedule.plan(number), []).append(number + 1)
    return [
        _budget(plan, tuple(numbers), schedule.group, measured, lengths, prompt, completion)
        for plan, numbers in kinds.items()
    ]


def _budget(
    plan: RoundPlan,
    numbers: tuple[int, ...],
    group: int,
    measured: Measured,
    lengths: Lengths,
    prompt: int,
    completion: int,
) -> RoundBudget:
    agent = plan.blocks + plan.fillers
    extra = 2 * measured.seeds if plan.designs else 0
    blind = measured.blind * plan.designs
    plays = 2 * agent * group + extra
    blocks = (int(plan.designer_learns), agent if plan.agent_learns else 0)
    designs, episodes = blocks[0] * group, blocks[1] * group
    expected = min(lengths.design, completion), min(lengths.episode, completion)
    return RoundBudget(
        rounds=numbers,
        designs=plan.designs,
        blocks=blocks,
        episodes=agent * group,
        extra=extra + blind,
        rows=designs + episodes,
        sampled_most=(plan.designs + plays + blind) * completion,
        sampled_expected=plan.designs * expected[0] + plays * expected[1],
        trained_most=designs * (lengths.design_prompt + completion) + episodes * (prompt + completion),
        trained_expected=designs * (lengths.design_prompt + expected[0])
        + episodes * (lengths.prompt + expected[1]),
    )
