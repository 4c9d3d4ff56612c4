"""From a prompt to versions in the registry: replies, sources, verdicts, repairs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spade_envs import Admission, Panel, Registry, Rejection, Report
from spade_train import hints
from spade_train.designer import (
    DesignContext,
    Designer,
    Draft,
    Message,
    how_made,
    prompts,
    read_repair,
    repair_prompt,
)
from spade_train.outside import Outside, seeds_of
from spade_train.playing.constraint import Constraint, JsonConstraint
from spade_train.playing.decoding import Policy
from spade_train.rounds import Design
from spade_train.world import World

Verdict = Report | Admission
Voice = Callable[[Sequence[list[Message]]], list[Design]]
"""Chats -> a reply to each, in their order, not read yet."""


@dataclass(frozen=True)
class Judged:
    """Designs of one prompt with their verdicts; nothing is written yet.

    Attributes:
        panel: who compared them, and with what.
        designs: those without a source are refused already.
        verdicts: one for each design with a source.
        made: how they were made, as admission records it.
    """

    panel: Panel
    designs: tuple[Design, ...]
    verdicts: tuple[Verdict, ...]
    made: Mapping[str, Any] = field(default_factory=dict)

    @property
    def sources(self) -> list[str]:
        """The sources, in order."""
        return [design.source for design in self.designs if design.source is not None]

    @property
    def provenances(self) -> list[dict[str, Any]]:
        """How each source was made."""
        of = (design for design in self.designs if design.source is not None)
        return [
            {**self.made, "mends": list(one.mends), "repairs": one.repairs}
            | ({"hint": one.hint} if one.hint else {})
            for one in of
        ]

    @property
    def pairs(self) -> list[tuple[Design, Verdict | None]]:
        """Each design with its verdict; None where it has no source."""
        mine = iter(self.verdicts)
        return [(one, None if one.source is None else next(mine)) for one in self.designs]

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
    outside: Outside | None = None
    max_repairs: int = 0
    model: str | None = None
    hints_by_reader: bool = False
    _grammar: JsonConstraint | None = field(default=None, init=False, repr=False)

    def prepared(self, policy: Policy | None, context: DesignContext) -> DesignContext:
        """Return the context with what the way needs besides: parents, or a plan that all of a block share."""
        ready = self.designer.prepare(context)
        preface, voice = self.designer.preface(ready), self._voice(policy, context, "plan", None)
        return ready if preface is None or voice is None else replace(ready, plan=voice([preface])[0].reply)

    def write(self, policy: Policy, context: DesignContext, count: int) -> list[Design]:
        """Sample ``count`` replies to one prompt."""
        if not count:
            return []
        if self.outside:
            return self.outside.write(self.designer, context, seeds_of(context, str(self.world.rank), count))
        return self._sampled(policy, [self.designer.prompt(context)] * count, self._constraint(policy))

    def admit(
        self, replies: Sequence[Design], context: DesignContext, policy: Policy | None = None
    ) -> list[Design]:
        """Read the replies and put their sources through admission; what passes can be made at once.

        Every process judges its own designs; the first one settles all of them, in the order of ranks.

        Raises:
            IsolationError: this machine cannot judge them.
            RegistryError: the registry cannot be written.
        """
        judged = self.judge(replies, context, policy)
        everyone = self.world.gather((judged.sources, judged.verdicts, judged.provenances))
        settled = [judged.panel.settle(*part) for part in everyone] if self.world.first else []
        return judged.settled(self.world.gather(settled)[0][self.world.rank])

    def judge(
        self, replies: Sequence[Design], context: DesignContext, policy: Policy | None = None
    ) -> Judged:
        """Read the replies and judge their sources; a design that is refused already is passed by.

        What is refused goes back with its report to whoever wrote it: ``policy``, or the designer outside. A row keeps
        its first reply, which is the one to be trained on.

        Raises:
            IsolationError: this machine cannot judge them.
        """
        read = [one if one.refusal else _read(one, self.designer.read(one.reply, context)) for one in replies]
        panel = Panel(
            self.registry,
            run=self.run,
            round=context.round,
            document=context.document.text if context.document else None,
            shown=self.designer.quoted(context),
        )
        judged = self._judged(Judged(panel, tuple(read), (), self._made(context, policy)), context, policy)
        voice = self._voice(policy, context, "repair", None)
        if voice is None or self.designer.schema() is not None:  # a grammar leaves nothing to be mended
            return judged
        return self._repaired(judged, context, policy, voice)

    def settle(self, judged: Judged) -> list[Design]:
        """Write what has passed into the registry, and return what became of each.

        Raises:
            RegistryError: the registry cannot be written.
        """
        return judged.settled(judged.panel.settle(judged.sources, judged.verdicts, judged.provenances))

    def _judged(self, judged: Judged, context: DesignContext, policy: Policy | None) -> Judged:
        """Judge the sources, with the reader's hints where there is one."""
        reader = self._reader(policy, context) if self.hints_by_reader else None
        hinted, verdicts = hints.judge(judged.panel, judged.sources, self.jobs, reader)
        mine = iter(hinted)
        designs = (one if one.source is None else _hinted(one, next(mine)) for one in judged.designs)
        return replace(judged, designs=tuple(designs), verdicts=tuple(verdicts))

    def _repaired(
        self, judged: Judged, context: DesignContext, policy: Policy | None, voice: Voice
    ) -> Judged:
        """Return the designs with what came of the refused ones' repairs; one that came to nothing stays as it was."""
        found = judged.pairs
        latest = firsts = [_refused(*pair) for pair in found]
        told = [(context, self.designer.prompt(context))] * len(found)
        for turn in range(1, self.max_repairs + 1):
            due = [n for n, (design, verdict) in enumerate(found) if not _passed(verdict) and design.reply]
            for n in due:
                last = latest[n]
                told[n] = repair_prompt(
                    self.designer, *told[n], last.reply, _draft(last), last.findings, turn
                )
            again = voice([told[n][1] for n in due]) if due else []
            read = [self._reread(one, told[n][0], latest[n]) for n, one in zip(due, again, strict=True)]
            new = self._judged(replace(judged, designs=tuple(read), verdicts=()), context, policy)
            for n, (design, verdict) in zip(due, new.pairs, strict=True):
                if _passed(verdict):
                    found[n] = _as_row(firsts[n], design, turn), verdict
            latest = [*latest]
            for n, pair in zip(due, new.pairs, strict=True):
                latest[n] = _after(latest[n], _refused(*pair))
        verdicts = tuple(verdict for _, verdict in found if verdict is not None)
        return replace(judged, designs=tuple(design for design, _ in found), verdicts=verdicts)

    def _reread(self, design: Design, context: DesignContext, refused: Design) -> Design:
        if design.refusal:
            return design
        read = read_repair(self.designer, design.reply, context, _draft(refused), refused.findings)
        return _read(design, read)

    def _voice(
        self, policy: Policy | None, context: DesignContext, about: str, constraint: Constraint | None
    ) -> Voice | None:
        """Return whoever writes the designs, to be asked again; None where nobody is there."""
        if self.outside is not None:
            outside, key = self.outside, f"{self.world.rank}/{context.number}/{about}"
            asked: list[int] = []

            def ask(chats: Sequence[list[Message]]) -> list[Design]:
                asked.append(len(asked))
                return outside.replies(chats, seeds_of(context, f"{key}/{asked[-1]}", len(chats)))

            return ask
        if policy is None:
            return None
        return lambda chats: self._sampled(policy, chats, constraint)

    def _sampled(
        self, policy: Policy, chats: Sequence[list[Message]], constraint: Constraint | None
    ) -> list[Design]:
        asked = [policy.ids(policy.chat.render(chat)) for chat in chats]
        replies = policy.decoder(asked).sample(self.tokens, constraint)
        return [
            Design(policy.text(one.tokens), tuple(prompt), tuple(one.tokens), tuple(one.chosen))
            for prompt, one in zip(asked, replies, strict=True)
        ]

    def _reader(self, policy: Policy | None, context: DesignContext) -> hints.Reader | None:
        if self.outside is not None:
            return hints.of_backend(self.outside.backend, context.seed)
        return hints.of_policy(policy) if policy else None

    def _made(self, context: DesignContext, policy: Policy | None) -> dict[str, Any]:
        heat = self.outside.temperature if self.outside else policy.temperature if policy else None
        return how_made(
            self.outside.backend.name if self.outside else self.model,
            self.designer,
            prompts.sha256(self.designer.prompt(context)),
            {"tokens": self.tokens, "temperature": heat},
            context.document,
        )

    def _constraint(self, policy: Policy) -> Constraint | None:
        schema = self.designer.schema()
        if schema is None:
            return None
        if self._grammar is None:  # it takes a second to build: kept for the run
            self._grammar = JsonConstraint(policy.tokenizer, schema, policy.model.config.vocab_size)
        return self._grammar


