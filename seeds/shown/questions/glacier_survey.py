# Document: A glacier loses ice in warm months and gains it in cold ones. Surveyors note its height each month.
# Answer: the name with the greatest fall from one number to the next
# Plan: draw seven different heights from 200 to 300; calculate the fall from each to the next; self._answer is the month of the greatest fall; the text gives every month with its height.
#
# /// spade
# id = "spade/GlacierSurvey-v0"
# title = "Glacier survey"
# summary = "Find the month in which a glacier lost the most ice."
# domain = "science"
# skills = ["comparison", "arithmetic"]
# origin = "generated"
# generation_round = 0
# max_episode_steps = 3
# license = "Apache-2.0"
# contract = 1
# ///
from spade_envs import ToolEnv

MONTHS = ["March", "April", "May", "June", "July", "August", "September"]


class GlacierSurvey(ToolEnv):
    """The height of a glacier at the end of each month is given. Say in which month the ice fell the most."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        # Draw.
        heights = [int(n) for n in self.np_random.choice(range(200, 300), size=len(MONTHS), replace=False)]
        # Calculate self._answer.
        falls = [heights[k] - heights[k + 1] for k in range(len(MONTHS) - 1)]
        self._answer = MONTHS[falls.index(max(falls)) + 1]
        # Ask.
        table = ", ".join(f"{month} {height} m" for month, height in zip(MONTHS, heights))
        return f"Heights: {table}. In which month did the ice fall the most?", {}

    def goal_reached(self, answer):
        return str(answer) == str(self._answer)

    def hint(self):
        return "Subtract each height from the one before it and look for the greatest difference."

    def expert_action(self):
        return {"name": "finish", "arguments": {"answer": self._answer}}
