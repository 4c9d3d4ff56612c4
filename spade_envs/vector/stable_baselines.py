"""A vector of isolated environments as stable-baselines3 wants it. This module alone needs stable-baselines3."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.vec_env import VecEnv

from spade_envs.errors import UsageError
from spade_envs.vector.vector_env import CALLS, IsolatedVectorEnv


class StableBaselinesVecEnv(VecEnv):
    """An :class:`IsolatedVectorEnv` for stable-baselines3's algorithms.

    Args:
        vector: made with ``autoreset_mode="SameStep"``, the only mode that stable-baselines3 knows.

    Raises:
        UsageError: it is of another mode.
    """

    def __init__(self, vector: IsolatedVectorEnv) -> None:
        if vector.autoreset_mode is not AutoresetMode.SAME_STEP:
            raise UsageError("stable-baselines3 wants a vector with autoreset_mode='SameStep'")
        self.vector = vector
        super().__init__(vector.num_envs, vector.single_observation_space, vector.single_action_space)
        self.render_mode = vector.render_mode

    def reset(self) -> Any:
        """Begin an episode in each environment."""
        seeds = None if all(seed is None for seed in self._seeds) else self._seeds
        observations, infos = self.vector.reset(seed=seeds)
        self.reset_infos = rows_of(infos, self.num_envs)
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Keep the actions for :meth:`step_wait`."""
        self._actions = actions

    def step_wait(self) -> Any:
        """Take the step; of environments whose episode is over the observation is the next one's first."""
        observations, rewards, terminated, truncated, infos = self.vector.step(self._actions)
        done = terminated | truncated
        rows = rows_of(infos, self.num_envs)
        for at in np.flatnonzero(done).tolist():
            last = rows[at]
            self.reset_infos[at] = {key: value for key, value in last.items() if not key.startswith("final_")}
            rows[at] = {
                **last.get("final_info", last),
                "terminal_observation": last.get("final_obs", _row(observations, at)),
                "TimeLimit.truncated": bool(truncated[at] and not terminated[at]),
            }
        return observations, rewards.astype(np.float32), done, rows

    def close(self) -> None:
        """End the workers."""
        self.vector.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Return an attribute of the vector's, for each environment."""
        return [getattr(self.vector, attr_name, None) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:  # noqa: ARG002
        """Refuse to: nothing of an isolated environment can be set."""
        raise UsageError(f"{attr_name!r} cannot be set: give arguments to the vector's constructor")

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Return what ``render``, ``hint`` or ``expert_action`` of each environment returns."""
        if method_name not in CALLS:
            raise UsageError(f"{method_name!r} cannot be called; what can be is {', '.join(CALLS)}")
        said = self.vector.call(method_name, *args, **kwargs)
        return [said[at] for at in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:  # noqa: ARG002
        """Say of no environment that it is wrapped."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Return no images: environments render text."""
        return [None] * self.num_envs


def rows_of(infos: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return a vector's infos as one dictionary for each environment."""
    rows: list[dict[str, Any]] = [{} for _ in range(count)]
    for key, values in infos.items():
        mask = infos.get(f"_{key}")
        if not isinstance(mask, np.ndarray):
            continue
        if isinstance(values, dict):
            inner: Any = rows_of(values, count)
        else:
            inner = values.tolist() if values.ndim == 1 else list(values)
        if mask.all():
            for row, value in zip(rows, inner, strict=True):
                row[key] = value
        else:
            for at in np.flatnonzero(mask).tolist():
                rows[at][key] = inner[at]
    return rows


def _row(observations: Any, at: int) -> Any:
    if isinstance(observations, dict):
        return {key: part[at] for key, part in observations.items()}
    return observations[at]
