# /// spade
# id = "spade/AfterSales-v0"
# title = "After-sales desk"
# summary = "Settle a customer's returns by the rules, then stack coupons so that a basket costs the least."
# domain = "tools"
# skills = ["policy following", "multi-turn dialogue", "date arithmetic", "optimisation"]
# origin = "seed"
# max_episode_steps = 24
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from typing import Literal

from spade_envs import ToolEnv

ARTICLES = ("kettle", "lantern", "scarf", "tent", "radio", "clock", "boots", "globe")
Outcome = Literal["refund", "credit", "decline"]
FULL, HALF = 14, 7  # days for a full refund, and further days for half of it


class AfterSales(ToolEnv):
    """You staff a shop's after-sales desk. Do what the customer asks, then call finish.

    Finish brings the next request; where there is none, it ends the day. Nothing that you do can be taken back, and
    nothing may be done that was not asked.

    Returns: an article is refunded in full up to 14 days after its delivery. If it was delivered later than
    promised, it has as many days more. In the 7 days after that, give half its price, rounded down, as a credit,
    which is a coupon for the customer. Later still, decline.

    Coupons lower what is left of the basket's price, one after the other, in any order, each once, and only while
    at least their minimum is left. A coupon takes off a sum, or a percentage that is rounded down.
    """

    def __init__(self, render_mode=None, difficulty=1):
        super().__init__(render_mode=render_mode)
        self._return_count = (2, 2, 3)[difficulty - 1]
        self._coupon_count = (0, 2, 3)[difficulty - 1]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        draw = self.np_random
        self._today = int(draw.integers(60, 90))
        self._basket = int(draw.integers(200, 400))
        self._orders = {article: self._some_order() for article in ARTICLES}
        self._returned = draw.permutation(ARTICLES).tolist()[: self._return_count]
        codes = draw.choice(900, self._coupon_count, replace=False) + 100
        self._coupons = {f"SAVE{code}": self._some_coupon() for code in codes}
        self._settled, self._turn, self._looked = {}, 0, False
        self._requests = [f"I would like to return the {article}." for article in self._returned]
        self._least = self._basket
        if self._coupons:
            self._requests.append("Now use my coupons so that my basket costs as little as possible.")
            due = {article: self._due(article) for article in self._returned}
            credits = {article: credit(amount) for article, (kind, amount) in due.items() if kind == "credit"}
            self._least = cheapest(self._basket, self._coupons | credits)[0]
        return self._requests[0], {}

    def next_instruction(self, answer):
        self._turn += 1
        return self._requests[self._turn] if self._turn < len(self._requests) else None

    def tool_account(self) -> dict:
        """Look up today's day, and the customer's orders, basket and coupons. Days are numbered."""
        self._looked = True
        basket = {"price": self._basket}
        return {"today": self._today, "orders": self._orders, "basket": basket, "coupons": self._coupons}

    def tool_settle(self, article: str, outcome: Outcome, amount: int = 0) -> dict:
        """Settle the return of an article. A credit becomes a coupon without a minimum.

        Args:
            article: The article's name.
            outcome: Refund money, give a credit, or decline.
            amount: Whole units of money; 0 where the return is declined.
        """
        if article not in self._orders or article in self._settled or amount < 0:
            return {"error": "that cannot be done"}
        self._settled[article] = (outcome, amount)
        if outcome == "credit":
            self._coupons[f"CREDIT-{article}"] = credit(amount)
        return {"settled": article, "outcome": outcome, "amount": amount}

    def tool_use_coupon(self, code: str) -> dict:
        """Use a coupon on the basket.

        Args:
            code: The coupon's code.
        """
        if code not in self._coupons or self._basket < self._coupons[code]["minimum"]:
            return {"error": "that coupon cannot be used"}
        self._basket = lowered(self._basket, self._coupons.pop(code))
        return {"basket": {"price": self._basket}}

    def goal_reached(self, answer):
        return self._settled == {a: self._due(a) for a in self._returned} and self._basket == self._least

    def hint(self):
        words = {"refund": "in time", "credit": "half", "decline": "too late"}
        verdicts = ", then ".join(words[self._due(article)[0]] for article in self._returned)
        return f"In the order of asking, the returns are: {verdicts}. Percentages first, unless a minimum forbids it."

    def expert_action(self):
        if not self._looked:
            return {"name": "account", "arguments": {}}
        if self._turn < len(self._returned):
            article = self._returned[self._turn]
            if article not in self._settled:
                outcome, amount = self._due(article)
                arguments = {"article": article, "outcome": outcome, "amount": amount}
                return {"name": "settle", "arguments": arguments}
        elif codes := cheapest(self._basket, self._coupons)[1]:
            return {"name": "use_coupon", "arguments": {"code": codes[0]}}
        return {"name": "finish", "arguments": {"answer": "done"}}

    def _some_order(self):
        draw = self.np_random
        late = int(draw.choice((0, 0, 3, 5, 8)))
        overdue = int(draw.integers(*((-8, 1), (1, HALF + 1), (HALF + 1, 15))[draw.integers(3)]))
        delivered = self._today - FULL - late - overdue
        return {"price": int(draw.integers(20, 150)), "promised": delivered - late, "delivered": delivered}

    def _some_coupon(self):
        draw = self.np_random
        takes_sum, worth = draw.random() < 0.5, int(draw.integers(10, 40))
        return {"sum" if takes_sum else "percent": worth, "minimum": int(draw.integers(0, self._basket))}

    def _due(self, article):
        order = self._orders[article]
        late = order["delivered"] - order["promised"]
        overdue = self._today - order["delivered"] - FULL - late
        if overdue <= 0:
            return "refund", order["price"]
        return ("credit", order["price"] // 2) if overdue <= HALF else ("decline", 0)


def credit(amount):
    return {"sum": amount, "minimum": 0}


def lowered(price, coupon):
    return max(0, price - (coupon["sum"] if "sum" in coupon else price * coupon["percent"] // 100))


def cheapest(price, coupons):
    """Return the lowest price that coupons lead to, and their codes in the order that does it."""
    best = (price, [])
    for code, coupon in coupons.items():
        if price >= coupon["minimum"]:
            others = {c: o for c, o in coupons.items() if c != code}
            left, codes = cheapest(lowered(price, coupon), others)
            best = min(best, (left, [code, *codes]))
    return best
