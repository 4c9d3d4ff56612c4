# Document: A night train stops at many stations. At each, some people get off and others get on; the guard counts them.
# Answer: the greatest value that a running number reaches
# Plan: draw how many people are on the train, and how many leave and board at seven stations; calculate how many are on it after each; self._answer is the greatest of these; the text gives the start and every station.
#
# /// spade
# id = "spade/NightTrain-v0"
# title = "Night train"
# summary = "Work out the greatest number of people on a train along its way."
# domain = "math"
# skills = ["simulation", "tracking"]
# origin = "generated"
# generation_round = 0
# max_episode_steps = 3
# license = "Apache-2.0"
# contract = 1
# ///
from spade_envs import ToolEnv


class NightTrain(ToolEnv):
    """People leave and board a train at each station. Say how many people were on the train when it was fullest."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        # Draw.
        start = int(self.np_random.integers(70, 99))
        stations = [[int(n) for n in self.np_random.integers(0, 11, size=2)] for _ in range(7)]
        # Calculate self._answer.
        people = self._answer = start
        for off, on in stations:
            people = people - off + on
            self._answer = max(self._answer, people)
        # Ask.
        moves = " ".join(f"{off} get off and {on} get on." for off, on in stations)
        return f"The train starts with {start} people. {moves} How many were on it when it was fullest?", {}

    def goal_reached(self, answer):
        return str(answer) == str(self._answer)

    def hint(self):
        return (
            "Keep a running number: take off those who leave, add those who board, and remember the greatest."
        )

    def expert_action(self):
        return {"name": "finish", "arguments": {"answer": self._answer}}
