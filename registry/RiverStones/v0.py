# /// spade
# id = "spade/RiverStones-v0"
# title = "River stones"
# summary = "Take turns with an otter to make a frog hop over sinking stones, and leave the otter only water."
# domain = "games"
# skills = ["strategy", "look-ahead", "parity"]
# origin = "seed"
# max_episode_steps = 10
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces

HOPS = {"north": (-1, 0), "east": (0, 1), "south": (1, 0), "west": (0, -1)}
WATER, STONE, FROG = range(3)


def beside(place):
    """Return the four places around one, in the order of HOPS."""
    return [(place[0] + down, place[1] + right) for down, right in HOPS.values()]


def count_pairs(stones):
    """Return how many pairs of neighbouring stones there can be at most, no stone in two of them."""
    partner = {}

    def pair(stone, tried):
        for other in beside(stone):
            if other in stones and other not in tried:
                tried.add(other)
                if other not in partner or pair(partner[other], tried):
                    partner[other] = stone
                    return True
        return False

    return sum(pair(stone, set()) for stone in sorted(stones) if sum(stone) % 2)


def mover_wins(frog, stones):
    """Say whether the side to move can win: it can if no best pairing leaves the frog's stone alone."""
    return count_pairs(stones - {frog}) < count_pairs(stones)


class RiverStones(gym.Env):
    """A frog sits on one of the stones in a river. You and an otter take turns to make it hop; you begin.

    A hop goes one place north, east, south or west, and the stone that the frog leaves sinks. Whoever makes the
    frog hop into the water loses, and must do so where no stone is next to it. Leave the otter no other hop.
    """

    metadata = {"render_modes": ["ansi"]}
    action_names = tuple(HOPS)

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._side, self._count, self._care = ((3, 8, 0.7), (4, 12, 0.9), (5, 18, 1.0))[difficulty - 1]
        self.action_space = spaces.Discrete(len(HOPS))
        self.observation_space = spaces.Box(WATER, FROG, shape=(self._side, self._side), dtype=np.int8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._stones = set()
        while not self._stones or not mover_wins(self._frog, self._stones):
            self._lay_stones()
        self._said = f"The frog sits on one of {self._count} stones."
        return self._observe(), {}

    def step(self, action):
        name = self.action_names[action]
        if not self._hop(beside(self._frog)[action]):
            self._said = f"You make the frog hop {name}, into the water."
            return self._observe(), 0.0, True, False, {"is_success": False}
        answer = self._otter()
        won = not self._hop(beside(self._frog)[answer])
        end = ", into the water" if won else ""
        self._said = f"You make the frog hop {name}, the otter {self.action_names[answer]}{end}."
        return self._observe(), float(won), won, False, {"is_success": won}

    def render(self):
        rows = ["".join("~oF"[sign] for sign in row) for row in self._observe().tolist()]
        return "\n".join([self._said, *rows, "F frog, o stone, ~ water; north is up."])

    def hint(self):
        return (
            f"The stones, the frog's among them, make {count_pairs(self._stones)} pairs of neighbours at most. "
            "Find such pairs and make the frog hop to the partner of its stone, each time anew."
        )

    def expert_action(self):
        return (self._winning() or [0])[0]

    def _lay_stones(self):
        """Let a patch of stones grow from the frog's."""
        self._frog = tuple(self.np_random.integers(self._side, size=2).tolist())
        self._stones = {self._frog}
        while len(self._stones) < self._count:
            around = {place for stone in self._stones for place in beside(stone) if self._inside(place)}
            free = sorted(around - self._stones)
            self._stones.add(free[self.np_random.integers(len(free))])

    def _inside(self, place):
        return all(0 <= number < self._side for number in place)

    def _hop(self, place):
        """Make the frog hop; say whether it lands on a stone."""
        self._stones.discard(self._frog)
        self._frog = place
        return place in self._stones

    def _possible(self):
        return [hop for hop, place in enumerate(beside(self._frog)) if place in self._stones]

    def _winning(self):
        """Return the hops after which the other side cannot win."""
        rest, places = self._stones - {self._frog}, beside(self._frog)
        return [hop for hop in self._possible() if not mover_wins(places[hop], rest)]

    def _otter(self):
        careful = self.np_random.random() < self._care
        hops = (careful and self._winning()) or self._possible() or list(range(len(HOPS)))
        return int(self.np_random.choice(hops))

    def _observe(self):
        river = np.full((self._side, self._side), WATER, dtype=np.int8)
        for place in self._stones:
            river[place] = STONE
        if self._inside(self._frog):
            river[self._frog] = FROG
        return river
