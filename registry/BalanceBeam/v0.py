# /// spade
# id = "spade/BalanceBeam-v0"
# title = "Balance beam"
# summary = "Hang weights on a leaning beam, each at a place of your choice, so that it ends level."
# domain = "math"
# skills = ["proportion", "negative numbers", "continuous control"]
# origin = "seed"
# max_episode_steps = 7
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces

LEVEL = 0.5  # a moment of this size is level still


class BalanceBeam(gym.Env):
    """A beam leans to one side. Hang weights on it, one a turn, so that it is level after the last one.

    The action is the place of the weight, from -1 (the left end) to 1 (the right end); 0 is the middle. It adds
    weight times place to the moment of the beam. In the end, the moment has to lie between -0.5 and 0.5.
    You see the moment, the weight that comes now, the sum of the weights that come after it, and their number.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._count = (2, 4, 7)[difficulty - 1]
        self._lean = ((0.2, 0.6), (0.5, 0.8), (0.8, 0.95))[difficulty - 1]  # share of all that can be added
        self.action_space = spaces.Box(-1, 1, shape=(1,), dtype=np.float32)
        self.observation_space = spaces.Box(-150, 150, shape=(4,), dtype=np.float32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._weights = self.np_random.integers(3, 10, size=self._count).tolist()
        side = self.np_random.choice([-1, 1])
        self._moment = round(float(side * self.np_random.uniform(*self._lean) * sum(self._weights)), 2)
        return self._observe(), {}

    def step(self, action):
        self._moment = round(self._moment + self._weights.pop(0) * float(action[0]), 2)
        over = not self._weights
        level = over and abs(self._moment) <= LEVEL
        return self._observe(), float(level), over, False, {"is_success": level}

    def render(self):
        lean = f"The beam's moment is {self._moment:z.2f}."
        if not self._weights:
            return lean
        weight, *later = self._weights
        return f"{lean} Now comes a weight of {weight}; after it come {len(later)}, together {sum(later)}."

    def hint(self):
        side = "left" if self._moment > 0 else "right"
        return (
            f"The beam wants weight on its {side}. Divide the moment by the weight: that is how far out it belongs,"
            " the end of the beam if it is more than that. Once the beam is level, the middle keeps it so."
        )

    def expert_action(self):
        return np.clip([(0 - self._moment) / self._weights[0]], -1, 1).astype(np.float32)

    def _observe(self):
        weight, *later = self._weights or [0]
        return np.array([self._moment, weight, sum(later), len(later)], dtype=np.float32)
