"""What one round leaves behind, as values: designs, plays, and the rows that GRPO trains on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any, Literal

from spade_envs import Finding
from spade_train.backends import Spent
from spade_train.designer import Reason
from spade_train.monitors import Alarm
from spade_train.playing.play import Episode
from spade_train.rewards.regret import Regret, paired_regret
from spade_train.rewards.uncertainty import Tally

Role = Literal["designer", "agent"]


@dataclass(frozen=True)
class Row:
    """One sequence of the batch; ``reward=None`` leaves it out of its block's baseline, with no gradient.

    Attributes:
        weight: of its block: it multiplies the advantages.
        logprobs: of each id of the completion as it was sampled, NaN where that is unknown; empty where all are.
    """

    role: Role
    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    mask: tuple[int, ...]
    reward: float | None
    weight: float = 1.0
    logprobs: tuple[float, ...] = ()


@dataclass(frozen=True)
class Design:
    """One reply of the designer and what became of it.

    Attributes:
        compiled: whether a source was read and compiled.
        refusal: why it was refused, as text; None where it was admitted.
        env_id: the id that ``gymnasium.make`` opens; None where it was refused.
        report: the admission's report, where it came to one.
        mends: what was mended in the source, by name.
        findings: why it was refused, as values.
        repairs: how many more replies it took; the row that is trained on holds the first one.
        hint: who wrote the hint in the source, or why it is the designer's own; None where nobody else was asked.
        prompt_tokens, completion_tokens, cost: of a designer that is not trained here, as its backend counts them;
            the trainer's own tokens stand in ``prompt_ids`` and ``completion_ids``.
        logprobs: of each id of the completion, where the sampler says them.
    """

    reply: str
    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    mask: tuple[int, ...]
    source: str | None = None
    compiled: bool = False
    refusal: str | None = None
    env_id: str | None = None
    report: dict[str, Any] | None = None
    mends: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = ()
    repairs: int = 0
    hint: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    logprobs: tuple[float, ...] = ()

    @property
    def sampled(self) -> int:
        """How many tokens the designer has sampled."""
        return sum(self.mask) if self.completion_tokens is None else self.completion_tokens


@dataclass(frozen=True)
class Stock:
    """Designs that are made beside training, as a round begins.

    Attributes:
        taken: played in this round.
        ready: judged and waiting for a round.
        asked: on their way.
    """

    taken: int
    ready: int
    asked: int


@dataclass(frozen=True)
class Block:
    """Plays of one environment from one seed, as many with the hint as without."""

    env_id: str
    seed: int
    plain: tuple[Episode, ...]
    hinted: tuple[Episode, ...]


@dataclass(frozen=True)
class Played:
    """All plays of one environment in one round.

    Attributes:
        blocks: G plays each way from one seed; the unhinted ones are rows of the batch.
        extra: plays from further seeds, measured only: they narrow the regret's interval.
        blind: plays with the hint and another seed's observations, measured only.
        level: the difficulty that was played, from 1.
        why: for which reason the curriculum chose it; nothing of a new design.
    """

    env_id: str
    blocks: tuple[Block, ...]
    extra: tuple[Block, ...] = ()
    blind: tuple[Episode, ...] = ()
    level: int = 1
    why: str = ""

    @property
    def all(self) -> tuple[Block, ...]:
        """Every block."""
        return (*self.blocks, *self.extra)

    def episodes(self, *, hinted: bool) -> Iterator[Episode]:
        """Yield the plays that count, without or with the hint."""
        for block in self.all:
            yield from (one for one in (block.hinted if hinted else block.plain) if one.counts)

    @property
    def plain(self) -> Tally:
        """Successes of the unhinted plays that count."""
        won = [one.success for one in self.episodes(hinted=False)]
        return Tally(sum(won), len(won))

    @cached_property
    def success(self) -> float | None:
        """Success rate without the hint; None where no play counts."""
        return _mean([float(one.success) for one in self.episodes(hinted=False)])

    @cached_property
    def hinted_success(self) -> float | None:
        """Success rate with the hint."""
        return _mean([float(one.success) for one in self.episodes(hinted=True)])

    @cached_property
    def blind_success(self) -> float | None:
        """Success rate with the hint and another seed's observations; None where nothing was so played."""
        return _mean([float(one.success) for one in self.blind if one.counts])

    @cached_property
    def regret(self) -> Regret | None:
        """Paired regret of the plays that count."""
        return paired_regret(self.returns(hinted=False), self.returns(hinted=True))

    def returns(self, *, hinted: bool) -> dict[int, list[float]]:
        """Return seed -> the returns of the plays that count."""
        found: dict[int, list[float]] = {}
        for one in self.episodes(hinted=hinted):
            found.setdefault(one.task.seed, []).append(one.return_)
        return found

    @property
    def faults(self) -> int:
        """How many plays, of either kind, the environment's own fault has ended."""
        return sum(one.end == "fault" for block in self.all for one in (*block.plain, *block.hinted))


@dataclass(frozen=True)
class Round:
    """All that one process did in a round.

    Attributes:
        designs: G designs, or none where the schedule plans none.
        played: one entry for each design (its own environment, or one in its place), then the fillers.
        rows: the batch: the designer's block first, where it learns; then the agent's.
        alarms: what the watch over all processes' rounds found.
        reasons: why each piece stood in the designer's prompt.
        stock: where designing runs beside training, what there was of it.
        spent: what a designer outside took since the round before; None where there is none.
        skipped: why the round could not be played; its rows then hold nothing to learn. None where it was.
    """

    number: int
    designs: tuple[Design, ...]
    played: tuple[Played, ...]
    rows: tuple[Row, ...]
    alarms: tuple[Alarm, ...] = ()
    reasons: tuple[Reason, ...] = ()
    stock: Stock | None = None
    spent: Spent | None = None
    skipped: str | None = None

    @classmethod
    def skip(cls, number: int, rows: int, token: int, why: str) -> Round:
        """Return a round in which nothing was played: as many rows as a batch wants, all of them left out."""
        nothing = Row("agent", (token,), (token,), (0,), None)
        return cls(number, (), (), (nothing,) * rows, skipped=why)

    @property
    def pairs(self) -> tuple[tuple[Design, Played], ...]:
        """Each design with the plays that stand for it."""
        return tuple(zip(self.designs, self.played, strict=False))


def _mean(values: Sequence[float]) -> float | None:
    return fmean(values) if values else None
