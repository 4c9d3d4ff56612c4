"""From a prompt to versions in the registry: replies, sources, verdicts, repairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spade_envs import Admission, Finding, Panel, Registry, Rejection, Report
from spade_train import hints
from spade_train.designer import DesignContext, Designer, Draft, Message, prompts, read_repair, repair_prompt
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
        max_repairs: how often a refused design goes back with its report.
        model: the designer's, as admission records it.
        hints_by_reader: whether the model that designs reads each source anew and writes its hint.
    """

    designer: Designer
    registry: Registry
    run: str
    tokens: int
    jobs: int | None = None
    world: World = field(default_factory=World)
    max_repairs: int = 0
    model: str | None = None
    hints_by_reader: bool = False
    _grammar: JsonConstraint | None = field(default=None, init=False, repr=False)

    def prepared(self, policy: Policy, context: DesignContext) -> DesignContext:
        """Return the context with what the way needs besides: parents, or a plan that all of a block share."""
        ready = self.designer.prepare(context)
        preface = self.designer.preface(ready)
        if preface is None:
            return ready
        prompt = policy.ids(policy.chat.render(preface))
        return replace(ready, plan=policy.text(policy.decoder([prompt]).sample(self.tokens)[0].tokens))

    def write(self, policy: Policy, context: DesignContext, count: int) -> list[Design]:
        """Sample ``count`` replies to one prompt."""
        if not count:
            return []
        return self._sampled(policy, [self.designer.prompt(context)] * count)

    def admit(
        self, replies: Sequence[Design], context: DesignContext, policy: Policy | None = None
    ) -> list[Design]:
        """Read the replies and put their sources through admission; what passes can be made at once.

        Every process judges its own designs; the first one settles all of them, in the order of ranks. What is refused
        goes back to ``policy``, where there is one; rows keep the first reply, which is the one to be trained on.

        Raises:
            IsolationError: this machine cannot judge them.
            RegistryError: the registry cannot be written.
        """
        chats = [self.designer.prompt(context)] * len(replies)
        read = [_read(design, self.designer.read(design.reply, context)) for design in replies]
        designs = self._judged(read, context, policy)
        if policy is None or self.designer.schema() is not None:  # a grammar leaves nothing to be mended
            return designs
        latest = designs
        for turn in range(self.max_repairs):  # every process as often: they settle together
            due = [n for n, design in enumerate(designs) if design.env_id is None]
            for n in due:
                chats[n] = self._repair_chat(chats[n], latest[n])
            again = self._sampled(policy, [chats[n] for n in due]) if due else []
            read = [
                _read(one, read_repair(self.designer, one.reply, context, _draft(latest[n])))
                for n, one in zip(due, again, strict=True)
            ]
            latest, judged = list(latest), self._judged(read, context, policy)
            for n, one in zip(due, judged, strict=True):
                latest[n] = one if one.source else replace(latest[n], reply=one.reply, findings=one.findings)
                if one.env_id:
                    designs[n] = _repaired(designs[n], one, turn + 1)
        return designs

    def _sampled(self, policy: Policy, chats: Sequence[list[Message]]) -> list[Design]:
        prompts_ = [policy.ids(policy.chat.render(chat)) for chat in chats]
        replies = policy.decoder(prompts_).sample(self.tokens, self._constraint(policy))
        return [
            Design(policy.text(one.tokens), tuple(prompt), tuple(one.tokens), tuple(one.chosen))
            for prompt, one in zip(prompts_, replies, strict=True)
        ]

    def _repair_chat(self, chat: list[Message], design: Design) -> list[Message]:
        return repair_prompt(self.designer, chat, design.reply, _draft(design), design.findings)

    def _judged(
        self, designs: Sequence[Design], context: DesignContext, policy: Policy | None
    ) -> list[Design]:
        sources = [design.source for design in designs if design.source is not None]
        panel = Panel(
            self.registry,
            run=self.run,
            round=context.round,
            document=context.document.text if context.document else None,
            shown=self.designer.quoted(context),
        )
        made = self._provenance(context, policy)
        made_all = [{**made, "mends": list(design.mends)} for design in designs if design.source is not None]
        reader = hints.of_policy(policy) if policy and self.hints_by_reader else None
        hinted, verdicts = hints.judge(panel, sources, self.jobs, reader)
        judged = self.world.gather(([one.source for one in hinted], verdicts, made_all))
        settled = [panel.settle(*pair) for pair in judged] if self.world.first else []
        mine = iter(self.world.gather(settled)[0][self.world.rank])
        with_hints = iter(hinted)
        return [
            design if design.source is None else _settled(_hinted(design, next(with_hints)), next(mine))
            for design in designs
        ]

    def _provenance(self, context: DesignContext, policy: Policy | None) -> dict[str, Any]:
        sampling = {"tokens": self.tokens} | ({"temperature": policy.temperature} if policy else {})
        return provenance(self.designer, context, self.model, sampling)

    def _constraint(self, policy: Policy) -> Constraint | None:
        schema = self.designer.schema()
        if schema is None:
            return None
        if self._grammar is None:  # it takes a second to build: kept for the run
            self._grammar = JsonConstraint(policy.tokenizer, schema, policy.model.config.vocab_size)
        return self._grammar


def provenance(
    designer: Designer, context: DesignContext, model: str | None, sampling: dict[str, Any]
) -> dict[str, Any]:
    """Return how designs of a context are made, as admission records it."""
    document = context.document
    return {
        "designer": model,
        "way": designer.way,
        "prompt_version": prompts.VERSION,
        "prompt_sha256": prompts.sha256(designer.prompt(context)),
        "sampling": sampling,
        "document": document.source if document else None,
        "document_licence": document.licence if document else None,
    }


def _read(design: Design, read: Draft | Rejection) -> Design:
    if isinstance(read, Rejection):
        return replace(design, refusal=read.text(), findings=read.findings)
    return replace(design, source=read.source, mends=read.mends)


def _draft(design: Design) -> Draft | None:
    return None if design.source is None else Draft(design.source, design.mends)


def _repaired(design: Design, repaired: Design, repairs: int) -> Design:
    """Return the row of the first reply with the version that came of its repair."""
    return replace(
        design,
        source=repaired.source,
        hint=repaired.hint,
        mends=repaired.mends,
        env_id=repaired.env_id,
        report=repaired.report,
        refusal=None,
        findings=(),
        repairs=repairs,
    )


def _hinted(design: Design, hinted: hints.Hinted) -> Design:
    return replace(design, source=hinted.source, hint=hinted.hint or None)


def _settled(design: Design, admission: Admission) -> Design:
    findings = _refusing(admission.report)
    return replace(
        design,
        compiled=not any(gate.name == "form" for gate in admission.report.gates if not gate.passed),
        refusal=None if admission.id else Rejection(findings).text(),
        findings=() if admission.id else findings,
        env_id=admission.id,
        report=admission.report.as_dict(),
    )


def _refusing(report: Report) -> tuple[Finding, ...]:
    return tuple(finding for finding in report.findings if finding.severity == "refuse")
