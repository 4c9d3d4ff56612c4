# /// spade
# id = "spade/CargoHold-v0"
# title = "Cargo hold"
# summary = "Load the most valuable crates that the hold can carry, then sail."
# domain = "planning"
# skills = ["optimisation", "planning"]
# origin = "seed"
# max_episode_steps = 12
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces


class CargoHold(gym.Env):
    """Crates wait on the quay, each with a weight and a value. The hold carries a limited weight.

    Each turn, load one crate by its number, or say "sail". A crate that is too heavy for what is left of the
    hold stays on the quay; a loaded crate stays on board. Sail with the greatest total value that the hold can
    carry.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._count = (5, 7, 9)[difficulty - 1]
        self.action_names = [f"crate {n}" for n in range(1, self._count + 1)] + ["sail"]
        self.action_space = spaces.Discrete(self._count + 1)
        self.observation_space = spaces.Dict(
            {
                "weights": spaces.Box(0, 20, shape=(self._count,), dtype=np.int32),
                "values": spaces.Box(0, 30, shape=(self._count,), dtype=np.int32),
                "loaded": spaces.MultiBinary(self._count),
                "room": spaces.Discrete(200),
            }
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._weights = self.np_random.integers(2, 16, size=self._count)
        self._values = self.np_random.integers(1, 31, size=self._count)
        self._loaded = np.zeros(self._count, dtype=np.int8)
        self._room = int(self._weights.sum() * 0.55)
        self._best = self._plan()
        self._said = "The hold is empty."
        return self._observe(), {}

    def step(self, action):
        if action == self._count:
            gained, possible = self._worth(self._aboard()), self._worth(self._best)
            best = gained == possible
            self._said = f"You sail with a value of {gained}; {possible} was possible."
            return self._observe(), float(best), True, False, {"is_success": best}
        self._load(action)
        return self._observe(), 0.0, False, False, {"is_success": False}

    def render(self):
        quay = [
            f"crate {n + 1}: weight {self._weights[n]}, value {self._values[n]}"
            for n in range(self._count)
            if not self._loaded[n]
        ]
        return f"{self._said} On the quay: {'; '.join(quay) or 'nothing'}. The hold takes {self._room} more."

    def hint(self):
        return "Value per weight is a good first guess, but compare it with filling the hold completely."

    def expert_action(self):
        waiting = [crate for crate in self._best if not self._loaded[crate]]
        return waiting[0] if waiting else self._count

    def _load(self, crate):
        if self._loaded[crate]:
            self._said = f"Crate {crate + 1} is on board already."
        elif self._weights[crate] > self._room:
            self._said = f"Crate {crate + 1} is too heavy for what is left of the hold."
        else:
            self._loaded[crate] = 1
            self._room -= int(self._weights[crate])
            self._said = f"Crate {crate + 1} is on board."

    def _aboard(self):
        return [crate for crate in range(self._count) if self._loaded[crate]]

    def _worth(self, crates):
        return int(self._values[list(crates)].sum())

    def _plan(self):
        """Return the crates of the best load: for each weight, the best load so far."""
        best = {0: (0, ())}
        for crate, (weight, value) in enumerate(zip(self._weights.tolist(), self._values.tolist())):
            for carried, (worth, crates) in list(best.items()):
                heavier = carried + weight
                if heavier <= self._room and worth + value > best.get(heavier, (0,))[0]:
                    best[heavier] = (worth + value, (*crates, crate))
        return max(best.values())[1]

    def _observe(self):
        loaded = self._loaded.copy()
        return {"weights": self._weights, "values": self._values, "loaded": loaded, "room": self._room}
