"""Memory: what was designed and how it fared, what the agent can do, and what of both a designer is told."""

from spade_train.memory.ideas import Idea
from spade_train.memory.pool import Facts, PoolStatistics, statistics
from spade_train.memory.profile import SkillProfile, choose_target, worth
from spade_train.memory.record import FRONTIER, Record
from spade_train.memory.retrieval import Lesson, Piece
from spade_train.memory.store import Memory

__all__ = [
    "FRONTIER",
    "Facts",
    "Idea",
    "Lesson",
    "Memory",
    "Piece",
    "PoolStatistics",
    "Record",
    "SkillProfile",
    "choose_target",
    "statistics",
    "worth",
]
