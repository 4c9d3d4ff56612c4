"""A designer that is not trained here: what it is asked for and what becomes of its answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from spade_train.backends import Answer, Ask, Failed, Meter
from spade_train.designer import DesignContext, Designer, Message
from spade_train.rounds import Design


@dataclass(frozen=True)
class Outside:
    """A backend and how replies are sampled there.

    Attributes:
        backend: with a meter, for every ask costs: designs, plans, repairs, hints.
        tokens: the most that a reply may have.
    """

    backend: Meter
    tokens: int
    temperature: float

    def write(self, designer: Designer, context: DesignContext, seeds: Sequence[int]) -> list[Design]:
        """Ask for one design for each seed, all of one prompt."""
        return [written(one) for one in self.answers(designer, context, seeds)]

    def replies(self, chats: Sequence[list[Message]], seeds: Sequence[int]) -> list[Design]:
        """Ask for one reply in free text to each chat; what is only promised counts as none."""
        asks = [
            Ask(tuple(chat), seed, self.tokens, temperature=self.temperature, top_p=1.0)
            for chat, seed in zip(chats, seeds, strict=True)
        ]
        return [written(one) for one in self.backend.answer(asks)]

    def answers(
        self, designer: Designer, context: DesignContext, seeds: Sequence[int]
    ) -> list[Answer | Failed]:
        """Ask, and return the answers as they are."""
        chat, schema = tuple(designer.prompt(context)), designer.schema()
        asks = [
            Ask(chat, seed, self.tokens, temperature=self.temperature, top_p=1.0, schema=schema)
            for seed in seeds
        ]
        return self.backend.answer(asks)


def written(answer: Answer | Failed) -> Design:
    """Return a design as it comes from a backend; where nothing came, it is refused for that reason."""
    if isinstance(answer, Failed):
        return Design("", (), (), (), refusal=f"no reply: {answer.reason}")
    spent = answer.prompt_tokens, answer.completion_tokens
    return Design(
        answer.whole, (), (), (), prompt_tokens=spent[0], completion_tokens=spent[1], cost=answer.cost
    )


def seeds_of(context: DesignContext, about: str, count: int) -> tuple[int, ...]:
    """Return the seeds of a prompt's replies. They fit the 31 bits that every server takes."""
    rng = Random(f"{context.seed}/{context.round}/{about}/asks")
    return tuple(rng.randrange(2**31) for _ in range(count))
