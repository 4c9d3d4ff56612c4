# /// spade
# id = "spade/LampRow-v0"
# title = "Lamp row"
# summary = "Switch a row of lamps off when each switch also flips its neighbours."
# domain = "games"
# skills = ["logical deduction", "planning"]
# origin = "seed"
# max_episode_steps = 12
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from itertools import combinations

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class LampRow(gym.Env):
    """A row of lamps is partly lit. Pressing a lamp flips it and the lamps next to it.

    Lamps are numbered from 0 at the left. Switch all lamps off before your presses are used up.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._count = (4, 6, 9)[difficulty - 1]
        self.action_space = spaces.Discrete(self._count)
        self.observation_space = spaces.MultiBinary(self._count)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        needed = int(self.np_random.integers(2, self._count))
        self._lit = np.zeros(self._count, dtype=np.int8)
        for lamp in self.np_random.choice(self._count, size=needed, replace=False):
            self._press(int(lamp))
        self._left = needed + 1
        return self._lit.copy(), {}

    def step(self, action):
        self._press(int(action))
        self._left -= 1
        solved = not self._lit.any()
        return self._lit.copy(), float(solved), solved or self._left == 0, False, {"is_success": solved}

    def render(self):
        row = " ".join(f"{lamp}:{'on' if lit else 'off'}" for lamp, lit in enumerate(self._lit))
        return f"{row}. Presses left: {self._left}."

    def hint(self):
        return "The order of presses does not matter: look for a set of lamps, each pressed once, that ends the light."

    def expert_action(self):
        return self._solution()[0]

    def _press(self, lamp):
        self._lit[max(0, lamp - 1) : lamp + 2] ^= 1

    def _solution(self):
        """Return the smallest set of lamps whose presses leave all lamps off."""
        lamps = range(self._count)
        for size in range(1, self._count + 1):
            for presses in combinations(lamps, size):
                flips = [sum(abs(press - lamp) <= 1 for press in presses) % 2 for lamp in lamps]
                if flips == self._lit.tolist():
                    return presses
        return (0,)
