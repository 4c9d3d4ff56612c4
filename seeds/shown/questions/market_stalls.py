# Document: At a market, each stall has its own prices. Cooks with little money compare what a whole meal would cost.
# Answer: the lowest total of amounts times prices among several offers
# Plan: prices of three stalls and a shopping list are drawn; asked is the lowest total.
#
# /// spade
# id = "spade/MarketStalls-v0"
# title = "Market stalls"
# summary = "Find out what a shopping list costs at the cheapest stall."
# domain = "planning"
# skills = ["comparison", "multiplication"]
# origin = "generated"
# generation_round = 0
# max_episode_steps = 3
# license = "Apache-2.0"
# contract = 1
# ///
from spade_envs import ToolEnv

GOODS = ["onions", "eggs", "flour", "cheese"]


class MarketStalls(ToolEnv):
    """Prices of several stalls and a shopping list are given. Say what the whole list costs at the cheapest stall."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        wanted = {good: int(self.np_random.integers(1, 9)) for good in GOODS}
        totals, text = [], ""
        for stall in "ABC":
            prices = {good: int(self.np_random.integers(2, 30)) for good in GOODS}
            totals.append(sum(wanted[good] * prices[good] for good in GOODS))
            text += f"Stall {stall} asks for {prices}. "
        self._answer = min(totals)
        return f"{text}The list: {wanted}. What does it cost at the cheapest stall?", {}

    def goal_reached(self, answer):
        return str(answer) == str(self._answer)

    def hint(self):
        return "Multiply and add for each stall apart, then compare the three totals."

    def expert_action(self):
        return {"name": "finish", "arguments": {"answer": self._answer}}
