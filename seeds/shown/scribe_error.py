# Document: Monks copied manuscripts by hand. Two copies of a line seldom agree, and scholars count the differences.
#
# /// spade
# id = "spade/ScribeError-v0"
# title = "Scribe's error"
# summary = "Count how many letters differ between a line and its copy."
# domain = "language"
# skills = ["attention", "counting"]
# origin = "generated"
# generation_round = 0
# max_episode_steps = 3
# license = "Apache-2.0"
# contract = 1
# ///
from spade_envs import ToolEnv

WORDS = ["the", "old", "monk", "wrote", "by", "light", "until", "cold", "morning", "rang", "over", "silent"]


class ScribeError(ToolEnv):
    """A line and its copy are shown. Finish with how many letters of the copy are not those of the line."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        line = " ".join(self.np_random.permutation(WORDS)[:8])
        places = [k for k, letter in enumerate(line) if letter != " "]
        wrong = self.np_random.choice(places, size=int(self.np_random.integers(3, 16)), replace=False)
        copy = list(line)
        for place in wrong:
            copy[place] = "a" if copy[place] != "a" else "o"
        self._errors = len(wrong)
        return f"Line: {line}\nCopy: {''.join(copy)}\nHow many letters differ?", {}

    def goal_reached(self, answer):
        return str(answer) == str(self._errors)

    def hint(self):
        return "Compare word by word, and write down how many letters differ in each."

    def expert_action(self):
        return {"name": "finish", "arguments": {"answer": self._errors}}
