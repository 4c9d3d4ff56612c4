# /// spade
# id = "spade/PairMemory-v0"
# title = "Pair memory"
# summary = "Turn hidden cards over, remember what they showed, and find all pairs in few turns."
# domain = "games"
# skills = ["memory", "attention"]
# origin = "seed"
# max_episode_steps = 30
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces

FACES = ("sun", "moon", "star", "leaf", "fish", "bird", "key", "boat")
TAKEN, HIDDEN = -1, 0  # in the observation; a face that is seen is a number from 1


class PairMemory(gym.Env):
    """Cards lie face down in a row; every face is there twice. Find all pairs.

    Each turn, turn one card over. When it is the second one that lies open, the two are taken away if their faces
    are alike; if not, you see them until your next turn, when both are hidden again. Turning a card that is open
    or taken away only costs the turn. Your turns are counted.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._pairs = (4, 6, 8)[difficulty - 1]
        self._cards = range(2 * self._pairs)
        self._turns = 4 * self._pairs - 2  # what a perfect memory needs at worst
        self.action_names = [f"card {number + 1}" for number in self._cards]
        self.action_space = spaces.Discrete(len(self._cards))
        self.observation_space = spaces.Box(TAKEN, self._pairs, shape=(len(self._cards),), dtype=np.int64)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._faces = self.np_random.permutation(np.repeat(np.arange(1, self._pairs + 1), 2)).tolist()
        self._open, self._taken, self._known = [], set(), {}
        self._left = self._turns
        return self._observe(), {}

    def step(self, action):
        if len(self._open) == 2:
            self._open = []
        self._left -= 1
        found = self._turn(action)
        won = len(self._taken) == len(self._cards)
        reward = (found / self._pairs + won) / 2
        return self._observe(), reward, won or self._left == 0, False, {"is_success": won}

    def render(self):
        signs = {TAKEN: "taken", HIDDEN: "?"}
        seen = [signs.get(number, FACES[number - 1]) for number in self._observe().tolist()]
        cards = ", ".join(f"{name}: {sign}" for name, sign in zip(self.action_names, seen))
        return f"{cards}. Turns left: {self._left}."

    def hint(self):
        places = {face: [card for card in self._cards if self._faces[card] == face] for face in self._faces}
        gaps = [f"{FACES[face - 1]} {max(two) - min(two)}" for face, two in sorted(places.items())]
        return f"How far apart the two cards of each face lie: {', '.join(gaps)}."

    def expert_action(self):
        if len(self._open) == 1:
            twin = self._known_twin(self._open[0])
            return self._first_unknown() if twin is None else twin
        paired = [card for card in self._known if self._known_twin(card) is not None]
        return min(paired) if paired else self._first_unknown()

    def _turn(self, card):
        """Turn a card over; say whether that completes a pair."""
        if card in self._taken or card in self._open:
            return False
        self._known[card] = self._faces[card]
        self._open.append(card)
        if len(self._open) < 2 or self._faces[self._open[0]] != self._faces[card]:
            return False
        self._taken.update(self._open)
        self._open = []
        return True

    def _known_twin(self, card):
        """Return the other card of that face, if it has been seen and both still lie there."""
        twins = [other for other, face in self._known.items() if face == self._known[card] and other != card]
        return twins[0] if twins and card not in self._taken else None

    def _first_unknown(self):
        return min(card for card in self._cards if card not in self._known)

    def _observe(self):
        seen = [self._faces[card] if card in self._open else HIDDEN for card in self._cards]
        return np.array([TAKEN if card in self._taken else seen[card] for card in self._cards])
