# /// spade
# id = "spade/PipeGarden-v0"
# title = "Pipe garden"
# summary = "Turn pipe tiles until water runs from the spring to the pond."
# domain = "games"
# skills = ["spatial reasoning", "planning"]
# origin = "seed"
# max_episode_steps = 30
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from itertools import pairwise

import gymnasium as gym
import numpy as np
from gymnasium import spaces

# an opening to the north counts 1, east 2, south 4, west 8; a tile has two openings
NORTH, EAST, SOUTH, WEST = 1, 2, 4, 8
STEPS = {NORTH: (-1, 0), EAST: (0, 1), SOUTH: (1, 0), WEST: (0, -1)}
TOWARDS = {(-1, 0): "up", (0, 1): "right", (1, 0): "down", (0, -1): "left"}
FACING = {NORTH: SOUTH, EAST: WEST, SOUTH: NORTH, WEST: EAST}
STRAIGHTS, BENDS = (5, 10), (3, 6, 12, 9)
SHAPES = {5: "│", 10: "─", 3: "└", 6: "┌", 12: "┐", 9: "┘"}


def clockwise(tile):
    """Return the openings of a tile after a quarter turn."""
    return (tile << 1 | tile >> 3) & 15


def onward(place, side):
    """Return the place beyond a side."""
    return place[0] + STEPS[side][0], place[1] + STEPS[side][1]


class PipeGarden(gym.Env):
    """Pipe tiles lie in a square, columns a, b, c ... from the left, rows 1, 2, 3 ... from the top.

    A spring stands above one column, a pond below one column. Each turn, turn one tile a quarter clockwise. You
    win as soon as an unbroken pipe leads from the spring to the pond. Your turns are counted.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._size = n = (3, 4, 5)[difficulty - 1]
        self.action_names = [f"{column}{row}" for row in range(1, n + 1) for column in "abcde"[:n]]
        self.action_space = spaces.Discrete(n * n)
        self.observation_space = spaces.Dict(
            {
                "tiles": spaces.Box(0, 15, shape=(n, n), dtype=np.int32),
                "spring": spaces.Discrete(n),
                "pond": spaces.Discrete(n),
                "turns_left": spaces.Discrete(30),
            }
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._lay_pipes()
        while not self._size - 1 <= self._needed() <= 25 or self._runs():
            self._lay_pipes()
        self._left = self._needed() + 3
        return self._observe(), {}

    def step(self, action):
        place = divmod(action, self._size)
        self._tiles[place] = clockwise(self._tiles[place])
        self._left -= 1
        runs = self._runs()
        return self._observe(), float(runs), runs or self._left == 0, False, {"is_success": runs}

    def render(self):
        rows = ["".join(SHAPES[tile] for tile in row) for row in self._tiles.tolist()]
        spring, pond = "abcde"[self._spring], "abcde"[self._pond]
        told = f"Spring above column {spring}, pond below column {pond}. Turns left: {self._left}."
        return "\n".join([told, *rows])

    def hint(self):
        places = [*self._laid, (self._size, self._pond)]
        ways = [TOWARDS[after[0] - at[0], after[1] - at[1]] for at, after in pairwise(places)]
        return f"From the tile under the spring, one way for the water goes {', '.join(ways)}."

    def expert_action(self):
        wrong = [place for place in self._laid if self._quarters(place)]
        row, column = wrong[0] if wrong else (0, 0)
        return row * self._size + column

    def _lay_pipes(self):
        """Lay a way from the spring to the pond and tiles beside it, all turned at random."""
        self._spring, self._pond = (int(n) for n in self.np_random.integers(self._size, size=2))
        self._laid = {}
        while not self._laid:
            self._laid = self._wander()
        shape = (self._size, self._size)
        straight = self.np_random.integers(2, size=shape)
        for place, tile in self._laid.items():
            straight[place] = tile in STRAIGHTS
        turned = [self.np_random.choice(kind, size=shape) for kind in (STRAIGHTS, BENDS)]
        self._tiles = np.where(straight, *turned).astype(np.int32)

    def _wander(self):
        """Draw tiles that lead from the spring to the pond; none where the way runs into a dead end."""
        way, place, heading, end = {}, (0, self._spring), SOUTH, (self._size, self._pond)
        while place != end:
            beyond = {side: onward(place, side) for side in STEPS}
            ways = [side for side in STEPS if beyond[side] == end or self._free(beyond[side], way)]
            if not ways:
                return {}
            side = ways[self.np_random.integers(len(ways))]
            way[place] = FACING[heading] | side
            place, heading = beyond[side], side
        return way

    def _free(self, place, way):
        return place not in way and all(0 <= k < self._size for k in place)

    def _needed(self):
        return sum(self._quarters(place) for place in self._laid)

    def _quarters(self, place):
        """Return how many turns the tile at a place needs."""
        tile, count = int(self._tiles[place]), 0
        while tile != self._laid[place]:
            tile, count = clockwise(tile), count + 1
        return count

    def _runs(self):
        """Return whether water runs from the spring to the pond."""
        place, heading, wet = (0, self._spring), SOUTH, set()
        while self._free(place, wet) and self._tiles[place] & FACING[heading]:
            wet.add(place)
            heading = int(self._tiles[place]) ^ FACING[heading]
            place = onward(place, heading)
        return place == (self._size, self._pond)

    def _observe(self):
        tiles = self._tiles.copy()
        return {"tiles": tiles, "spring": self._spring, "pond": self._pond, "turns_left": self._left}
