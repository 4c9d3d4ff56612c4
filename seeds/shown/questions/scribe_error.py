# Document: Monks copied manuscripts by hand. Two copies of a line seldom agree, and scholars count the differences.
# Answer: how many places differ between a list and its shuffled copy
# Plan: a line of words and a copy with some words in other places are drawn; asked is how many moved.
#
# /// spade
# id = "spade/ScribeError-v0"
# title = "Scribe error"
# summary = "Count how many words of a copied line stand in another place."
# domain = "language"
# skills = ["attention", "counting"]
# origin = "generated"
# generation_round = 0
# max_episode_steps = 3
# license = "Apache-2.0"
# contract = 1
# ///
from spade_envs import ToolEnv

WORDS = ["old", "monk", "wrote", "light", "until", "cold", "morning", "bell"]


class ScribeError(ToolEnv):
    """A line and its copy are given. Say how many words of the copy do not stand where they stood in the line."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        line = [str(word) for word in self.np_random.permutation(WORDS)]
        copy = list(line)
        for _ in range(int(self.np_random.integers(2, 6))):
            a, b = self.np_random.integers(0, len(copy), size=2)
            copy[a], copy[b] = copy[b], copy[a]
        self._answer = sum(one != other for one, other in zip(line, copy))
        return f"Line: {' '.join(line)}. Copy: {' '.join(copy)}. How many words moved?", {}

    def goal_reached(self, answer):
        return str(answer) == str(self._answer)

    def hint(self):
        return "Compare the first words, then the second ones, and so on; count the pairs that differ."

    def expert_action(self):
        return {"name": "finish", "arguments": {"answer": self._answer}}
