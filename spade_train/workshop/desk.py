"""Designs made outside of training: asked of a backend, judged, repaired, admitted to a registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spade_envs import Finding, Panel, Registry, Rejection
from spade_train.backends.interface import Answer, Ask, Backend, Failed
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
from spade_train.designer.repair import Refused, is_idea, rules
from spade_train.workshop.attempts import STAGES, Attempt, Drafted, stage_of


@dataclass(frozen=True, slots=True)
class Sampling:
    """How replies are sampled.

    Attributes:
        tokens: the most that a reply may have.
        repairs: how often a refused design goes back with its report.
    """

    tokens: int = 2_048
    temperature: float = 0.8
    top_p: float = 0.95
    repairs: int = 2


@dataclass
class _Draft:
    """A design that is being made: what each attempt was asked with, its chat, and what came of it."""

    contexts: list[DesignContext]
    chats: list[list[Message]]
    spent: tuple[int, int] = (0, 0)
    attempts: list[Attempt] = field(default_factory=list)

    @property
    def context(self) -> DesignContext:
        """What the latest attempt was asked with."""
        return self.contexts[-1]

    @property
    def best(self) -> int:
        """The place of the attempt to go on from: of those whose code can be mended, the furthest, then the latest."""
        return max(
            range(len(self.attempts)),
            key=lambda k: (not is_idea(self.attempts[k].findings), STAGES.index(self.attempts[k].stage), k),
        )

    @property
    def refused(self) -> Refused:
        """That attempt, as it goes back."""
        attempt, latest = self.attempts[self.best], self.attempts[-1]
        assert attempt.reply is not None  # what got no reply is not repaired
        before = [rules(one.findings) for one in self.attempts[:-1]]
        stuck = bool(before) and (attempt is not latest or rules(latest.findings) in before)
        return Refused(attempt.reply, attempt.draft, attempt.findings, stuck)


@dataclass(frozen=True)
class Desk:
    """Where designs are made.

    Attributes:
        registry: where admitted designs are written.
        run: begins the name of the run that admission records; with the design's number it makes it unique, so that
            a design that is made again after a crash gets its version back.
    """

    backend: Backend
    registry: Registry
    sampling: Sampling = Sampling()
    run: str = "design"

    def make(self, designer: Designer, contexts: Sequence[DesignContext]) -> list[Drafted]:
        """Make one design of each context; all replies of a turn are asked for together.

        Raises:
            IsolationError: this machine cannot judge them.
            RegistryError: the registry cannot be written.
            UsageError: a prompt does not fit its window.
        """
        drafts = list(self._begun(designer, contexts))
        for turn in range(1 + self.sampling.repairs):
            open_drafts = [draft for draft in drafts if not draft.attempts or self._repairable(draft)]
            for draft in open_drafts:
                if draft.attempts:
                    _go_back(designer, draft)
            asks = [self._ask(draft.chats[-1], draft.context, turn, designer) for draft in open_drafts]
            for draft, answer in zip(open_drafts, self.backend.answer(asks) if asks else [], strict=True):
                self._take(designer, draft, answer)
        return [_design(designer, draft) for draft in drafts]

    def _begun(self, designer: Designer, contexts: Sequence[DesignContext]) -> Iterator[_Draft]:
        """Yield drafts whose chats are ready, with a plan where the way wants one."""
        ready = [designer.prepare(context) for context in contexts]
        plans = [designer.preface(context) for context in ready]
        asked = [
            self._ask(plan, context, -1, None) for plan, context in zip(plans, ready, strict=True) if plan
        ]
        answers = iter(self.backend.answer(asked) if asked else ())
        for context, plan in zip(ready, plans, strict=True):
            answer = next(answers) if plan else None
            spent = (answer.prompt_tokens, answer.completion_tokens) if isinstance(answer, Answer) else (0, 0)
            planned = replace(context, plan=answer.text) if isinstance(answer, Answer) else context
            yield _Draft([planned], [designer.prompt(planned)], spent)

    def _ask(
        self, messages: Sequence[Message], context: DesignContext, turn: int, designer: Designer | None
    ) -> Ask:
        seed = context.own_rng(f"ask {turn}").randrange(2**31)
        how = self.sampling
        schema = designer.schema() if designer else None
        return Ask(tuple(messages), seed, how.tokens, how.temperature, how.top_p, schema)

    def _repairable(self, draft: _Draft) -> bool:
        last = draft.attempts[-1]
        return last.stage not in ("asked", "admitted")

    def _take(self, designer: Designer, draft: _Draft, answer: Answer | Failed) -> None:
        """Read and judge an answer, and note what became of it."""
        sha256 = prompts.sha256(draft.chats[-1])
        if isinstance(answer, Failed):
            finding = Finding("backend.failed", answer.reason, "See to the backend and ask again.")
            draft.attempts.append(Attempt(None, "asked", sha256, findings=(finding,)))
            return
        read = self._read(designer, draft, answer.whole)
        attempt = Attempt(
            answer.text,
            "answered",
            sha256,
            prompt_tokens=answer.prompt_tokens + draft.spent[0],
            completion_tokens=answer.completion_tokens + draft.spent[1],
        )
        draft.spent = (0, 0)
        if isinstance(read, Rejection):
            attempt = replace(attempt, findings=read.findings)
        else:
            attempt = self._judged(designer, draft, replace(attempt, draft=read), read)
        draft.attempts.append(attempt)

    def _read(self, designer: Designer, draft: _Draft, reply: str) -> Draft | Rejection:
        if not draft.attempts:
            return designer.read(reply, draft.context)
        return read_repair(designer, reply, draft.context, draft.refused)

    def _judged(self, designer: Designer, draft: _Draft, attempt: Attempt, read: Draft) -> Attempt:
        context = draft.context
        panel = Panel(
            self.registry,
            run=f"{self.run}/{context.number}",
            round=context.round,
            document=context.document.text if context.document else None,
            shown=designer.quoted(context),
            provenance=self._provenance(designer, draft, attempt, read),
        )
        (admission,) = panel.settle([read.source], panel.judge([read.source], 1))
        report = admission.report
        seen: dict[str, Any] = next((gate.saw for gate in report.gates if gate.name == "novelty"), {})
        return replace(
            attempt,
            stage=stage_of(report),
            findings=() if admission.id else report.refusing,
            distance=seen.get("distance"),
            variant=seen.get("variant of"),
            env_id=admission.id,
        )

    def _provenance(self, designer: Designer, draft: _Draft, attempt: Attempt, read: Draft) -> dict[str, Any]:
        how = self.sampling
        sampling = {"tokens": how.tokens, "temperature": how.temperature, "top_p": how.top_p}
        made = how_made(self.backend.name, designer, attempt.prompt_sha256, sampling, draft.context)
        return {**made, "mends": list(read.mends), "repairs": len(draft.attempts)}


def _go_back(designer: Designer, draft: _Draft) -> None:
    """Add the chat in which the attempt that came furthest goes back with what was found of it."""
    best, turn = draft.best, len(draft.attempts)
    context, chat = repair_prompt(designer, draft.contexts[best], draft.chats[best], draft.refused, turn)
    draft.contexts.append(context)
    draft.chats.append(chat)


def _design(designer: Designer, draft: _Draft) -> Drafted:
    document = draft.context.document
    return Drafted(
        designer.way, document.source if document else None, draft.context.parents, tuple(draft.attempts)
    )
