"""One round of self-play, top to bottom: design, admit, play, measure, reward. Then GRPO takes one step.

Where this departs from the paper (SPADE, arXiv 2608.19197) and its released code, and why:

1. **Regret is paired.** Hinted plays repeat the seeds of the unhinted ones, and the mean has a standard
   error; there the two are played from different seeds, so regret is noise until many plays are averaged.
2. **A block is one prompt.** All G unhinted plays of a block start from one seed: the GRPO baseline then
   compares actions, not luck. Hinted plays are measured and never trained on.
3. **Both roles share one step.** A round is one designer block and G agent blocks in one batch, each with a
   baseline of its own; there the designer is updated every fourth rollout from a batch of its own.
4. **A design must be admitted.** It is compiled, built and played in an isolated worker: its expert must
   succeed, random play must not, the same seed must repeat. There it runs in the training process after a
   smoke test.
5. **A refused design leaves no gap.** Its block plays an environment of the curriculum, so every batch is
   full; the designer still pays for it.
6. **The hint is code.** It belongs to the environment and is checked for leaks; there the model writes it
   afterwards.
7. **The hint stands in the worked examples, too.** A hint in the task alone breaks the pattern that a small
   model follows, and regret turns negative for that reason only.
8. **The agent earns the whole return**, plus a format term that no failure can ride above a success.
9. **Small models design in slots**: tokens under a grammar choose among templates. GRPO scores them without
   the grammar, a known bias: forced tokens are masked, and the model's own choices are scored among all
   tokens.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import Any

from spade_envs import Registry, Rejection, admit, make_text
from spade_train.clock import Clock
from spade_train.config import SelfPlayConfig
from spade_train.constraint import Constraint, JsonConstraint
from spade_train.curriculum import choose
from spade_train.decoding import Policy
from spade_train.designer import Corpus, DesignContext, Designer, Memory, Record
from spade_train.play import Episode, Limits, Task, play
from spade_train.prompts import TRAINING_SEEDS, TextEnvironment, render
from spade_train.regret import DESIGNER_REWARDS, REFUSED, Regret, agent_reward, paired_regret


@dataclass(frozen=True)
class Row:
    """One sequence of the batch that GRPO trains on; ``reward=None`` leaves it out."""

    role: str
    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    mask: tuple[int, ...]
    reward: float | None


@dataclass(frozen=True)
class Design:
    """One reply of the designer and what became of it.

    Attributes:
        compiled: whether a source was read and compiled.
        refusal: why it was refused, as text; None where it was admitted.
        env_id: the id that ``gymnasium.make`` opens; None where it was refused.
        report: the admission's report, where it came to one.
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


@dataclass(frozen=True)
class Block:
    """G plays of one environment from one seed, and as many with the hint."""

    env_id: str
    seed: int
    plain: tuple[Episode, ...]
    hinted: tuple[Episode, ...]

    @cached_property
    def success(self) -> float | None:
        """Success rate without the hint; None where no play counts."""
        return _success(self.plain)

    @cached_property
    def hinted_success(self) -> float | None:
        """Success rate with the hint."""
        return _success(self.hinted)

    @cached_property
    def regret(self) -> Regret | None:
        """Paired regret of the plays that count."""
        plain, hinted = ([one.return_ for one in side if one.counts] for side in (self.plain, self.hinted))
        return paired_regret({self.seed: plain}, {self.seed: hinted})


@dataclass(frozen=True)
class Round:
    """All that happened in one round; ``rows`` are the batch: the designer's block, then the agent's."""

    number: int
    designs: tuple[Design, ...]
    blocks: tuple[Block, ...]
    rows: tuple[Row, ...]


