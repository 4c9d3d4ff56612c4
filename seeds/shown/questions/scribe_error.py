# Document: Monks copied manuscripts by hand. Two copies of a line seldom agree, and scholars count the differences.
# Answer: how many places differ between sixteen numbers and a copy with mistakes
# Plan: draw sixteen numbers, and a copy of them with some changed; calculate at which places they differ; self._answer is how many these are; the text gives both lines.
#
# /// spade
# id = "spade/ScribeError-v0"
# title = "Scribe error"
# summary = "Count how many numbers of a copied line are wrong."
# domain = "language"
# skills = ["attention", "counting"]
# origin = "generated"
# generation_round = 0
# max_episode_steps = 3
# license = "Apache-2.0"
# contract = 1
# ///
from spade_envs import ToolEnv


class ScribeError(ToolEnv):
    """A line of numbers and its copy are given. Say how many numbers of the copy are not those of the line."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        # Draw.
        line = [int(n) for n in self.np_random.integers(10, 100, size=16)]
        copy = list(line)
        for place in self.np_random.permutation(16)[: int(self.np_random.integers(2, 15))]:
            copy[place] = int(self.np_random.integers(10, 100))
        # Calculate self._answer.
        self._answer = sum(one != other for one, other in zip(line, copy))
        # Ask.
        return f"Line: {line}. Copy: {copy}. How many numbers differ?", {}

    def goal_reached(self, answer):
        return str(answer) == str(self._answer)

    def hint(self):
        return "Compare the first numbers, then the second ones, and so on; count the pairs that differ."

    def expert_action(self):
        return {"name": "finish", "arguments": {"answer": self._answer}}
