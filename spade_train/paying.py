"""From plays to rows: what each design and each episode earns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spade_train.config import SelfPlayConfig
from spade_train.play import Episode
from spade_train.regret import DESIGNER_REWARDS, REFUSED, agent_reward
from spade_train.rounds import Design, Played, Row
from spade_train.schedule import RoundPlan


@dataclass(frozen=True)
class Pay:
    """The rules of one run."""

    config: SelfPlayConfig

    def rows(self, designs: Sequence[Design], played: Sequence[Played], plan: RoundPlan) -> list[Row]:
        """Return the batch: the designer's block where it learns, then the agent's blocks where it does."""
        rows: list[Row] = []
        if plan.designer_learns:
            rows += [self._design(*pair) for pair in zip(designs, played, strict=False)]
        if plan.agent_learns:
            rows += [self._episode(one) for each in played for block in each.blocks for one in block.plain]
        return rows

    def _design(self, design: Design, played: Played) -> Row:
        reward = REFUSED
        if design.env_id and played.success is not None and played.regret is not None:
            reward = DESIGNER_REWARDS[self.config.designer_reward](played.success, played.regret.mean)
        return Row("designer", design.prompt_ids, design.completion_ids, design.mask, reward)

    def _episode(self, episode: Episode) -> Row:
        earned = agent_reward(
            episode.return_, episode.success, episode.well_formed, self.config.format_reward
        )
        reward = earned if episode.counts else None
        return Row("agent", episode.prompt_ids, episode.completion_ids, episode.mask, reward)
