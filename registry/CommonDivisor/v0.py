# /// spade
# id = "spade/CommonDivisor-v0"
# title = "Common divisor"
# summary = "Take numbers off each other until only their greatest common divisor is left."
# domain = "math"
# skills = ["number theory", "division", "algorithms"]
# origin = "seed"
# max_episode_steps = 20
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import math

import gymnasium as gym
import numpy as np
from gymnasium import spaces

MOST = 9  # times that a number may be taken off in one move
FIRST = np.array([1, 1, 0])  # a move counts the numbers from 1


def next_move(numbers):
    """Return Euclid's move: the smallest number comes off the largest as often as it goes."""
    positive = [place for place, number in enumerate(numbers) if number]
    by_size = sorted(positive, key=lambda place: numbers[place])
    small, large = by_size[0], by_size[-1]
    return large, small, min(MOST, numbers[large] // numbers[small])


class CommonDivisor(gym.Env):
    """Numbers stand on a board. Bring all but one to zero: what is left is their greatest common divisor.

    The move [a, b, times] takes the b-th number off the a-th one, so many times, and leaves the b-th as it is. The
    numbers are counted from 1. A move changes nothing, but counts, if it would leave less than zero, if the b-th
    number is zero, or if a and b are the same. You have one move more than Euclid needs, who takes off as much
    as he can each time.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._count = (2, 2, 3)[difficulty - 1]
        self._largest_factor = (20, 60, 60)[difficulty - 1]
        self.action_space = spaces.MultiDiscrete([self._count, self._count, MOST], start=[1, 1, 1])
        self.observation_space = spaces.Dict(
            {
                "numbers": spaces.Box(0, 1000, shape=(self._count,), dtype=np.int64),
                "moves_left": spaces.Discrete(30),
            }
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        divisor = self.np_random.integers(2, 13)
        factors = self.np_random.choice(range(5, self._largest_factor + 1), size=self._count, replace=False)
        self._numbers = (divisor * factors).tolist()
        self._moves_left = self._needed() + 1
        self._said = "Nothing is taken off yet."
        return self._observe(), {}

    def step(self, action):
        large, small, times = (action - FIRST).tolist()
        left = self._numbers[large] - times * self._numbers[small]
        if large == small or left < 0 or not self._numbers[small]:
            self._said = "That move is not allowed."
        else:
            self._said = f"{self._numbers[large]} becomes {left}."
            self._numbers[large] = left
        self._moves_left -= 1
        found = sum(number > 0 for number in self._numbers) == 1
        return self._observe(), float(found), found or not self._moves_left, False, {"is_success": found}

    def render(self):
        return f"{self._said} The board reads {self._numbers}. Moves left: {self._moves_left}."

    def hint(self):
        return (
            f"In the end {math.gcd(*self._numbers)} will be left. Take the smallest number off the largest, and do"
            " it in one go as often as it fits: that many times is the quotient without its remainder."
        )

    def expert_action(self):
        return FIRST + next_move(self._numbers)

    def _needed(self):
        """Return how many of Euclid's moves lead to the end."""
        numbers, moves = list(self._numbers), 0
        while sum(number > 0 for number in numbers) > 1:
            large, small, times = next_move(numbers)
            numbers[large] -= times * numbers[small]
            moves += 1
        return moves

    def _observe(self):
        return {"numbers": np.array(self._numbers), "moves_left": self._moves_left}
