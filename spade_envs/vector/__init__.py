"""Many isolated environments stepped at once, with one message for each worker."""

from spade_envs.vector.text_vector import TextTurn, TextVector
from spade_envs.vector.vector_env import IsolatedVectorEnv

__all__ = ["IsolatedVectorEnv", "TextTurn", "TextVector"]
