# /// spade
# id = "spade/CircuitProbe-v0"
# title = "Circuit probe"
# summary = "Find the broken wire of a circuit with as few measurements as possible."
# domain = "science"
# skills = ["fault finding", "experiment design", "logical deduction"]
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

PROBE, NAME = 0, 1
VERDICTS = (
    "Nothing is measured yet.",
    "The way between {} and {} is whole.",
    "There is a break between {} and {}.",
)


class CircuitProbe(gym.Env):
    """Wires join the terminals of a circuit so that just one way leads from any terminal to any other.

    One of the wires is broken. The action [0, a, b] holds the tester to the terminals a and b and tells whether
    the way between them is whole. The action [1, a, b] says that the wire between a and b is the broken one; you may
    say so once. The tester has power for few measurements.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._count = count = (7, 10, 14)[difficulty - 1]
        self.action_space = spaces.MultiDiscrete([2, count, count])
        self.observation_space = spaces.Dict(
            {
                "wires": spaces.Box(0, count - 1, shape=(count - 1, 2), dtype=np.int64),
                "ends": spaces.MultiDiscrete([count, count]),
                "verdict": spaces.Discrete(len(VERDICTS)),
                "power": spaces.Discrete(count),
            }
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._lay_wires()
        self._suspects = frozenset(self._wires)
        self._broken = self._wires[int(self.np_random.integers(len(self._wires)))]
        self._power = self._most_probes(self._suspects) + 1
        self._ends, self._verdict = (0, 0), 0
        return self._observe(), {}

    def step(self, action):
        deed, *ends = action.tolist()
        found = deed == NAME and tuple(sorted(ends)) == self._broken
        if deed == PROBE and self._power:
            self._probe(ends)
        return self._observe(), float(found), deed == NAME, False, {"is_success": found}

    def render(self):
        wires = ", ".join(f"{a}-{b}" for a, b in self._wires)
        return (
            f"Wires: {wires}. {VERDICTS[self._verdict].format(*self._ends)} Measurements left: {self._power}."
        )

    def hint(self):
        half = "first" if self._wires.index(self._broken) < len(self._wires) / 2 else "second"
        return (
            f"The broken wire stands in the {half} half of the list. Measure along ways that hold about half of"
            " the wires which are still under suspicion."
        )

    def expert_action(self):
        if len(self._suspects) == 1 or not self._power:
            return np.array([NAME, *min(self._suspects)])
        return np.array([PROBE, *self._best_probe(self._suspects)])

    def _lay_wires(self):
        """Let every terminal but the first grow from one of the three before it, then mix the numbers up."""
        terminals = self.np_random.permutation(self._count).tolist()
        to_first = {terminals[0]: frozenset()}
        for place in range(1, self._count):
            a, b = terminals[int(self.np_random.integers(max(0, place - 3), place))], terminals[place]
            to_first[b] = to_first[a] | {(min(a, b), max(a, b))}
        self._ways = {(a, b): to_first[a] ^ to_first[b] for a, b in combinations(range(self._count), 2)}
        self._wires = [ends for ends, way in self._ways.items() if len(way) == 1]

    def _probe(self, ends):
        self._power -= 1
        way = self._ways.get(tuple(sorted(ends)), frozenset())
        broken = self._broken in way
        self._suspects = self._suspects & way if broken else self._suspects - way
        self._ends, self._verdict = ends, 1 + broken

    def _best_probe(self, suspects):
        """Return the two terminals whose way comes nearest to one half of the suspects."""
        return min(self._ways, key=lambda ends: abs(2 * len(suspects & self._ways[ends]) - len(suspects)))

    def _most_probes(self, suspects):
        """Return how many of the best probes may be needed until one suspect is left."""
        if len(suspects) == 1:
            return 0
        way = self._ways[self._best_probe(suspects)]
        return 1 + max(self._most_probes(suspects & way), self._most_probes(suspects - way))

    def _observe(self):
        return {
            "wires": np.array(self._wires),
            "ends": np.array(self._ends),
            "verdict": self._verdict,
            "power": self._power,
        }
