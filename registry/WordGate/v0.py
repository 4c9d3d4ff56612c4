# /// spade
# id = "spade/WordGate-v0"
# title = "Word gate"
# summary = "Write a function that tells which words a gate lets pass, from examples alone."
# domain = "code"
# skills = ["program synthesis", "induction", "programming"]
# origin = "seed"
# max_episode_steps = 8
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
from gymnasium import spaces

from spade_envs import run_program

# What a gate may look at, in words and as a condition; a and b are two letters, n is 1 or 2.
LOOKS = {
    "how the word begins": "word[0] in '{a}{b}'",
    "how the word ends": "word[-1] in '{a}{b}'",
    "how often a letter occurs": "word.count('{a}') >= {n}",
    "whether a letter occurs an even number of times": "word.count('{a}') % 2 == 0",
    "which of two letters occurs more often": "word.count('{a}') > word.count('{b}')",
    "whether two letters stand side by side": "'{a}{b}' in word",
    "the word's length": "len(word) > {n} + 2",
}
JOINED = ("{}", "{} and {}", "({}) != ({})")
# The first line ends the agent's text: a decorator there must not be one of what follows.
EVERY = """
pass
def every(words):
    return [passes(word) is True for word in words]
"""
WORDS, SHOWN = 80, 20


class WordGate(gym.Env):
    """A gate lets some words pass. You see examples; find out which words pass and write it as a Python function.

    Answer with Python source that defines passes(word) and returns True or False. The words have 3 to 8 letters of
    a, b, c and d. The gate looks at one or two simple properties: how a word begins or ends, how often a letter
    occurs, whether that is even, which of two letters occurs more often, whether two letters stand side by side, how
    long the word is. Of two properties it may ask for both, or for exactly one. Your function is tried on words that
    you have not seen; if it is wrong, you are told one of them.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._joined = JOINED[difficulty - 1]
        self.action_space = spaces.Text(2000, min_length=0)
        self.observation_space = spaces.Text(2000)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        letters = self.np_random.choice(list("abcd"), (WORDS, 8)).tolist()
        lengths = self.np_random.integers(3, 9, size=WORDS)
        self._words = list(dict.fromkeys("".join(row[:length]) for row, length in zip(letters, lengths)))
        self._passing = []
        while not WORDS // 6 < sum(self._passing) < WORDS * 2 // 3:
            self._looks = self.np_random.permutation(list(LOOKS)).tolist()[: self._joined.count("{}")]
            conditions = [self._some_condition(LOOKS[look]) for look in self._looks]
            self._source = f"def passes(word):\n    return {self._joined.format(*conditions)}"
            self._passing = self._run(self._source)["result"]
        shown = [f"{word}: {verdict(self._passing[n])}" for n, word in enumerate(self._words[:SHOWN])]
        return "\n".join(shown), {}

    def step(self, action):
        given = self._run(action)
        if "error" in given:
            return f"It could not be run: {given['error']}"[:2000], 0.0, False, False, {"is_success": False}
        wrong = [n for n, right in enumerate(self._passing) if given["result"][n : n + 1] != [right]]
        if wrong:
            example = f"{self._words[wrong[-1]]}: {verdict(self._passing[wrong[-1]])}"
            said = f"{len(wrong)} of {len(self._words)} words are judged wrongly. For example, {example}."
            return said, 0.0, False, False, {"is_success": False}
        return "All words are judged rightly.", 1.0, True, False, {"is_success": True}

    def hint(self):
        return f"The gate looks at this: {'; '.join(self._looks)}. Sort the examples by it."

    def expert_action(self):
        return self._source

    def _some_condition(self, look):
        a, b = self.np_random.permutation(list("abcd")).tolist()[:2]
        return look.format(a=a, b=b, n=self.np_random.integers(1, 3))

    def _run(self, source):
        return run_program(f"{source}\n{EVERY}", "every", [self._words])


def verdict(passes):
    return "passes" if passes else "stays out"
