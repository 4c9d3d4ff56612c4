"""Free-form designing, for models that can write a class: the reply is a whole file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from spade_envs import Rejection, parse_header, read_reply
from spade_train.designer import prompts
from spade_train.designer.context import DesignContext, Draft, Message
from spade_train.designer.headers import Facts
from spade_train.designer.mends import mend
from spade_train.designer.window import Window
from spade_train.designer.worked import Example, Form, seed_examples, short_examples


@dataclass(frozen=True, slots=True)
class FreeDesigner:
    """Asks for a whole file.

    Attributes:
        brief: whether the prompt is made for a small model: few rules, short examples as earlier turns.
        examples: what to show; without any, the short environments of this package, or the shorter seeds.
        shown: how many of them one prompt shows.
        window: the prompt's size.
        planned: whether the model first plans in words.
        form: of the short examples.
    """

    brief: bool = False
    examples: tuple[Example, ...] = ()
    shown: int = 3
    window: Window = field(default_factory=Window)
    planned: bool = False
    form: Form = "questions"

    @property
    def way(self) -> str:
        """Return ``"free"``, or ``"two_stage"`` where a plan comes first."""
        return "two_stage" if self.planned else "free"

    def prepare(self, context: DesignContext) -> DesignContext:
        """Return the context as it is."""
        return context

    def preface(self, context: DesignContext) -> list[Message] | None:
        """Return the chat that asks for a plan, where one comes first."""
        return self._chat(context, "request_plan") if self.planned else None

    def prompt(self, context: DesignContext) -> list[Message]:
        """Return the chat that asks for one file, within the window.

        Raises:
            UsageError: the window does not even hold the contract.
        """
        if not self.planned:
            return self._chat(context, "request_brief" if self.brief else "request_free")
        plan = self.window.cut(context.plan, self.window.tokens // 8)
        return self._chat(replace(context, plan=plan), "request_planned")

    def schema(self) -> None:
        """Return None: a file is free text."""

    def read(self, reply: str, context: DesignContext) -> Draft | Rejection:
        """Return the mended source in the reply, or why there is none."""
        return read_file(reply, Facts(context.round))

    def quoted(self, context: DesignContext) -> tuple[str, ...]:
        """Return the examples' sources."""
        return tuple(example.whole for example in self._chosen(context))

    def _chat(self, context: DesignContext, request: str) -> list[Message]:
        chat = prompts.brief if self.brief else prompts.free
        return chat(self._chosen(context), context, self.window, request)

    def _chosen(self, context: DesignContext) -> list[Example]:
        examples = self.examples or (short_examples(self.form) if self.brief else seed_examples())
        return context.rng().sample(examples, min(self.shown, len(examples)))


def read_file(reply: str, facts: Facts) -> Draft | Rejection:
    """Return the whole file in a reply, mended, or why there is none that can be a design."""
    source = read_reply(reply)
    if isinstance(source, Rejection):
        return source
    mended = mend(source, facts)
    header = parse_header(mended.source)
    return header if isinstance(header, Rejection) else Draft(mended.source, mended.mends)