def _read(design: Design, read: Draft | Rejection) -> Design:
    if isinstance(read, Rejection):
        return replace(design, refusal=read.text(), findings=read.findings)
    return replace(design, source=read.source, mends=read.mends)


def _draft(design: Design) -> Draft | None:
    return None if design.source is None else Draft(design.source, design.mends)


def _passed(verdict: Verdict | None) -> bool:
    if isinstance(verdict, Admission):
        return verdict.id is not None
    return verdict is not None and verdict.admitted


def _refused(design: Design, verdict: Verdict | None) -> Design:
    """Return a design with what its verdict found, for its repair."""
    if verdict is None:
        return design
    report = verdict.report if isinstance(verdict, Admission) else verdict
    return replace(design, findings=report.refusing, compiled=_compiled(report))


def _after(before: Design, now: Design) -> Design:
    """Return what the next repair goes on from: the later reply, put into the earlier source where it has none."""
    return now if now.source else replace(before, reply=now.reply or before.reply, findings=now.findings)


def _as_row(first: Design, repaired: Design, repairs: int) -> Design:
    """Return the row of the first reply with the source that came of its repair."""
    kept = {name: getattr(first, name) for name in ("reply", "prompt_ids", "completion_ids", "mask")}
    return replace(repaired, **kept, compiled=first.compiled, repairs=repairs)


def _hinted(design: Design, hinted: hints.Hinted) -> Design:
    return replace(design, source=hinted.source, hint=hinted.hint or None)


def _settled(design: Design, admission: Admission) -> Design:
    findings = admission.report.refusing
    return replace(
        design,
        compiled=design.compiled if design.repairs else _compiled(admission.report),
        refusal=None if admission.id else Rejection(findings).text(),
        findings=() if admission.id else findings,
        env_id=admission.id,
        report=admission.report.as_dict(),
    )


def _compiled(report: Report) -> bool:
    return not any(gate.name == "form" for gate in report.gates if not gate.passed)
