"""Designing by joining: two stored environments become one, written anew as a whole file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from spade_envs import Rejection
from spade_train.designer import prompts
from spade_train.designer.context import DesignContext, Draft, Message
from spade_train.designer.free import read_file
from spade_train.designer.headers import Facts
from spade_train.designer.parents import Known, chosen, source_of, stored
from spade_train.designer.window import Window
from spade_train.designer.worked import Example, examples_of


@dataclass(frozen=True, slots=True)
class ComposeDesigner:
    """Asks for a file that joins two stored environments; the first is named as its parent.

    Attributes:
        brief: whether the prompt is made for a small model.
        known: what may be joined.
        window: the prompt's size; larger environments are not shown.
    """

    brief: bool = False
    known: Known = stored
    window: Window = field(default_factory=Window)
    way: str = "compose"

    def prepare(self, context: DesignContext) -> DesignContext:
        """Return the context with the two that are to be joined: wished ones first.

        Raises:
            UsageError: fewer than two are known that fit the window.
        """
        return replace(context, parents=chosen(self.known(), context, self._fits, 2))

    def preface(self, context: DesignContext) -> None:
        """Return None: there is one question."""

    def prompt(self, context: DesignContext) -> list[Message]:
        """Return the chat that shows both and asks for a file."""
        chat = prompts.brief if self.brief else prompts.free
        return chat(self._examples(context), replace(context, parents=()), self.window, "request_compose")

    def schema(self) -> None:
        """Return None: a file is free text."""

    def read(self, reply: str, context: DesignContext) -> Draft | Rejection:
        """Return the mended source in the reply, or why there is none."""
        return read_file(reply, Facts(context.round, parent=context.parents[0]))

    def quoted(self, context: DesignContext) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: both are stored."""
        return ()

    def _examples(self, context: DesignContext) -> tuple[Example, ...]:
        known = self.known()
        sources = (source_of(env_id, known) for env_id in context.parents)
        return examples_of(source for source in sources if source is not None)

    def _fits(self, source: str) -> bool:
        return self.window.count(source) <= self.window.tokens // 4
