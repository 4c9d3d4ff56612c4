# /// spade
# id = "spade/StringOrdering-v0"
# title = "String ordering"
# summary = "Write words down in the order that is asked for, from the alphabet to words read backwards."
# domain = "language"
# skills = ["spelling", "sorting", "attention to detail"]
# origin = "seed"
# max_episode_steps = 3
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from itertools import takewhile

import gymnasium as gym
from gymnasium import spaces

WORDS = """
    anchor basket bell bottle bridge candle castle clock cloud corner desert echo engine feather forest garden
    glacier harvest ink island jewel kettle key lemon letter lantern meadow mirror moon needle oak orchard paper
    pebble pillow planet quilt rope river sail saddle shadow spoon star stone temple thread tower umbrella valley
    violin wagon wall window yarn
"""

# For each level: what is asked, and what the words are sorted by.
ORDERS = (
    (
        ("in alphabetical order", lambda word: word),
        ("from the shortest to the longest", len),
    ),
    (
        ("from the longest to the shortest", lambda word: -len(word)),
        ("by their last letter", lambda word: word[-1]),
        ("by their second letter", lambda word: word[1]),
    ),
    (
        ("in alphabetical order of the words read backwards", lambda word: word[::-1]),
        (
            "by how many vowels (a, e, i, o, u) they have, fewest first",
            lambda word: sum(map(word.count, "aeiou")),
        ),
        ("by how many different letters they have, fewest first", lambda word: len(set(word))),
    ),
)


class StringOrdering(gym.Env):
    """Write all the words down in the order that is asked for, with spaces between them.

    Where that order leaves a choice, the usual alphabetical order decides. You have three attempts. After a wrong
    one you hear how many words are right before the first mistake.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._orders = ORDERS[difficulty - 1]
        self._count = (4, 6, 8)[difficulty - 1]
        self.action_space = spaces.Text(200, min_length=0)
        self.observation_space = spaces.Text(300)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        asked, self._key = self._orders[int(self.np_random.integers(len(self._orders)))]
        words = self.np_random.choice(WORDS.split(), size=self._count, replace=False).tolist()
        self._sorted = sorted(words, key=lambda word: (self._key(word), word))
        self._task = f"Write these words {asked}: {' '.join(words)}."
        self._attempts = 3
        return self._task, {}

    def step(self, action):
        given = action.lower().replace(",", " ").split()
        self._attempts -= 1
        right = given == self._sorted
        said = "That is the order." if right else f"{self._comment(given)} {self._task}"
        return said, float(right), right or not self._attempts, False, {"is_success": right}

    def hint(self):
        return f"Mark each word with what it is sorted by. The last one is {self._sorted[-1]}."

    def expert_action(self):
        return " ".join(self._sorted)

    def _comment(self, given):
        if sorted(given) != sorted(self._sorted):
            return "Each word has to stand there once, and nothing else."
        agreeing = takewhile(lambda pair: pair[0] == pair[1], zip(given, self._sorted))
        return f"Right before the first mistake: {len(list(agreeing))}. Attempts left: {self._attempts}."
