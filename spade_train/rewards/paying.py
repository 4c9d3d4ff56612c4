"""From plays to rows: what each design and each episode earns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import pstdev
from typing import Any

from spade_train.diversity import unlike_others
from spade_train.memory.ideas import repetitions
from spade_train.monitors import Alarm, reward_ceiling
from spade_train.playing.play import Episode
from spade_train.rewards.advantages import RewardBlock
from spade_train.rewards.agent import AgentTerms, Outcome, block_rewards, novelty, weight_of
from spade_train.rewards.designer import DesignerReward, Measures
from spade_train.rewards.uncertainty import Tally
from spade_train.rounds import Block, Design, Played, Row


@dataclass(frozen=True)
class Pay:
    """The rules of one run.

    Attributes:
        designer: what a design earns for its measures.
        agent: the terms beside an episode's return.
        weights: id, with or without its version -> weight of its blocks.
    """

    designer: DesignerReward
    agent: AgentTerms = field(default_factory=AgentTerms)
    weights: Mapping[str, float] = field(default_factory=dict)

    def of_agent(self, played: Sequence[Played]) -> list[Row]:
        """Return the rows of the agent's blocks."""
        return [row for each in played for block in each.blocks for row in self._block(block)]

    def of_designer(
        self, designs: Sequence[Design], played: Sequence[Played], alarms: Sequence[Alarm]
    ) -> list[Row]:
        """Return the rows of the designer's block; what an alarm caps earns nothing."""
        sources = [design.source for design in designs]
        among = zip(repetitions(sources), unlike_others(sources), strict=True)
        measured = [measures(*pair) for pair in zip(designs, played, strict=False)]
        return [
            self._design(design, replace(one, repetition=again, variety=unlike), alarms)
            for design, one, (again, unlike) in zip(designs, measured, among, strict=True)
        ]

    def _design(self, design: Design, measured: Measures, alarms: Sequence[Alarm]) -> Row:
        reward = self.designer(measured)
        ceiling = reward_ceiling(alarms, design.env_id) if design.env_id else None
        if ceiling is not None:
            reward = min(reward, ceiling)
        return Row(
            "designer",
            design.prompt_ids,
            design.completion_ids,
            design.mask,
            reward,
            logprobs=design.logprobs,
        )

    def _block(self, block: Block) -> list[Row]:
        unlike = novelty([one.actions for one in block.plain])
        outcomes = [_outcome(one, new) for one, new in zip(block.plain, unlike, strict=True)]
        weight = weight_of(block.env_id, self.weights)
        return [
            Row("agent", one.prompt_ids, one.completion_ids, one.mask, reward, weight, one.logprobs)
            for one, reward in zip(block.plain, block_rewards(outcomes, self.agent), strict=True)
        ]


def reward_blocks(rows: Sequence[Row], group: int) -> list[RewardBlock]:
    """Return the blocks of a batch: ``group`` rows each, in order."""
    return [
        RewardBlock(rows[at].role, tuple(row.reward for row in rows[at : at + group]), rows[at].weight)
        for at in range(0, len(rows), group)
    ]


def flat_blocks(rows: Sequence[Row], group: int) -> Tally:
    """Return how many blocks have no variance, of all: GRPO learns nothing from them."""
    blocks = reward_blocks(rows, group)
    return Tally(sum(block.flat for block in blocks), len(blocks))


def measures(design: Design, played: Played) -> Measures:
    """Return what is known of a design when it is paid; ``played`` is another environment where it was refused.

    One that was admitted after a repair is paid as refused: its row holds the reply that was.
    """
    if design.env_id is None or design.repairs:
        return Measures(admitted=False, compiled=design.compiled)
    plain = [one.return_ for one in played.episodes(hinted=False)]
    return Measures(
        compiled=design.compiled,
        success=played.success,
        hinted_success=played.hinted_success,
        regret=played.regret,
        spread=pstdev(plain) if plain else 0.0,
        plays=sum(len(block.plain) + len(block.hinted) for block in played.all),
        faults=played.faults,
        likeness=_likeness(design),
    )


def _likeness(design: Design) -> float | None:
    """How like the design is to the nearest environment that there is, as admission saw it."""
    gates = (design.report or {}).get("gates", ())
    saw: dict[str, Any] = next((gate["saw"] for gate in gates if gate["name"] == "novelty"), {})
    return 1 - saw["distance"] if "distance" in saw else None


def _outcome(episode: Episode, unlike: float) -> Outcome:
    return Outcome(
        return_=episode.return_,
        success=episode.success,
        well_formed=episode.well_formed,
        turns=episode.turns,
        turn_limit=episode.turn_limit,
        novelty=unlike,
        counts=episode.counts,
    )
