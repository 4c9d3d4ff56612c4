# Document: A night train stops at many stations. At each, some people get off and others get on; the guard counts them.
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
    """People leave and board a train at each station, in this order. Finish with the greatest number of people that
    are on the train at any time.
    """

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        people = most = int(self.np_random.integers(20, 60))
        stops = [f"{people} people start"]
        for _ in range(int(self.np_random.integers(5, 9))):
            off = int(self.np_random.integers(0, people + 1))
            on = int(self.np_random.integers(0, 50))
            people = people - off + on
            most = max(most, people)
            stops.append(f"{off} off and {on} on")
        self._most = most
        return "; ".join(stops) + ". How full is the train at its fullest?", {}

    def goal_reached(self, answer):
        return str(answer) == str(self._most)

    def hint(self):
        return (
            "Keep a running number: take off those who leave, add those who board, and remember the greatest."
        )

    def expert_action(self):
        return {"name": "finish", "arguments": {"answer": self._most}}
