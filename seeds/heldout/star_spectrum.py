# /// spade
# id = "spade/StarSpectrum-v0"
# title = "Star spectrum"
# summary = "Tell which gases, and which shift of all lines, explain the lines in a star's light."
# domain = "science"
# skills = ["hypothesis testing", "set reasoning"]
# origin = "seed"
# max_episode_steps = 3
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces

PLACES = 30  # where lines can stand in the spectrum


class StarSpectrum(gym.Env):
    """Each gas shines in lines of its own, known from the laboratory. A star holds some of these gases.

    A star that moves away shifts all its lines upwards by the same whole number of places; 0 is possible. Name the
    gases (1 for each that is in the star) and the shift. You are right when they give exactly the lines seen,
    none missing and none more. You have three tries; after a wrong one you see how many lines fail each way.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._gases = (5, 6, 8)[difficulty - 1]
        self._shifts = (1, 3, 7)[difficulty - 1]
        self.action_space = spaces.Dict(
            {"gases": spaces.MultiBinary(self._gases), "shift": spaces.Discrete(self._shifts)}
        )
        self.observation_space = spaces.Dict(
            {
                "laboratory": spaces.Box(0, 1, shape=(self._gases, PLACES), dtype=np.int8),
                "star": spaces.MultiBinary(PLACES),
                "missing": spaces.Discrete(PLACES + 1),
                "surplus": spaces.Discrete(PLACES + 1),
            }
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        draw = self.np_random
        self._lines = np.zeros((self._gases, PLACES), dtype=np.int8)
        for lines in self._lines:
            lines[draw.choice(PLACES - self._shifts, size=4, replace=False)] = 1
        self._held = np.zeros(self._gases, dtype=np.int8)
        self._held[draw.choice(self._gases, size=int(draw.integers(2, self._gases - 1)), replace=False)] = 1
        self._shift = int(draw.integers(self._shifts))
        self._star = self._spectrum(self._held, self._shift)
        self._tries = 3
        self._said = "A star comes into view."
        return self._observe(0, 0), {}

    def step(self, action):
        guess = self._spectrum(action["gases"], action["shift"])
        missing, surplus = int((self._star & ~guess & 1).sum()), int((guess & ~self._star & 1).sum())
        explained = missing == surplus == 0
        self._tries -= 1
        self._said = f"Your star lacks {missing} of the lines and has {surplus} that are not there."
        over = explained or self._tries == 0
        return self._observe(missing, surplus), float(explained), over, False, {"is_success": explained}

    def render(self):
        known = [f"gas {gas + 1}: {places(lines)}" for gas, lines in enumerate(self._lines)]
        star = f"Lines of the star: {places(self._star)}. Shifts up to {self._shifts - 1}."
        return "\n".join([f"{self._said} Tries left: {self._tries}.", star, *known])

    def hint(self):
        return (
            f"The shift is {self._shift}, and {self._held.sum()} gases are enough. Only a gas of which no shifted"
            " line is missing in the star can be there."
        )

    def expert_action(self):
        return {"gases": self._held.copy(), "shift": self._shift}

    def _spectrum(self, gases, shift):
        shining = self._lines[gases == 1].any(axis=0).astype(np.int8)
        return np.roll(shining, shift)

    def _observe(self, missing, surplus):
        return {"laboratory": self._lines, "star": self._star, "missing": missing, "surplus": surplus}


def places(lines):
    """Return where lines stand, as text."""
    return ", ".join(str(place) for place in np.flatnonzero(lines))
