"""From a prompt to versions in the registry: replies, sources, verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from spade_envs import Admission, Panel, Registry, Rejection
from spade_train.designer import DesignContext, Designer
from spade_train.playing.constraint import Constraint, JsonConstraint
from spade_train.playing.decoding import Policy
from spade_train.rounds import Design
from spade_train.world import World


@dataclass
class Workshop:
    """Where designs are written and admitted.

    Attributes:
        registry: the run's own; it grows.
        run: the run's name, which each admission records.
        tokens: the most that a reply may have.
        jobs: how many designs are judged at once; as many as there are cores for None.
    """

    designer: Designer
    registry: Registry
    run: str
    tokens: int
    jobs: int | None = None
    world: World = field(default_factory=World)
    _grammar: JsonConstraint | None = field(default=None, init=False, repr=False)

    def write(self, policy: Policy, context: DesignContext, count: int) -> list[Design]:
        """Sample ``count`` replies to one prompt."""
        if not count:
            return []
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
        read = [self._read(design, context) for design in replies]
        sources = [design.source for design in read if design.source is not None]
        panel = Panel(
            self.registry,
            run=self.run,
            round=context.round,
            document=context.document.text if context.document else None,
        )
        judged = self.world.gather((sources, panel.judge(sources, self.jobs)))
        settled = [panel.settle(*pair) for pair in judged] if self.world.first else []
        mine = iter(self.world.gather(settled)[0][self.world.rank])
        return [design if design.source is None else _settled(design, next(mine)) for design in read]

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