@dataclass
class SelfPlay:
    """The parts that a round needs. ``memory`` and ``registry`` grow; the rest stays as it is.

    Attributes:
        group: G, the rows of a block.
        seed: the run's seed; a round's draws follow from it and the round's number alone.
        pool: ids that fill the blocks of refused designs.
    """

    config: SelfPlayConfig
    group: int
    seed: int
    limits: Limits
    designer: Designer
    registry: Registry
    pool: Sequence[str]
    corpus: Corpus
    run: str = "run"
    memory: Memory = field(default_factory=Memory)
    _grammar: JsonConstraint | None = field(default=None, init=False, repr=False)

    def round(self, policy: Policy, number: int, clock: Clock) -> Round:
        """Play round ``number`` with the policy as both roles and return the batch to train on."""
        rng = random.Random(f"{self.seed}/{number}")
        context = DesignContext(
            round=number,
            seed=self.seed,
            document=self.corpus.draw(self.seed, number),
            digest=self.memory.digest(),
        )
        with clock.phase("design"):
            replies = self._write(policy, context)
        with clock.phase("admit"):
            designs = [self._judge(reply, context) for reply in replies]
        with clock.phase("play"):
            blocks = self._play(policy, designs, rng)
        for design, block in zip(designs, blocks, strict=True):
            self._remember(design, block, number)
        rows = [self._designer_row(*pair) for pair in zip(designs, blocks, strict=True)]
        rows += [self._agent_row(episode) for block in blocks for episode in block.plain]
        return Round(number, tuple(designs), tuple(blocks), tuple(rows))

    def _write(self, policy: Policy, context: DesignContext) -> list[Design]:
        """Sample G replies to one prompt."""
        prompt = policy.ids(render(policy.tokenizer, self.designer.prompt(context)))
        constraint = self._constraint(policy)
        replies = policy.decoder([prompt] * self.group).sample(self.limits.completion, constraint)
        return [
            Design(policy.text(one.tokens), tuple(prompt), tuple(one.tokens), tuple(one.chosen))
            for one in replies
        ]

    def _judge(self, design: Design, context: DesignContext) -> Design:
        """Read the reply and put its source through admission; what passes can be made at once."""
        source = self.designer.read(design.reply, context)
        if isinstance(source, Rejection):
            return replace(design, refusal=source.text())
        admission = admit(source, self.registry, run=self.run, round=context.round)
        report = admission.report
        findings = [finding for gate in report.gates for finding in gate.findings]
        return replace(
            design,
            source=source,
            compiled=not any(gate.name == "form" for gate in report.gates if not gate.passed),
            refusal=None if admission.id else Rejection(tuple(findings)).text(),
            env_id=admission.id,
            report=report.as_dict(),
        )

    def _play(self, policy: Policy, designs: Sequence[Design], rng: random.Random) -> list[Block]:
        """Play every block without and with the hint, all episodes side by side."""
        spare = iter(choose(self.pool, sum(design.env_id is None for design in designs), rng))
        places = [(design.env_id or next(spare), rng.randrange(TRAINING_SEEDS)) for design in designs]
        tasks = [
            Task(env_id, seed, hinted)
            for env_id, seed in places
            for hinted in (False, True)
            for _ in range(self.group)
        ]
        episodes = play(policy, tasks, self._make, self.limits)
        sides = [tuple(episodes[at : at + self.group]) for at in range(0, len(episodes), self.group)]
        return [
            Block(*place, plain, hinted)
            for place, plain, hinted in zip(places, sides[::2], sides[1::2], strict=True)
        ]

    def _remember(self, design: Design, block: Block, number: int) -> None:
        if design.source is None:
            return
        measures: dict[str, Any] = {"reason": design.refusal}
        if design.env_id:
            regret = block.regret.mean if block.regret else None
            measures = {"success": block.success, "hinted": block.hinted_success, "regret": regret}
        self.memory.add(Record.of(design.source, number, id=design.env_id, **measures))

    def _designer_row(self, design: Design, block: Block) -> Row:
        reward = REFUSED
        if design.env_id and block.success is not None and block.regret is not None:
            reward = DESIGNER_REWARDS[self.config.designer_reward](block.success, block.regret.mean)
        return Row("designer", design.prompt_ids, design.completion_ids, design.mask, reward)

    def _agent_row(self, episode: Episode) -> Row:
        earned = agent_reward(
            episode.return_, episode.success, episode.well_formed, self.config.format_reward
        )
        reward = earned if episode.counts else None
        return Row("agent", episode.prompt_ids, episode.completion_ids, episode.mask, reward)

    def _make(self, env_id: str) -> TextEnvironment:
        env: TextEnvironment = make_text(env_id, action_format=self.config.action_format)
        return env

    def _constraint(self, policy: Policy) -> Constraint | None:
        schema = self.designer.schema()
        if schema is None:
            return None
        if self._grammar is None:  # it takes a second to build: kept for the run
            self._grammar = JsonConstraint(policy.tokenizer, schema, policy.model.config.vocab_size)
        return self._grammar


def _success(episodes: Sequence[Episode]) -> float | None:
    counted = [float(one.success) for one in episodes if one.counts]
    return fmean(counted) if counted else None
