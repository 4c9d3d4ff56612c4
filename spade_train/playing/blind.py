"""An environment that shows what another seed would show: only the hint tells of the episode that is played.

Who wins all the same needs nothing but the hint, and regret measures how well a hint is copied.
"""

from __future__ import annotations

from typing import Any

from spade_train.playing.prompts import TRAINING_SEEDS, TextEnvironment


class Blind:
    """Plays one episode and shows another one, in which the same actions are taken.

    Worked examples (seeds from ``TRAINING_SEEDS`` on) are shown as they are.

    Args:
        env: plays, pays and hints.
        decoy: is shown; the same environment once more.
    """

    def __init__(self, env: TextEnvironment, decoy: TextEnvironment) -> None:
        self._env, self._decoy = env, decoy
        self._shown: str | None = None
        self._over = False

    @property
    def rules(self) -> str:
        """The rules, which are the same for every seed."""
        return self._env.rules

    @property
    def tools(self) -> list[dict[str, Any]]:
        """Function schemas."""
        return self._env.tools

    @property
    def turn_limit(self) -> int | None:
        """The turns of an episode, where they are limited."""
        return self._env.turn_limit

    def reset(self, *, seed: int | None = None) -> tuple[str, dict[str, Any]]:
        """Begin an episode, and show the beginning of another one."""
        observation, info = self._env.reset(seed=seed)
        self._shown, self._over = None, False
        if seed is None or seed >= TRAINING_SEEDS:
            return observation, info
        self._shown, _ = self._decoy.reset(seed=(seed + TRAINING_SEEDS // 2) % TRAINING_SEEDS)
        return self._shown, info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the action in both; what is shown stays as it is where the other episode is over."""
        own = self._env.step(action)
        if self._shown is None:
            return own
        if not self._over:
            self._shown, _, terminated, truncated, _ = self._decoy.step(action)
            self._over = terminated or truncated
        return (self._shown, *own[1:])

    def hint(self) -> str:
        """Return the hint of the episode that is played."""
        return self._env.hint()

    def expert_text(self) -> str:
        """Return what an expert would write in it."""
        return self._env.expert_text()

    def close(self) -> None:
        """Stop both workers."""
        self._env.close()
        self._decoy.close()
