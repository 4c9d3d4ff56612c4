"""From a prompt to versions in the registry: replies, sources, verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from spade_envs import Admission, Panel, Registry, Rejection, Report
from spade_train.designer import DesignContext, Designer
from spade_train.outside import Outside, seeds_of
from spade_train.playing.constraint import Constraint, JsonConstraint
from spade_train.playing.decoding import Policy
from spade_train.rounds import Design
from spade_train.world import World


@dataclass(frozen=True)
class Judged:
    """Designs of one prompt with their verdicts; nothing is written yet.

    Attributes:
        panel: who compared them, and with what.
        designs: those without a source are refused already.
        verdicts: one for each design with a source.
    """

    panel: Panel
    designs: tuple[Design, ...]
    verdicts: tuple[Report | Admission, ...]

    @property
    def sources(self) -> list[str]:
        """The sources, in order."""
        return [design.source for design in self.designs if design.source is not None]

    def settled(self, admissions: Sequence[Admission]) -> list[Design]:
        """Return the designs as what has become of their sources."""
        mine = iter(admissions)
        return [one if one.source is None else _settled(one, next(mine)) for one in self.designs]


@dataclass
class Workshop:
    """Where designs are written and admitted.

    Attributes:
        registry: the run's own; it grows.
        run: the run's name, which each admission records.
        tokens: the most that a reply may have.
        jobs: how many designs are judged at once; as many as there are cores for None.
        outside: who writes, where that is not the model in training.
    """

    designer: Designer
    registry: Registry
    run: str
    tokens: int
    jobs: int | None = None
    world: World = field(default_factory=World)
    outside: Outside | None = None
    _grammar: JsonConstraint | None = field(default=None, init=False, repr=False)

    def write(self, policy: Policy, context: DesignContext, count: int) -> list[Design]:
        """Sample ``count`` replies to one prompt."""
        if not count:
            return []
        if self.outside:
            return self.outside.write(self.designer, context, seeds_of(context, str(self.world.rank), count))
        prompt = policy.ids(policy.chat.render(self.designer.prompt(context)))
        replies = policy.decoder([prompt] * count).sample(self.tokens, self._constraint(policy))
        return [
            Design(policy.text(one.tokens), tuple(prompt), tuple(one.tokens), tuple(one.chosen))
            for one in replies
        ]

    def admit(self, replies: Sequence[Design], context: DesignContext) -> list[Design]:
        """Read the replies and put their sources through admission; what passes can be made at once.

        Every process judges its own designs; the first one settles all of them, in the order of ranks.

        Raises:
            IsolationError: this machine cannot judge them.
            RegistryError: the registry cannot be written.
        """
        judged = self.judge(replies, context)
        everyone = self.world.gather((judged.sources, judged.verdicts))
        settled = [judged.panel.settle(*pair) for pair in everyone] if self.world.first else []
        return judged.settled(self.world.gather(settled)[0][self.world.rank])

    def judge(self, replies: Sequence[Design], context: DesignContext) -> Judged:
        """Read the replies and judge their sources; a design that is refused already is passed by.

        Raises:
            IsolationError: this machine cannot judge them.
        """
        read = tuple(one if one.refusal else self._read(one, context) for one in replies)
        panel = Panel(
            self.registry,
            run=self.run,
            round=context.round,
            document=context.document.text if context.document else None,
        )
        judged = Judged(panel, read, ())
        return replace(judged, verdicts=tuple(panel.judge(judged.sources, self.jobs)))

    def settle(self, judged: Judged) -> list[Design]:
        """Write what has passed into the registry, and return what became of each.

        Raises:
            RegistryError: the registry cannot be written.
        """
        return judged.settled(judged.panel.settle(judged.sources, judged.verdicts))

    def _read(self, design: Design, context: DesignContext) -> Design:
        source = self.designer.read(design.reply, context)
        if isinstance(source, Rejection):
            return replace(design, refusal=source.text())
        return replace(design, source=source)

    def _constraint(self, policy: Policy) -> Constraint | None:
        schema = self.designer.schema()
        if schema is None:
            return None
        if self._grammar is None:  # it takes a second to build: kept for the run
            self._grammar = JsonConstraint(policy.tokenizer, schema, policy.model.config.vocab_size)
        return self._grammar


def _settled(design: Design, admission: Admission) -> Design:
    report = admission.report
    findings = tuple(finding for gate in report.gates for finding in gate.findings)
    return replace(
        design,
        compiled=not any(gate.name == "form" for gate in report.gates if not gate.passed),
        refusal=None if admission.id else Rejection(findings).text(),
        env_id=admission.id,
        report=report.as_dict(),
    )
