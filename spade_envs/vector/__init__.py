"""Many isolated environments stepped at once, with one message for each worker."""

from spade_envs.vector.vector_env import IsolatedVectorEnv

__all__ = ["IsolatedVectorEnv"]
