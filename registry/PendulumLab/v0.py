# /// spade
# id = "spade/PendulumLab-v0"
# title = "Pendulum lab"
# summary = "Find the law of a pendulum in a strange world by few experiments, then predict one too large to build."
# domain = "science"
# skills = ["experiment design", "control of variables", "extrapolation"]
# origin = "seed"
# max_episode_steps = 12
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces

QUANTITIES = ("length", "mass", "width")
POWERS = (-0.5, 0.5, 1)
CONSTANTS = (0.05, 2000)  # small worlds and large ones


class PendulumLab(gym.Env):
    """In this world, nobody knows yet how long a pendulum takes for one swing.

    It may depend on its length, its mass and the width of its swing: the time is some constant, multiplied by
    some power of each of the three. The powers are -0.5, 0 (it does not matter), 0.5 or 1.

    With "predict": 0 you swing a pendulum: "setup" gives its length, mass and width, and you read the seconds
    that it takes. The number of swings is limited. With "predict": 1 you say in "seconds" how long the great
    pendulum takes, whose length, mass and width you are told: it is a whole number. You predict once.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._difficulty = difficulty
        self.action_space = spaces.Dict(
            {
                "predict": spaces.Discrete(2),
                "setup": spaces.MultiDiscrete([9, 9, 9], start=[1, 1, 1]),
                "seconds": spaces.Discrete(1000),
            }
        )
        self.observation_space = spaces.Dict(
            {
                "great": spaces.Box(0, 100, shape=(3,), dtype=np.int64),
                "setup": spaces.Box(0, 9, shape=(3,), dtype=np.int64),
                "seconds": spaces.Box(0, 1e6, shape=(1,), dtype=np.float64),
                "swings_left": spaces.Discrete(10),
            }
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._discover_world()
        while not CONSTANTS[0] < self._constant < CONSTANTS[1]:
            self._discover_world()
        self._swings_left = (8, 6, 4)[self._difficulty - 1]
        self._swung = []
        self._setup, self._reading = (0, 0, 0), 0.0
        self._said = "Nothing swings yet."
        return self._observe(), {}

    def step(self, action):
        if action["predict"]:
            good = self._predict(action["seconds"])
            return self._observe(), float(good), True, False, {"is_success": good}
        self._swing(action["setup"].tolist())
        return self._observe(), 0.0, False, False, {"is_success": False}

    def render(self):
        return (
            f"{self._said} Swings left: {self._swings_left}. The great pendulum: {self._words(self._great)}."
        )

    def hint(self):
        matter = [name for name, power in zip(QUANTITIES, self._powers) if power]
        return (
            f"Only this matters here: {', '.join(matter)}. Change one thing at a time, and make it four times as"
            " large: then a square root shows as a doubling."
        )

    def expert_action(self):
        for setup in ([1, 1, 1], [4, 1, 1], [1, 4, 1], [1, 1, 4]):
            if setup not in self._swung and self._swings_left:
                return {"predict": 0, "setup": np.array(setup), "seconds": 0}
        return {"predict": 1, "setup": np.array([1, 1, 1]), "seconds": self._great_seconds}

    def _discover_world(self):
        """Draw the powers and the great pendulum's time; the constant follows from them."""
        draw = self.np_random
        self._powers = np.zeros(3)
        self._powers[: self._difficulty] = draw.choice(POWERS, size=self._difficulty)
        draw.shuffle(self._powers)
        self._great = draw.choice((16, 25, 36, 49), size=3)
        self._great_seconds = int(draw.integers(20, 1000))
        self._constant = self._great_seconds / self._product(self._great)

    def _swing(self, setup):
        if not self._swings_left:
            self._said = "No swings are left: it is time to predict."
            return
        self._swings_left -= 1
        self._swung.append(setup)
        self._setup, self._reading = setup, self._constant * self._product(setup)
        self._said = f"{self._words(setup)}: one swing takes {self._reading:.5g} s."

    def _predict(self, seconds):
        self._said = f"The great pendulum takes {self._great_seconds} s; you said {seconds} s."
        return seconds == self._great_seconds

    def _product(self, setup):
        return float(np.prod(np.array(setup, dtype=float) ** self._powers))

    def _words(self, setup):
        return ", ".join(f"{name} {value}" for name, value in zip(QUANTITIES, setup))

    def _observe(self):
        return {
            "great": self._great,
            "setup": np.array(self._setup),
            "seconds": np.array([self._reading]),
            "swings_left": self._swings_left,
        }
