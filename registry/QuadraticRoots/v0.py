# /// spade
# id = "spade/QuadraticRoots-v0"
# title = "Quadratic roots"
# summary = "Find both roots of a quadratic: whole numbers, fractions, or square roots to two decimals."
# domain = "math"
# skills = ["algebra", "factoring", "estimation"]
# origin = "seed"
# max_episode_steps = 3
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import math
import re
from fractions import Fraction

import gymnasium as gym
from gymnasium import spaces

NUMBER = r"-?[0-9]{1,6}(?:\.[0-9]{1,9}|/[1-9][0-9]{0,5})?"
TOLERANCE = 0.005001  # half of the second decimal


def written(a, b, c):
    """Write a quadratic as people do: x^2 - 5x + 6."""
    text = "x^2" if a == 1 else f"{a}x^2"
    for factor, power in ((b, "x"), (c, "")):
        if factor:
            size = "" if power and abs(factor) == 1 else abs(factor)
            text += f" {'+' if factor > 0 else '-'} {size}{power}"
    return text


class QuadraticRoots(gym.Env):
    """Find the two different numbers at which the quadratic is zero.

    Answer with both, in any order and with a comma between them, each a whole number, a fraction such as -3/4,
    or a decimal number that is right to two decimals. You have three attempts. After a wrong one you see what the
    quadratic is at your two numbers.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._difficulty = difficulty
        self.action_space = spaces.Text(60, min_length=0)
        self.observation_space = spaces.Text(300)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        a, b, c = self._irrational() if self._difficulty == 3 else self._rational()
        self._coefficients = a, b, c
        root = math.sqrt(b * b - 4 * a * c)
        self._roots = sorted(((-b - root) / (2 * a), (-b + root) / (2 * a)))
        self._attempts = 3
        return f"{written(a, b, c)} = 0", {}

    def step(self, action):
        self._attempts -= 1
        given = self._read(action)
        right = bool(given) and all(abs(x - root) < TOLERANCE for x, root in zip(given, self._roots))
        said = "Both are right." if right else f"{self._comment(given)} Attempts left: {self._attempts}."
        return said, float(right), right or not self._attempts, False, {"is_success": right}

    def hint(self):
        a, b, c = self._coefficients
        return f"The roots add up to {Fraction(-b, a)}; multiplied, they give {Fraction(c, a)}."

    def expert_action(self):
        return ", ".join(f"{round(root, 2):g}" for root in self._roots)

    def _rational(self):
        """Draw a quadratic whose roots are whole numbers or, at the second level, fractions."""
        low, high = ((1, 1), (2, 5))[self._difficulty - 1]
        below = self.np_random.integers(low, high + 1, size=2).tolist()
        above = self.np_random.integers(-9, 10, size=2).tolist()
        (p, q), (r, s) = above, below
        if p * s == q * r:
            return self._rational()
        return r * s, -(p * s + q * r), p * q

    def _irrational(self):
        """Draw a quadratic whose discriminant is no square."""
        a, b, c = self.np_random.integers((1, -12, -12), (4, 13, 13)).tolist()
        square = b * b - 4 * a * c
        return self._irrational() if square <= 0 or math.isqrt(square) ** 2 == square else (a, b, c)

    def _read(self, action):
        """Return the two numbers of an answer in order, or nothing."""
        pair = re.fullmatch(rf"\s*({NUMBER})\s*,\s*({NUMBER})\s*", action)
        return sorted(float(Fraction(number)) for number in pair.groups()) if pair else []

    def _comment(self, given):
        if not given:
            return "Write two numbers with a comma between them."
        a, b, c = self._coefficients
        values = [f"at {x:.6g} it is {a * x * x + b * x + c:.6g}" for x in given]
        return f"{written(a, b, c)}: {' and '.join(values)}."
