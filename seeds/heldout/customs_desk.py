# /// spade
# id = "spade/CustomsDesk-v0"
# title = "Customs desk"
# summary = "Clear shipments: find each good's code, rate and treaty, then charge the duty or hold it."
# domain = "tools"
# skills = ["rule following", "data retrieval", "arithmetic"]
# origin = "seed"
# max_episode_steps = 18
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from spade_envs import ToolEnv

GOODS = ("glassware", "saffron", "bicycles", "carpets", "ivory", "perfume", "clocks", "kites")
COUNTRIES = ("Norland", "Estria", "Vell", "Marquay", "Tamar")


class CustomsDesk(ToolEnv):
    """You clear shipments at the customs desk. Use the tools, then call finish.

    Every good has a code, and every code a rate: so many percent of the shipment's value are its duty. Shipments
    from a country with a treaty pay half of that, and shipments worth 200 or less pay 0. Goods whose rate is
    "banned" are never released, whatever they are worth: hold them. Release each shipment that you are asked for
    with the exact duty, or hold it. Neither can be undone. Leave all other shipments alone.
    """

    def __init__(self, render_mode=None, difficulty=1):
        super().__init__(render_mode=render_mode)
        self._count = difficulty

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        draw = self.np_random
        goods, countries = draw.permutation(GOODS).tolist(), draw.permutation(COUNTRIES).tolist()
        self._codes = dict(zip(goods, (1000 + draw.choice(9000, size=len(GOODS), replace=False)).tolist()))
        self._rates = {code: 2 * int(draw.integers(1, 16)) for code in self._codes.values()}
        self._rates |= {self._codes[good]: "banned" for good in (goods[1], goods[-1])}
        self._treaties = set(countries[:2])
        numbers = 100 + draw.choice(900, size=6, replace=False)
        self._shipments = {f"S{number}": self._draw_shipment(good) for number, good in zip(numbers, goods)}
        self._wanted = draw.permutation(list(self._shipments)[: self._count]).tolist()
        self._cleared, self._known = {}, set()
        return f"Clear {' and '.join(self._wanted)}.", {}

    def tool_shipment(self, number: str) -> dict:
        """Read a shipment's papers.

        Args:
            number: The shipment's number.
        """
        return self._look_up(self._shipments, number)

    def tool_find_code(self, good: str) -> dict:
        """Find the code of a good.

        Args:
            good: The good as the papers call it.
        """
        return self._look_up(self._codes, good)

    def tool_rate(self, code: int) -> dict:
        """Look up the rate of a code in percent, or whether it is banned.

        Args:
            code: The good's code.
        """
        return self._look_up(self._rates, code)

    def tool_treaty(self, country: str) -> dict:
        """Ask whether there is a treaty with a country.

        Args:
            country: The country that the shipment comes from.
        """
        return self._look_up({name: name in self._treaties for name in COUNTRIES}, country)

    def tool_release(self, number: str, duty: int) -> dict:
        """Release a shipment and charge its duty.

        Args:
            number: The shipment's number.
            duty: The duty in whole units of money.
        """
        return self._clear(number, duty)

    def tool_hold(self, number: str) -> dict:
        """Hold a shipment back.

        Args:
            number: The shipment's number.
        """
        return self._clear(number, "held")

    def goal_reached(self, answer):
        return self._cleared == {number: self._right(number) for number in self._wanted}

    def hint(self):
        held = sum(self._right(number) == "held" for number in self._wanted)
        free = sum(self._right(number) == 0 for number in self._wanted)
        return (
            f"Of these shipments, {held} must be held and {free} pay nothing. Read the papers, find the code and its"
            " rate, then ask about the treaty."
        )

    def expert_action(self):
        for number in self._wanted:
            if number not in self._cleared:
                name, arguments = self._next_call(number)
                return {"name": name, "arguments": arguments}
        return {"name": "finish", "arguments": {"answer": "cleared"}}

    def _draw_shipment(self, good):
        value = 100 * int(self.np_random.integers(1, 30))
        return {"good": good, "value": value, "from": str(self.np_random.choice(COUNTRIES))}

    def _look_up(self, table, key):
        self._known.add(key)
        return {"found": table[key]} if key in table else {"error": f"{key} is unknown"}

    def _clear(self, number, duty):
        if number not in self._shipments or number in self._cleared:
            return {"error": "no such shipment is waiting"}
        self._cleared[number] = duty
        return {"cleared": number, "duty": duty}

    def _next_call(self, number):
        """Return what is not known yet of a shipment, or how to clear it."""
        papers = self._shipments[number]
        questions = {
            "shipment": {"number": number},
            "find_code": {"good": papers["good"]},
            "rate": {"code": self._codes[papers["good"]]},
            "treaty": {"country": papers["from"]},
        }
        for name, arguments in questions.items():
            if not self._known.issuperset(arguments.values()):
                return name, arguments
        if self._right(number) == "held":
            return "hold", {"number": number}
        return "release", {"number": number, "duty": self._right(number)}

    def _right(self, number):
        """Return a shipment's duty, or that it is to be held."""
        papers = self._shipments[number]
        rate = self._rates[self._codes[papers["good"]]]
        if rate == "banned":
            return "held"
        if papers["value"] <= 200:
            return 0
        return papers["value"] * rate // (200 if papers["from"] in self._treaties else 100)
