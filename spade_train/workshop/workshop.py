"""From a prompt to versions in the registry: replies, sources, verdicts, repairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from spade_envs import Panel, Registry
from spade_train.designer import DesignContext, Designer, Message, how_made, prompts
from spade_train.playing.constraint import Constraint, JsonConstraint
from spade_train.playing.decoding import Policy
from spade_train.rounds import Design
from spade_train.workshop import hints
from spade_train.workshop.judged import Judged
from spade_train.workshop.outside import Outside, seeds_of
from spade_train.workshop.repairs import Voice, repaired
from spade_train.workshop.verdicts import hinted, with_source
from spade_train.world import World


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
        read = [
            one if one.refusal else with_source(one, self.designer.read(one.reply, context))
            for one in replies
        ]
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
        pairs = repaired(
            self.designer,
            context,
            judged.pairs,
            voice,
            lambda read: self._judged(replace(judged, designs=tuple(read)), context, policy).pairs,
            self.max_repairs,
        )
        return judged.of(pairs)

    def settle(self, judged: Judged) -> list[Design]:
        """Write what has passed into the registry, and return what became of each.

        Raises:
            RegistryError: the registry cannot be written.
        """
        return judged.settled(judged.panel.settle(judged.sources, judged.verdicts, judged.provenances))

    def _judged(self, judged: Judged, context: DesignContext, policy: Policy | None) -> Judged:
        """Judge the sources, with the reader's hints where there is one."""
        reader = self._reader(policy, context) if self.hints_by_reader else None
        read, verdicts = hints.judge(judged.panel, judged.sources, self.jobs, reader)
        mine = iter(read)
        designs = (one if one.source is None else hinted(one, next(mine)) for one in judged.designs)
        return replace(judged, designs=tuple(designs), verdicts=tuple(verdicts))

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
            Design(
                policy.text(one.tokens),
                tuple(prompt),
                tuple(one.tokens),
                tuple(one.chosen),
                logprobs=tuple(one.logprobs),
            )
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
            context,
        )

    def _constraint(self, policy: Policy) -> Constraint | None:
        schema = self.designer.schema()
        if schema is None:
            return None
        if self._grammar is None:  # it takes a second to build: kept for the run
            self._grammar = JsonConstraint(policy.tokenizer, schema, policy.model.config.vocab_size)
        return self._grammar
