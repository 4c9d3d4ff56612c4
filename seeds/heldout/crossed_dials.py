# /// spade
# id = "spade/CrossedDials-v0"
# title = "Crossed dials"
# summary = "Learn how unmarked dials move a pointer, then set them so that it meets a mark."
# domain = "science"
# skills = ["system identification", "linear algebra", "experiment design"]
# origin = "seed"
# max_episode_steps = 5
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces


class CrossedDials(gym.Env):
    """An instrument has one to three dials, from -1 to 1, and a pointer that moves along as many scales.

    Each scale's reading is a weighted sum of the dials' settings, plus where it rests. The weights are unknown; a
    dial may move every scale. Each turn, set all dials at once and read the pointer. You win as soon as the
    pointer is within half a unit of the mark on every scale. There are two more turns than dials. At the
    start all dials stand at 0.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._dials = difficulty
        self.action_space = spaces.Box(-1, 1, shape=(self._dials,), dtype=np.float64)
        # the settings, the readings and the marks
        self.observation_space = spaces.Box(-300, 300, shape=(3, self._dials), dtype=np.float64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        draw, size = self.np_random, self._dials
        self._weights = np.zeros((size, size))
        while abs(np.linalg.det(self._weights)) < 20**size:
            self._weights = 10.0 * draw.integers(-8, 9, size=(size, size))
        self._rest = draw.integers(-20, 21, size=size).astype(float)
        far = draw.integers(3, 10, size=size) / 10 * draw.choice([-1, 1], size=size)
        self._mark = self._rest + self._weights @ far
        self._tried = [np.zeros(size)]
        return self._observe(), {}

    def step(self, action):
        self._tried.append(action.copy())
        met = bool(np.abs(self._reading(action) - self._mark).max() <= 0.5)
        return self._observe(), float(met), met or self._turns_left() == 0, False, {"is_success": met}

    def render(self):
        settings, reading, mark = (", ".join(f"{n:g}" for n in row.round(2)) for row in self._observe())
        left = self._turns_left()
        return f"Dials at {settings}: the pointer reads {reading}. The mark is at {mark}. Turns left: {left}."

    def hint(self):
        added = " and ".join(f"{weight:g}" for weight in self._weights[:, 0])
        return (
            f"Dial 1 all the way up adds {added} to the readings at rest. Learn any other dials in the same way, one at"
            " a time; then solve the linear equations for the mark."
        )

    def expert_action(self):
        probes = np.eye(self._dials)
        if len(self._tried) <= self._dials:
            return probes[len(self._tried) - 1]
        rest = self._reading(self._tried[0])
        gains = np.stack([self._reading(probe) - rest for probe in probes], axis=1)
        return np.linalg.solve(gains, self._mark - rest).round(2).clip(-1, 1)

    def _reading(self, settings):
        return self._rest + self._weights @ settings

    def _turns_left(self):
        return self._dials + 3 - len(self._tried)

    def _observe(self):
        settings = self._tried[-1]
        return np.stack([settings, self._reading(settings), self._mark])
