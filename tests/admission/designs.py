"""A small honest design, and ways to spoil it: each names the rule that a gate must report."""

from __future__ import annotations

HEADER = """# /// spade
# id = "spade/LampHunt-v0"
# title = "Lamp hunt"
# summary = "Find the lit lamp of a long row from left/right answers."
# domain = "games"
# skills = ["bisection"]
# origin = "seed"
# max_episode_steps = 7
# difficulty_levels = 2
# license = "Apache-2.0"
# contract = 1
# ///
"""

CODE = '''import gymnasium as gym
from gymnasium import spaces


class LampHunt(gym.Env):
    """One lamp of a row is lit. Name a lamp, and learn whether the lit one is further left or right."""

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self.lamps = (60, 120)[difficulty - 1]
        self.action_space = spaces.Discrete(self.lamps)
        self.observation_space = spaces.MultiDiscrete([self.lamps, self.lamps])

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.lit = int(self.np_random.integers(self.lamps))
        self.low, self.high = 0, self.lamps - 1
        return [self.low, self.high], {}

    def step(self, action):
        found = action == self.lit
        if action < self.lit:
            self.low = max(self.low, action + 1)
        elif action > self.lit:
            self.high = min(self.high, action - 1)
        return [self.low, self.high], float(found), found, False, {"is_success": found}

    def render(self):
        return f"The lit lamp is one of {self.low} to {self.high}."

    def hint(self):
        return "Halve what is left."

    def expert_action(self):
        return (self.low + self.high) // 2
'''

HONEST = HEADER + CODE

# rule -> (what stands there, what stands there instead)
FLAWS: dict[str, tuple[str, str]] = {
    "runs.raised": ("found = action == self.lit", "found = 1 / (action - self.lamps + 1) is None"),
    "runs.contract": ("action + 1)", "self.lit + 1 + self.lamps * (action == 0))"),
    "runs.timeout": (
        "found = action == self.lit",
        "found = action == self.lit\n        while action == 0: pass",
    ),
    "runs.memory": (
        "def step(self, action):",
        "def step(self, action, log=[]):\n        log.append([action])",
    ),
    "short-cut.info": ("[self.low, self.high], {}", '[self.low, self.high], {"lit": self.lit}'),
    "reward.bound": ("float(found), found", "0.2, found"),
    "determinism.differs": (
        "self.low, self.high = 0,",
        "self.low, self.high = len(str(hash(str(self.lit)))) % 2,",
    ),
    "solvable.expert": ("// 2\n", "// 3\n"),
    "hint.leak": ('return "Halve what is left."', 'return f"Name {(self.low + self.high) // 2}."'),
    "hint.long": ('return "Halve what is left."', 'return "Halve what is left. " * 30'),
    "hint.empty": ('return "Halve what is left."', 'return " "'),
    "short-cut.replay": ("integers(self.lamps))", "integers(2)) + 3"),
    "short-cut.constant": ("found = action == self.lit", "found = action == self.lit or action == 0"),
    "short-cut.random": ("found = action == self.lit", "found = abs(action - self.lit) < 30"),
    "reward.is-success": ('{"is_success": found}', "{}"),
    "reward.goes-on": ("float(found), found", "float(found), False"),
    "reward.order": ("float(found), found", "float(found) / 9 + 0.12, found"),
    "difficulty.order": ("(60, 120)", "(120, 32)"),
}


def flawed(rule: str) -> str:
    """Return the design with the flaw that a rule names."""
    old, new = FLAWS[rule]
    assert CODE.count(old) == 1, f"{rule}: {old!r} stands {CODE.count(old)} times in the design"
    return HEADER + CODE.replace(old, new)
