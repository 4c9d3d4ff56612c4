"""Free-form designing, for models that can write a class: the reply is a whole file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spade_envs import Finding, Header, Rejection, parse_header, read_reply, seeds_folder
from spade_train.designer import prompts
from spade_train.designer.context import DesignContext, Message


def rough_count(text: str) -> int:
    """Return about how many tokens a text has, where no tokenizer is at hand."""
    return len(text) // 3


@dataclass(frozen=True, slots=True)
class FreeDesigner:
    """Asks for a whole file.

    Attributes:
        examples: sources to show; without any, the shorter half of the seed environments.
        shown: how many of them one prompt shows.
        count: counts the tokens of a text.
        budget: the most tokens of a prompt.
    """

    examples: tuple[str, ...] = ()
    shown: int = 2
    count: Callable[[str], int] = rough_count
    budget: int = 6_000

    def prompt(self, context: DesignContext) -> list[Message]:
        """Return the chat that asks for one file, at most ``budget`` tokens long.

        Raises:
            UsageError: the budget does not even hold the contract.
        """
        examples = self.examples or _short_seeds()
        chosen = context.rng().sample(examples, min(self.shown, len(examples)))
        return prompts.free(chosen, context, self.count, self.budget)

    def schema(self) -> None:
        """Return None: a file is free text."""

    def read(self, reply: str, context: DesignContext) -> str | Rejection:
        """Return the source in the reply, or why there is none that can be this round's design."""
        source = read_reply(reply)
        if isinstance(source, Rejection):
            return source
        header = parse_header(source)
        if isinstance(header, Rejection):
            return header
        return _wrong_origin(header, context.round) or source


def _short_seeds() -> tuple[str, ...]:
    sources = sorted((path.read_text("utf-8") for path in sorted(seeds_folder().glob("*.py"))), key=len)
    return tuple(sources[: (len(sources) + 1) // 2])


def _wrong_origin(header: Header, generation_round: int) -> Rejection | None:
    if (header.origin, header.generation_round) == ("generated", generation_round):
        return None
    found = f"The header says origin {header.origin!r}, generation_round {header.generation_round}."
    remedy = f'Write origin = "generated" and generation_round = {generation_round}.'
    return Rejection((Finding("free.origin", found, remedy),))
