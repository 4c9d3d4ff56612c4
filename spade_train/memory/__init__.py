"""Memory: what was designed and how it fared, what the agent can do, and what of both a designer is told."""

from spade_train.memory.profile import PoolStatistics, SkillProfile

__all__ = ["PoolStatistics", "SkillProfile"]
