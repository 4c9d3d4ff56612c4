# /// spade
# id = "spade/OasisWalk-v0"
# title = "Oasis walk"
# summary = "Walk across a desert to an oasis before the water runs out."
# domain = "games"
# skills = ["navigation", "spatial-reasoning"]
# origin = "seed"
# max_episode_steps = 20
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces

STEPS = {"north": (0, 1), "south": (0, -1), "east": (1, 0), "west": (-1, 0)}


class OasisWalk(gym.Env):
    """Walk to the oasis. Each turn, walk one step: north, south, east or west. Every step costs water."""

    metadata = {"render_modes": ["ansi"]}
    action_names = tuple(STEPS)

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._nearest, self._farthest = ((1, 2), (2, 4), (3, 8))[difficulty - 1]
        self.action_space = spaces.Discrete(len(STEPS))
        self.observation_space = spaces.Box(-30, 30, shape=(3,), dtype=np.int64)  # east, north, water

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        distances = self.np_random.integers(self._nearest, self._farthest + 1, size=2)
        self._east, self._north = (distances * self.np_random.choice([-1, 1], size=2)).tolist()
        self._water = int(distances.sum()) + 2  # enough for one step astray
        return self._observe(), {}

    def step(self, action):
        east, north = STEPS[self.action_names[action]]
        self._east -= east
        self._north -= north
        self._water -= 1
        arrived = self._east == self._north == 0
        return self._observe(), float(arrived), arrived or self._water == 0, False, {"is_success": arrived}

    def render(self):
        way = [
            f"{abs(count)} {forward if count > 0 else back}"
            for count, forward, back in ((self._north, "north", "south"), (self._east, "east", "west"))
            if count
        ]
        return f"The oasis is {' and '.join(way) or 'here'}. Water: {self._water}."

    def hint(self):
        return "Walk only in directions that the text names, and each as often as its number says."

    def expert_action(self):
        if self._north:
            return 0 if self._north > 0 else 1
        return 2 if self._east > 0 else 3

    def _observe(self):
        return np.array([self._east, self._north, self._water])
