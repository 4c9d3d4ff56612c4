# Document: A night train stops at many stations. At each, some people get off and others get on; the guard counts them.
# Answer: the greatest value that a running number reaches
# Plan: people who leave and board at each station are drawn; asked is the greatest number on the train.
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
        people = self._answer = int(self.np_random.integers(20, 60))
        text = f"The train starts with {people} people."
        for _ in range(int(self.np_random.integers(5, 9))):
            off = int(self.np_random.integers(0, people + 1))
            on = int(self.np_random.integers(0, 50))
            people = people - off + on
            self._answer = max(self._answer, people)
            text += f" {off} get off and {on} get on."
        return text + " How many were on it when it was fullest?", {}

    def goal_reached(self, answer):
        return str(answer) == str(self._answer)

    def hint(self):
        return (
            "Keep a running number: take off those who leave, add those who board, and remember the greatest."
        )

    def expert_action(self):
        return {"name": "finish", "arguments": {"answer": self._answer}}
