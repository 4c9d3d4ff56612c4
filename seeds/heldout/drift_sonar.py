# /// spade
# id = "spade/DriftSonar-v0"
# title = "Drift sonar"
# summary = "Ping for a submarine that drifts unseen, then drop the only depth charge on it."
# domain = "games"
# skills = ["localisation", "memory", "deduction"]
# origin = "seed"
# max_episode_steps = 10
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces

SIDES = ((-1, 0), (1, 0), (0, -1), (0, 1))
CORNERS = ((-1, -1), (-1, 1), (1, -1), (1, 1))
LEVELS = (
    (5, "lies still", ((0, 0),)),
    (7, "drifts along its row or its column", SIDES),
    (9, "drifts along its row, its column or aslant", SIDES + CORNERS),
)  # size of the sea, what is said of the drift, possible drifts


class DriftSonar(gym.Env):
    """A submarine hides in a square sea whose opposite edges meet: beyond the last row comes row 0 again.

    Each turn, name a row, a column and a device: 0 pings there and tells how many places away the submarine is,
    counted along rows and columns the shorter way round; 1 drops your only depth charge there, which must hit
    the submarine's own place. It either lies still or drifts one step after each ping, always the same step; which
    is possible is said at the start. The charge must hit within ten turns.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._size, self._about, self._drifts = LEVELS[difficulty - 1]
        self.action_space = spaces.MultiDiscrete([self._size, self._size, 2])
        # the last ping's row, column and distance (-1 before the first), and the turns left
        self.observation_space = spaces.Box(-1, 10, shape=(4,), dtype=np.int32)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        places = np.arange(self._size)
        # each suspect: row and column now, and the step by which it drifts
        self._suspects = np.array([(r, c, *step) for r in places for c in places for step in self._drifts])
        self._submarine = self.np_random.choice(self._suspects)
        self._left = 10
        self._said = f"The sea has {self._size} rows and columns. The submarine {self._about}."
        return np.array([-1, -1, -1, self._left], dtype=np.int32), {}

    def step(self, action):
        *place, charge = action.tolist()
        distance = int(self._distances(self._submarine, place))
        self._left -= 1
        if charge:
            self._said = f"The charge is {'a hit' if distance == 0 else 'a miss'}."
        else:
            self._said = f"Ping at row {place[0]}, column {place[1]}: {distance} places away."
            self._suspects = self._drift(self._suspects[self._distances(self._suspects, place) == distance])
            self._submarine = self._drift(self._submarine)
        hit = bool(charge) and distance == 0
        seen = np.array([*place, distance, self._left], dtype=np.int32)
        return seen, float(hit), bool(charge) or self._left == 0, False, {"is_success": hit}

    def render(self):
        return f"{self._said} Turns left: {self._left}."

    def hint(self):
        row, _, down, _ = self._submarine.tolist()
        return (
            f"The submarine is in row {row} now and goes {down} rows on after each ping. Carry every column and step"
            " that fit the pings so far onward, and ping where the answers would differ most."
        )

    def expert_action(self):
        places = np.unique(self._suspects[:, :2], axis=0)
        if len(places) == 1:
            return np.array([*places[0], 1])
        return np.array([*self._most_telling_place(), 0])

    def _most_telling_place(self):
        """Return the place where a ping leaves the fewest suspects on average."""

        def left(place):
            return int((np.bincount(self._distances(self._suspects, place)) ** 2).sum())

        return min(np.ndindex(self._size, self._size), key=left)

    def _distances(self, things, place):
        away = np.abs(things[..., :2] - np.array(place))
        return np.minimum(away, self._size - away).sum(axis=-1)

    def _drift(self, things):
        moved = (things[..., :2] + things[..., 2:]) % self._size
        return np.concatenate([moved, things[..., 2:]], axis=-1)
