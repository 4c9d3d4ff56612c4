"""What a designer is told in a round, put together with the reason for each piece."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from spade_train.config import SelfPlayConfig
from spade_train.corpus import FEW, Corpus, Document
from spade_train.designer import DesignContext, Reason
from spade_train.memory import Lesson, Memory, PoolStatistics, SkillProfile, choose_target, worth

TOLD_SKILLS = 8
"""The most skills of the agent's profile that a prompt tells: the weakest."""

BEFORE = ("good before", "bad before")
"""Kinds of pieces that tell of an earlier design."""


@dataclass(frozen=True)
class Brief:
    """One round's designing, before anything is rendered.

    Attributes:
        seed: the run's.
        corpus: what designs are grounded on; it may be empty.
        draw: the prompt's number in the run: each has a document and a target of its own.
        pool: None where it is not told.
    """

    config: SelfPlayConfig
    round: int
    seed: int
    corpus: Corpus = field(default_factory=Corpus)
    draw: int = 0
    pool: PoolStatistics | None = None

    def context(self, memory: Memory) -> DesignContext:
        """Return what the designer is told: equal memories give equal contexts."""
        profile = memory.profile()[:TOLD_SKILLS] if self.config.profile else ()
        pool = self.pool if self.config.profile else None
        target = self._target(memory)
        focus = self._focus(target)
        document = self.corpus.draw(self.seed, self.draw, focus=focus)
        context = DesignContext(
            round=self.round,
            seed=self.seed,
            document=document,
            target=target.skill if target else None,
            profile=profile,
            pool=pool,
            reasons=(
                *([self._of_document(document, focus)] if document else []),
                *_of_profile(profile),
                *([_of_pool(pool)] if pool else []),
                *([_of_target(target)] if target else []),
            ),
        )
        return remembering(context, memory, self.round) if self.config.memory else context

    def _target(self, memory: Memory) -> SkillProfile | None:
        rng = Random(f"{self.seed}/{self.draw}/target")
        return choose_target(memory.profile(), rng) if self.config.target_skill else None

    def _focus(self, target: SkillProfile | None) -> str | None:
        """Return the target's skill where documents enough are about it: a few would come again and again."""
        enough = target is not None and len(self.corpus) and self.corpus.count_about(target.skill) >= FEW
        return target.skill if target is not None and enough else None

    def _of_document(self, document: Document, focus: str | None) -> Reason:
        among = f", among {self.corpus.count_about(focus)} documents about {focus}" if focus else ""
        why = f"drawn from the corpus by seed {self.seed} and number {self.draw}{among}"
        return Reason("document", document.source, why)


def remembering(context: DesignContext, memory: Memory, number: int) -> DesignContext:
    """Return a context with what a memory tells of earlier designs in round ``number``: examples and lessons."""
    pieces, lessons = memory.recall(number), memory.lessons()
    told = (Reason(f"{one.kind} before", one.record.name, one.why) for one in pieces)
    return replace(
        context,
        digest="\n".join(piece.text for piece in pieces),
        lessons=tuple(one.reason for one in lessons),
        reasons=(*context.reasons, *told, *map(_of_lesson, lessons)),
    )


def remembered(reasons: Iterable[Reason]) -> list[str]:
    """Return the names of the earlier designs that a prompt told of."""
    return [one.what for one in reasons if one.piece in BEFORE]


def _of_lesson(lesson: Lesson) -> Reason:
    many = "1 design was" if lesson.times == 1 else f"{lesson.times} designs were"
    return Reason("lesson", lesson.reason, f"{many} refused for it, the last in round {lesson.round + 1}")


def _of_profile(profile: Sequence[SkillProfile]) -> list[Reason]:
    return [
        Reason(
            "profile",
            one.skill,
            f"weakness {one.weakness:.2f}: success {one.success:.2f} of {one.plays} plays",
        )
        for one in profile
        if one.success is not None
    ]


def _of_pool(pool: PoolStatistics) -> Reason:
    many = f"{pool.active} active, {pool.mastered} mastered, {pool.too_hard} too hard"
    return Reason("pool", many, "what may be played in this round, and what may not any more")


def _of_target(target: SkillProfile) -> Reason:
    regret = "unknown" if target.regret is None else f"{target.regret:+.2f}"
    why = f"drawn with weight {worth(target):.2f}: weakness {target.weakness:.2f}, regret {regret}"
    return Reason("target", target.skill, why)
