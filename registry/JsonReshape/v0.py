# /// spade
# id = "spade/JsonReshape-v0"
# title = "JSON reshape"
# summary = "Rewrite a nested JSON document into the shape that is asked for."
# domain = "language"
# skills = ["structured output", "grouping", "attention to detail"]
# origin = "seed"
# max_episode_steps = 3
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import json
from collections import Counter

import gymnasium as gym
from gymnasium import spaces

HOMES = {"Ada": "Oslo", "Ben": "Lima", "Cleo": "Oslo", "Dov": "Cairo", "Eva": "Lima", "Fay": "Cairo"}
ARTICLES = ("rice", "tea", "salt", "soap", "twine", "flour")


# The shapes: each docstring is the task, each function does it.
def names_by_id(orders):
    """An object that leads from each order's id (as text) to its buyer's name."""
    return {str(order["id"]): order["buyer"]["name"] for order in orders}


def summaries(orders):
    """A list with an object for each order, in the same order, with "id", "city" and the number of its "lines"."""
    return [{"id": o["id"], "city": o["buyer"]["city"], "lines": len(o["lines"])} for o in orders]


def counts_by_article(orders):
    """An object that leads from each article to its counts over all orders, added up."""
    total = Counter()
    for order in orders:
        total.update({line["article"]: line["count"] for line in order["lines"]})
    return dict(total)


def ids_by_city(orders):
    """An object that leads from each city to the list of the ids of its orders, in the same order."""
    return {city: [order["id"] for order in there] for city, there in grouped(orders, "city").items()}


def counts_by_city(orders):
    """An object that leads from each city to an object: from each article ordered there to its counts, added up."""
    return {city: counts_by_article(there) for city, there in grouped(orders, "city").items()}


def buyers_by_article(orders):
    """A list sorted by article: "article" is its name, "buyers" an object from each buyer to the counts, added up."""
    bought = {name: counts_by_article(theirs) for name, theirs in grouped(orders, "name").items()}
    return [
        {"article": article, "buyers": {name: had[article] for name, had in bought.items() if article in had}}
        for article in sorted(counts_by_article(orders))
    ]


def grouped(orders, key):
    """Return the orders for each name or each city of their buyers."""
    groups = {}
    for order in orders:
        groups.setdefault(order["buyer"][key], []).append(order)
    return groups


SHAPES = ((names_by_id, summaries), (counts_by_article, ids_by_city), (counts_by_city, buyers_by_article))


class JsonReshape(gym.Env):
    """Rewrite a JSON document into the shape that the task asks for. Answer with JSON and nothing else.

    Only the data counts: spaces and the order of keys do not matter, the order of lists does, and 7 is not "7".
    After a wrong answer you see where it first goes wrong, as a path from the top, which is $. You have three tries.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._order_count = difficulty + 2
        self._shapes = SHAPES[difficulty - 1]
        self.action_space = spaces.Text(4000, min_length=0)
        self.observation_space = spaces.Text(6000)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        numbers = (self.np_random.choice(90, self._order_count, replace=False) + 10).tolist()
        orders = [self._some_order(number) for number in numbers]
        reshape = self._shapes[int(self.np_random.integers(len(self._shapes)))]
        self._wanted = reshape(orders)
        document = ",\n".join(json.dumps(order) for order in orders)
        return f"{reshape.__doc__}\n\n[\n{document}\n]", {}

    def step(self, action):
        try:
            place = first_difference(json.loads(action), self._wanted)
        except (ValueError, RecursionError):
            return "That is not JSON.", 0.0, False, False, {"is_success": False}
        right = place is None
        said = "That is right." if right else f"It goes wrong at {place}."
        return said, float(right), right, False, {"is_success": right}

    def hint(self):
        keys = json.dumps(self._wanted).count(":")
        return f"{len(self._wanted)} entries stand at the top, {keys} keys in all. Tick off each line as you place it."

    def expert_action(self):
        return json.dumps(self._wanted)

    def _some_order(self, number):
        draw = self.np_random
        name = draw.choice(list(HOMES)[: self._order_count + 1]).item()
        articles = draw.choice(ARTICLES, int(draw.integers(1, 4)), replace=False).tolist()
        lines = [{"article": article, "count": int(draw.integers(1, 10))} for article in articles]
        return {"id": number, "buyer": {"name": name, "city": HOMES[name]}, "lines": lines}


def first_difference(given, wanted, place="$"):
    """Return the path of the first place at which data differs, or None."""
    if type(given) is not type(wanted) or (not isinstance(wanted, (dict, list)) and given != wanted):
        return place
    if isinstance(wanted, dict):
        if given.keys() != wanted.keys():
            return f"the keys of {place}"
        parts = [(given[key], wanted[key], f"{place}.{key}") for key in wanted]
    elif isinstance(wanted, list):
        if len(given) != len(wanted):
            return f"the length of {place}"
        parts = [(one, other, f"{place}[{n}]") for n, (one, other) in enumerate(zip(given, wanted))]
    else:
        parts = []
    return next((found for part in parts if (found := first_difference(*part))), None)
