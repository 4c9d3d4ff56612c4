# Document: At a market, each stall has its own prices. Cooks with little money compare what a whole meal would cost.
# Answer: the lowest total of amounts times prices among several offers
# Plan: draw the amounts of a list and the prices of three stalls; calculate what the list costs at each; self._answer is the lowest of these; the text gives all prices and the list.
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
        # Draw.
        wanted = {good: int(self.np_random.integers(1, 9)) for good in GOODS}
        stalls = [{good: int(self.np_random.integers(2, 30)) for good in GOODS} for _ in range(3)]
        # Calculate self._answer.
        totals = [sum(wanted[good] * prices[good] for good in GOODS) for prices in stalls]
        self._answer = min(totals)
        # Ask.
        text = " ".join(f"Stall {k + 1} asks for {prices}." for k, prices in enumerate(stalls))
        return f"{text} The list: {wanted}. What does it cost at the cheapest stall?", {}

    def goal_reached(self, answer):
        return str(answer) == str(self._answer)

    def hint(self):
        return "Multiply and add for each stall apart, then compare the three totals."

    def expert_action(self):
        return {"name": "finish", "arguments": {"answer": self._answer}}
