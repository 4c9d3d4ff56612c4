"""One round of self-play, top to bottom: design, admit, play, measure, reward. Then GRPO takes one step.

Where this departs from the paper (SPADE, arXiv 2608.19197) and its released code, and why:

1. **Regret is paired.** Hinted plays repeat the seeds of the unhinted ones, the mean comes with its interval,
   and seeds are added where that is wide; there the two are played from different seeds, so regret is noise
   until many plays are averaged.
2. **A block is one prompt.** All G unhinted plays of a block start from one seed: the GRPO baseline then
   compares actions, not luck. Hinted and extra plays are measured and never trained on.
3. **Both roles share one step.** A round is one designer block and G agent blocks in one batch, each with a
   baseline of its own; there the designer is updated every fourth rollout from a batch of its own (here:
   ``schedule: alternate``).
4. **A design must be admitted.** It is compiled, built and played in an isolated worker: its expert must
   succeed, random play must not, the same seed must repeat. There it runs in the training process after a
   smoke test.
5. **A refused design leaves no gap.** Its block plays an environment of the curriculum, so every batch is
   full; the designer still pays for it.
6. **The hint is code.** It belongs to the environment and is checked for leaks; there the model writes it
   afterwards.
7. **The hint stands in the worked examples, too.** A hint in the task alone breaks the pattern that a small
   model follows, and regret turns negative for that reason only.
8. **The agent earns the whole return**, plus terms that no failure can ride above a success.
9. **Small models design in slots**: tokens under a grammar choose among templates. GRPO scores them without
   the grammar, a known bias: forced tokens are masked, and the model's own choices are scored among all
   tokens.
10. **A designer that cheats is watched for**, and what it gains that way is not paid.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from spade_envs import make_text
from spade_envs.records import Measured
from spade_train.ahead import Ahead
from spade_train.briefing import Brief, remembered
from spade_train.clock import Clock
from spade_train.config import SelfPlayConfig
from spade_train.corpus import Corpus
from spade_train.curriculum import Choice, Learnt, choose, uniform
from spade_train.designer import DesignContext, Designer, Reason
from spade_train.designer.freedom import Freedom, fixed
from spade_train.designer.ways import Way
from spade_train.filling import candidates, results
from spade_train.memory import Facts, Idea, Memory, Record, statistics
from spade_train.monitors import Alarm, DesignSeen
from spade_train.playing.decoding import Policy
from spade_train.playing.measuring import Place, Player
from spade_train.playing.play import Limits
from spade_train.playing.prompts import TRAINING_SEEDS, TextEnvironment
from spade_train.reports import facts_of, random_play, report_of
from spade_train.rewards.paying import Pay, flat_blocks
from spade_train.rewards.uncertainty import Tally, total
from spade_train.rounds import Design, Played, Role, Round, Stock
from spade_train.schedule import RoundPlan, Schedule
from spade_train.standing import Standing
from spade_train.watching import Watch, environment_seen
from spade_train.workshop.workshop import Workshop
from spade_train.world import World


@dataclass(frozen=True)
class Roles:
    """Who writes and who plays: one model in both roles, or two.

    Attributes:
        use: is told whose turn comes, where each role has an adapter of its own.
    """

    designer: Policy
    agent: Policy
    use: Callable[[Role], None]


@dataclass
class SelfPlay:
    """The parts that a round needs. Memory, watch, standing, learnt and the workshop's registry grow; the rest stays.

    Attributes:
        seed: the run's seed; a round's draws follow from it, the round's number and the rank alone.
        pool: ids that fill the blocks of refused designs, and all blocks of a round without designs.
        world: the processes that train together; each plays a round of its own, all share one memory.
        ahead: who designs beside training, where that is wanted.
    """

    config: SelfPlayConfig
    schedule: Schedule
    seed: int
    limits: Limits
    workshop: Workshop
    pay: Pay
    pool: Sequence[str]
    corpus: Corpus
    standing: Standing
    world: World = field(default_factory=World)
    memory: Memory = field(default_factory=Memory)
    watch: Watch = field(default_factory=Watch)
    learnt: Learnt = field(default_factory=Learnt)
    _facts: dict[str, Facts | None] = field(default_factory=dict, init=False, repr=False)
    ahead: Ahead | None = None
    freedom: Freedom = field(default_factory=lambda: fixed("slots"))
    make_designer: Callable[[Way], Designer] | None = None

    def round(self, roles: Roles, number: int, clock: Clock) -> Round:
        """Play round ``number`` and return the batch to train on."""
        plan = self.schedule.plan(number)
        rng = random.Random(f"{self.seed}/{number}/{self.world.rank}")
        designs, reasons, stock = self._design(roles, number, plan, clock) if plan.designs else ([], (), None)
        plan = plan.with_designs(len(designs))
        with clock.phase("play"):
            roles.use("agent")
            played = self._play(roles.agent, designs, plan, rng, number)
        rows = self.pay.of_agent(played) if plan.agent_learns else []
        watch, alarms = self._look(number, designs, played, flat_blocks(rows, self.schedule.group))
        if plan.designer_learns:
            rows = self.pay.of_designer(designs, played, alarms) + rows
        out = set(watch.quarantined) - set(self.watch.quarantined)
        kept = self.standing.after(number, designs, played, out)
        self._remember(number, designs, kept.measured, remembered(reasons))
        self._free(designs)
        self._learn(number, played)
        self.watch = watch  # last, as the memory: a round that fails before can be played again
        outside = self.workshop.outside
        spent = outside.backend.take() if outside else None
        return Round(number, tuple(designs), tuple(played), tuple(rows), alarms, reasons, stock, spent)

    def _design(
        self, roles: Roles, number: int, plan: RoundPlan, clock: Clock
    ) -> tuple[list[Design], tuple[Reason, ...], Stock | None]:
        """Let the designer write, and judge what it wrote; or take what has been designed beside training.

        Returns:
            The designs, why the designer was told what it was told, and the stock of designs beside training.
        """
        if self.ahead is not None:
            with clock.phase("admit"):
                return self._ready(self.ahead, number, plan.designs)
        with clock.phase("design"):
            roles.use("designer")
            context = self.workshop.prepared(roles.designer, self.context(number))
            replies = self.workshop.write(roles.designer, context, plan.designs)
        with clock.phase("admit"):
            return self.workshop.admit(replies, context, roles.designer), context.reasons, None

    def _free(self, designs: Sequence[Design]) -> None:
        """Let everybody's designs decide in which way the next round designs."""
        parts = self.world.gather([design.env_id is not None for design in designs])
        freedom = self.freedom.after(admitted for part in parts for admitted in part)
        if freedom.way != self.freedom.way and self.make_designer is not None:
            self.workshop.designer = self.make_designer(freedom.way)
        self.freedom = freedom

    def _ready(self, ahead: Ahead, number: int, count: int) -> tuple[list[Design], tuple[Reason, ...], Stock]:
        """Take this process's part of what is ready; the first process designs for all."""
        first, size = self.world.first, self.world.size
        found = ahead.round(number, count * size, partial(self.context, number)) if first else None
        designs, stock = self.world.gather(found)[0] or ([], Stock(0, 0, 0))
        told = ahead.told if first and designs else ()  # one prompt for all: told once
        return designs[self.world.rank * count :][:count], told, stock

    def close(self) -> None:
        """End what runs beside training."""
        if self.ahead is not None:
            self.ahead.close()

    def context(self, number: int, draw: int | None = None) -> DesignContext:
        """Return what the designer is told: a document that no other process draws, and what all remember.

        Args:
            number: the round.
            draw: the document's place in the corpus's order, where that is not the round's.
        """
        place = number * self.world.size + self.world.rank if draw is None else draw
        active = {env_id: self._facts_of(env_id) for env_id in self._candidates()}
        pool = statistics(active, self.standing.statuses.values())
        brief = Brief(self.config, number, self.seed, self.corpus, place, pool)
        return brief.context(self.memory)

    def _facts_of(self, env_id: str) -> Facts | None:
        """Return what admission knows of an environment, read once: a version never changes."""
        if self._facts.get(env_id) is None:
            self._facts[env_id] = facts_of(env_id)
        return self._facts[env_id]

    def _play(
        self, policy: Policy, designs: Sequence[Design], plan: RoundPlan, rng: random.Random, number: int
    ) -> list[Played]:
        """Play every block without and with the hint; then new designs that ask for more.

        Their regret is still vague, or the hint may be all that they ask for.
        """
        spare = iter(self._fillers(number, sum(d.env_id is None for d in designs) + plan.fillers))
        chosen = [Choice(one.env_id, 1, "") if one.env_id else next(spare) for one in designs]
        places = [
            Place(one.env_id, _seeds(rng, plan.blocks // plan.designs), one.level, one.why) for one in chosen
        ]
        places += [Place(one.env_id, _seeds(rng, 1), one.level, one.why) for one in spare]
        player = Player(policy, self.schedule.group, self.make, self.limits)
        played = player.blocks(places)
        new = [n for n, design in enumerate(designs) if design.env_id]
        effort = self.config.regret_width, self.config.extra_plays
        narrow = player.narrow([played[n] for n in new], *effort, rng)
        for n, one in zip(new, player.blind(narrow, self.config.blind_plays, rng), strict=True):
            played[n] = one
        return played

    def _fillers(self, number: int, count: int) -> list[Choice]:
        """Choose what fills the blocks of refused designs and those beside the designs.

        By draws of its own: seeds are the same however it is chosen.
        """
        rng = random.Random(f"{self.seed}/{number}/{self.world.rank}/curriculum")
        if not self.config.prioritised:
            return [Choice(one, 1, "drawn uniformly") for one in uniform(self._candidates(), count, rng)]
        fit = candidates(
            self.pool, self.standing.statuses, self.watch.quarantined, self._facts_of, self.config.replay
        )
        weakness = {one.skill: one.weakness for one in self.memory.profile()}
        return choose(fit, self.learnt, count, number, rng, self.config.shares(), weakness)

    def _learn(self, number: int, played: Sequence[Played]) -> None:
        """Let the curriculum know what every process has played: all know the same."""
        parts = self.world.gather(results(played, self._facts_of, self.config.levels))
        known = [one for part in parts for one in part]
        self.learnt = self.learnt.after(number, known, self.config.shares().ladder)

    def _candidates(self) -> list[str]:
        """What fills blocks: the pool, and the run's own active environments on the frontier."""
        own = [env_id for env_id in self.memory.frontier() if self.standing.is_active(env_id)]
        known = [*self.pool, *(own if self.config.replay else ())]
        fit = [one for one in known if one not in self.watch.quarantined and self.standing.may_play(one)]
        return fit or list(self.pool)

    def _look(
        self, number: int, designs: Sequence[Design], played: Sequence[Played], flat: Tally
    ) -> tuple[Watch, tuple[Alarm, ...]]:
        """Let the monitors see what every process has designed and played; all come to the same alarms."""
        easiest = [one for one in played if one.level == 1]  # other levels are other tasks
        known = [environment_seen(one, random_play(report_of(one.env_id))) for one in easiest]
        ideas = [(Idea.of(design.source or ""), design.env_id) for design in designs]
        parts = self.world.gather((known, ideas, flat))
        seen = [one for part, *_ in parts for one in part]
        meant = [one for _, part, _ in parts for one in part]
        keys = self.memory.ideas(idea for idea, _ in meant)
        told = [DesignSeen(key, env_id) for key, (_, env_id) in zip(keys, meant, strict=True) if key]
        return self.watch.after(number, seen, total(flat for *_, flat in parts), told)

    def make(self, env_id: str, **arguments: int) -> TextEnvironment:
        """Open an environment's text face; ``difficulty`` is its level."""
        env: TextEnvironment = make_text(env_id, action_format=self.config.action_format, **arguments)
        return env

    def _remember(
        self, number: int, designs: Sequence[Design], measured: Sequence[Measured], shown: Sequence[str]
    ) -> None:
        """Add everybody's designs, in the order of ranks, and what was measured: all processes remember the same."""
        mine = [
            Record.of(design.source, number, id=design.env_id, reason=design.refusal)
            for design in designs
            if design.source is not None
        ]
        parts = self.world.gather((mine, shown))
        for record in (record for records, _ in parts for record in records):
            self.memory.add(record)
        facts = {one.id: self._facts_of(one.id) for one in measured}
        self.memory.learn(number, measured, {name: one.skills for name, one in facts.items() if one})
        self.memory.note(number, self.standing.statuses, {name for _, names in parts for name in names})


def _seeds(rng: random.Random, count: int) -> tuple[int, ...]:
    return tuple(rng.sample(range(TRAINING_SEEDS), count))
