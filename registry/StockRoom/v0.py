# /// spade
# id = "spade/StockRoom-v0"
# title = "Stock room"
# summary = "Order exactly what a shop is short of, from the cheaper of two suppliers."
# domain = "tools"
# skills = ["state modification", "data retrieval", "error recovery"]
# origin = "seed"
# max_episode_steps = 20
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from typing import Literal

from spade_envs import ToolEnv

GOODS = ("rice", "lentils", "coffee", "salt", "candles", "soap", "twine", "matches")


class StockRoom(ToolEnv):
    """You keep a shop's stock room. Use the tools, then call finish.

    Order every article whose stock is below its minimum, up to the minimum and no further, each from the
    supplier that asks the lower price. A supplier that is closed refuses: then take the other one. Order nothing
    else.
    """

    def __init__(self, render_mode=None, difficulty=1):
        super().__init__(render_mode=render_mode)
        self._short_count = difficulty + 1
        self._closed_count = difficulty - 1

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        draw = self.np_random
        self._minimum = {article: int(draw.integers(10, 60)) for article in GOODS}
        self._stock = {article: least + int(draw.integers(0, 30)) for article, least in self._minimum.items()}
        self._short = [GOODS[n] for n in draw.choice(len(GOODS), size=self._short_count, replace=False)]
        for article in self._short:
            self._stock[article] = int(draw.integers(0, self._minimum[article]))
        prices = {article: [int(n) for n in draw.choice(range(2, 40), 2, replace=False)] for article in GOODS}
        self._prices = {article: dict(zip(("north", "south"), pair)) for article, pair in prices.items()}
        self._closed = {article: self._cheaper(article) for article in self._short[: self._closed_count]}
        self._orders = {}
        self._seen = set()
        return "Bring the stock up to its minimum.", {}

    def tool_count(self) -> dict:
        """Count the stock: for each article how much is there and how much there should be at least."""
        self._seen.add("count")
        return {a: {"stock": self._stock[a], "minimum": self._minimum[a]} for a in GOODS}

    def tool_prices(self, article: str) -> dict:
        """Ask both suppliers for their price of one article.

        Args:
            article: The article's name.
        """
        self._seen.add(article)
        return self._prices.get(article, {"error": "no such article"})

    def tool_order(self, article: str, amount: int, supplier: Literal["north", "south"]) -> dict:
        """Order an article. An order cannot be taken back.

        Args:
            article: The article's name.
            amount: How many.
            supplier: Who delivers.
        """
        if article not in self._prices or amount < 1:
            return {"error": "that cannot be ordered"}
        if self._closed.get(article) == supplier:
            self._seen.add(f"{article} closed")
            return {"error": f"{supplier} is closed for {article} today"}
        self._orders.setdefault(article, []).append((supplier, amount))
        return {"ordered": amount, "article": article}

    def goal_reached(self, answer):
        return self._orders == {name: [(self._best(name), self._lacking(name))] for name in self._short}

    def hint(self):
        return (
            "Count first. Then, for each article below its minimum, ask the prices and order the difference."
        )

    def expert_action(self):
        if "count" not in self._seen:
            return {"name": "count", "arguments": {}}
        for article in self._short:
            if article not in self._seen:
                return {"name": "prices", "arguments": {"article": article}}
            if article not in self._orders:
                refused = f"{article} closed" in self._seen
                supplier = self._best(article) if refused else self._cheaper(article)
                arguments = {"article": article, "amount": self._lacking(article), "supplier": supplier}
                return {"name": "order", "arguments": arguments}
        return {"name": "finish", "arguments": {"answer": "done"}}

    def _lacking(self, article):
        return self._minimum[article] - self._stock[article]

    def _cheaper(self, article):
        return min(self._prices[article], key=self._prices[article].get)

    def _best(self, article):
        """The cheaper supplier, or the other one where that is closed."""
        cheaper = self._cheaper(article)
        return {"north": "south", "south": "north"}[cheaper] if article in self._closed else cheaper
