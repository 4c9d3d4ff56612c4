# Document: A glacier loses ice in warm months and gains it in cold ones. Surveyors note its height each month.
#
# /// spade
# id = "spade/GlacierSurvey-v0"
# title = "Glacier survey"
# summary = "Find the month in which a glacier lost the most ice."
# domain = "science"
# skills = ["comparison", "arithmetic"]
# origin = "generated"
# generation_round = 0
# max_episode_steps = 4
# license = "Apache-2.0"
# contract = 1
# ///
from spade_envs import ToolEnv

MONTHS = ["March", "April", "May", "June", "July", "August", "September"]


class GlacierSurvey(ToolEnv):
    """The height of a glacier was measured at the end of each month. Finish with the name of the month in which
    the ice fell the most since the month before.
    """

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        while True:
            heights = [int(self.np_random.integers(200, 300)) for _ in MONTHS]
            falls = [heights[k] - heights[k + 1] for k in range(len(MONTHS) - 1)]
            if falls.count(max(falls)) == 1:
                break
        self._answer = MONTHS[1 + falls.index(max(falls))]
        table = ", ".join(f"{month} {height} m" for month, height in zip(MONTHS, heights))
        return f"Heights: {table}. In which month did the ice fall the most?", {}

    def goal_reached(self, answer):
        return str(answer).strip().lower() == self._answer.lower()

    def hint(self):
        return "Subtract each height from the one before it and look for the greatest difference."

    def expert_action(self):
        return {"name": "finish", "arguments": {"answer": self._answer}}
