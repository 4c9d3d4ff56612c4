# /// spade
# id = "spade/DarkPanel-v0"
# title = "Dark panel"
# summary = "Learn what unknown buttons do while a panel is lit, then reach a wanted sign in the dark."
# domain = "games"
# skills = ["exploration", "memory", "model building"]
# origin = "seed"
# max_episode_steps = 30
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from collections import deque

import gymnasium as gym
from gymnasium import spaces

SIGNS = ("anchor", "bell", "crown", "drum", "eagle", "flame", "globe", "harp", "iris", "jug")


class DarkPanel(gym.Env):
    """A panel shows one of several signs, and has buttons. A button turns each sign into a certain sign, always
    the same for that button and that sign; you are not told which.

    While the panel is lit, press buttons and watch. After a number of presses, which you see, the panel goes dark
    and says which sign it wants. From the last sign that you saw, press buttons unseen until the panel must have
    come to the wanted sign, then "send". You may send once. While the panel is lit, "send" only costs a press.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._count, self._buttons, self._presses = ((7, 2, 12), (8, 2, 14), (10, 3, 20))[difficulty - 1]
        self.action_names = [*"ABC"[: self._buttons], "send"]
        self.action_space = spaces.Discrete(self._buttons + 1)
        self.observation_space = spaces.Dict(
            {
                "sign": spaces.Discrete(self._count),  # the last one that was seen
                "wanted": spaces.Discrete(self._count + 1),  # the highest number while nothing is wanted yet
                "lit_presses": spaces.Discrete(self._presses + 1),  # left; 0 in the dark
            }
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        first, way = 0, None
        while not way or first == self._wanted:  # until watching can teach the way, and there is one to go
            self._rules = [self.np_random.permutation(self._count).tolist() for _ in range(self._buttons)]
            first, self._wanted = self.np_random.integers(self._count, size=2).tolist()
            self._light(first)
            while self._lit:
                self._press(self.expert_action())
            way = self._way({self._wanted})
        self._light(first)
        return self._observe(), {}

    def step(self, action):
        over = action == self._buttons and not self._lit
        won = over and self._sign == self._wanted
        self._press(action)
        return self._observe(), float(won), over, False, {"is_success": won}

    def render(self):
        if self._lit:
            return f"The panel shows: {SIGNS[self._sign]}. It stays lit for {self._lit} more presses."
        wanted, seen = SIGNS[self._wanted], SIGNS[self._last_seen]
        return f"The panel is dark. It wants: {wanted}. The last sign that you saw was: {seen}."

    def hint(self):
        before = sorted({SIGNS[rule.index(self._wanted)] for rule in self._rules} - {SIGNS[self._wanted]})
        return (
            f"The panel will want the {SIGNS[self._wanted]}. It comes right after the {' or the '.join(before)}. "
            "Find out by which button, and how to get there."
        )

    def expert_action(self):
        if not self._lit:
            return (self._way({self._wanted}) or [self._buttons])[0]
        untried = {
            sign: button
            for sign in range(self._count)
            for button in reversed(range(self._buttons))
            if (sign, button) not in self._known
        }
        if self._sign in untried:
            return untried[self._sign]
        return (self._way(untried) or [0])[0]

    def _light(self, sign):
        self._sign = self._last_seen = sign
        self._lit, self._known = self._presses, {}

    def _press(self, action):
        if action < self._buttons:
            after = self._rules[action][self._sign]
            if self._lit:
                self._known[self._sign, action] = self._last_seen = after
            self._sign = after
        self._lit = max(0, self._lit - 1)

    def _way(self, goals):
        """Return the fewest presses, of those whose effect was seen, that lead to one of the goals; or None."""
        queue, reached = deque([(self._sign, [])]), {self._sign}
        while queue:
            sign, presses = queue.popleft()
            if sign in goals:
                return presses
            for button in range(self._buttons):
                after = self._known.get((sign, button), sign)
                if after not in reached:
                    reached.add(after)
                    queue.append((after, [*presses, button]))
        return None

    def _observe(self):
        wanted = self._count if self._lit else self._wanted
        return {"sign": self._last_seen, "wanted": wanted, "lit_presses": self._lit}
