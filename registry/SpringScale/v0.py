# /// spade
# id = "spade/SpringScale-v0"
# title = "Spring scale"
# summary = "Find how stiff a spring is by hanging weights on it and reading the scale."
# domain = "science"
# skills = ["experiment design", "arithmetic"]
# origin = "seed"
# max_episode_steps = 8
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces

WEIGHTS = 6  # weights of 1 to 6 newtons can be hung
STRETCHES = 40  # the answer is 1 to 40 millimetres per newton


class SpringScale(gym.Env):
    """A spring hangs before a scale in millimetres. Find how far one newton stretches it.

    Hang a weight of 1 to 6 newtons to read where the pointer comes to rest, or give your answer, in millimetres
    per newton. You may answer once. The pointer need not start at zero, and a spring that is pulled too far stops
    at the end of its scale.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._difficulty = difficulty
        self.action_names = [f"hang {n}" for n in range(1, WEIGHTS + 1)]
        self.action_names += [f"answer {n}" for n in range(1, STRETCHES + 1)]
        self.action_space = spaces.Discrete(WEIGHTS + STRETCHES)
        self.observation_space = spaces.Box(0, 400, shape=(3,), dtype=np.int32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._stretch = int(self.np_random.integers((20, 10, 1)[self._difficulty - 1], STRETCHES + 1))
        self._start = int(self.np_random.integers(1, 60)) if self._difficulty > 1 else 0
        self._end = 300 if self._difficulty < 3 else self._start + 3 * self._stretch
        self._readings = {}
        self._said = "Nothing hangs on the spring yet."
        return self._observe(0), {}

    def step(self, action):
        if action >= WEIGHTS:
            right = action - WEIGHTS + 1 == self._stretch
            self._said = "That is right." if right else "That is wrong."
            return self._observe(0), float(right), True, False, {"is_success": right}
        weight = action + 1
        self._readings[weight] = min(self._end, self._start + weight * self._stretch)
        self._said = f"With {weight} N the pointer rests at {self._readings[weight]} mm."
        return self._observe(weight), 0.0, False, False, {"is_success": False}

    def render(self):
        return self._said

    def hint(self):
        return "Compare the readings of two light weights: the difference is what the extra newtons add."

    def expert_action(self):
        for weight in (1, 2):
            if weight not in self._readings:
                return weight - 1
        return WEIGHTS + self._readings[2] - self._readings[1] - 1

    def _observe(self, weight):
        reading = self._readings.get(weight, 0)
        return np.array([weight, reading, len(self._readings)], dtype=np.int32)
