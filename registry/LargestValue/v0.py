# /// spade
# id = "spade/LargestValue-v0"
# title = "Largest value"
# summary = "Say the largest of some numbers, of some sums, or of some products."
# domain = "math"
# skills = ["comparison", "arithmetic"]
# origin = "seed"
# max_episode_steps = 1
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces


class LargestValue(gym.Env):
    """Say the largest value."""

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._count = 1 + difficulty
        self._sign = ("", " + ", " x ")[difficulty - 1]
        self.action_space = spaces.Discrete(200)
        # one row for each value: the number and a zero, or the two that are added or multiplied
        self.observation_space = spaces.Box(0, 99, shape=(self._count, 2), dtype=np.int64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        low, high = (4, 12) if self._sign == " x " else (10, 99)
        pairs = [self.np_random.choice(np.arange(low, high + 1), self._count, replace=False) for _ in "ab"]
        self._pairs = np.stack(pairs, axis=1)
        if not self._sign:
            self._pairs[:, 1] = 0
        values = self._pairs.prod(axis=1) if self._sign == " x " else self._pairs.sum(axis=1)
        self._largest = int(values.max())
        return self._pairs, {}

    def step(self, action):
        right = action == self._largest
        return self._pairs, float(right), True, False, {"is_success": right}

    def render(self):
        texts = [f"{a}{self._sign}{b}" if self._sign else f"{a}" for a, b in self._pairs.tolist()]
        return ", ".join(texts)

    def hint(self):
        return f"Without its last digit, it reads {self._largest // 10}."

    def expert_action(self):
        return self._largest
