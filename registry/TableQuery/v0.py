# /// spade
# id = "spade/TableQuery-v0"
# title = "Table query"
# summary = "Turn a question about a table into a query that is right on every such table."
# domain = "language"
# skills = ["semantic parsing", "query writing", "precision"]
# origin = "seed"
# max_episode_steps = 3
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import operator

import gymnasium as gym
from gymnasium import spaces

NAMES = ("ash", "bell", "cove", "dale", "elm", "fern", "glen", "holt")
VALUES = {
    "land": ("Peru", "Chad", "Laos", "Cuba"),
    "kind": ("inn", "farm", "mill", "port"),
    "rooms": range(1, 10),
    "guests": range(1, 10),
}
LIMITS = {"rooms": range(3, 8), "guests": range(3, 8)}
CONDITIONS = {
    "land = {land}": "lie in {land}",
    "land != {land}": "lie anywhere but in {land}",
    "kind = {kind}": "are of the kind {kind}",
    "kind != {kind}": "are of any kind except {kind}",
    "rooms < {rooms}": "have fewer than {rooms} rooms",
    "rooms >= {rooms}": "have {rooms} rooms or more",
    "guests > {guests}": "have more than {guests} guests",
    "guests <= {guests}": "have at most {guests} guests",
}
QUESTIONS = {
    "list name": "Which are the houses that {which}?",
    "count": "How many houses are there that {which}?",
    "sum guests": "How many guests are there altogether in houses that {which}?",
    "max rooms": "How many rooms has the largest of the houses that {which}?",
}
COMPARE = {"=": operator.eq, "!=": operator.ne, "<": operator.lt}
COMPARE |= {"<=": operator.le, ">": operator.gt, ">=": operator.ge}
HIDDEN_TABLES = 30


class TableQuery(gym.Env):
    """Write a query that answers a question about a table of houses. It must also be right on tables you do not see.

    A query reads: WHAT [by COLUMN] [where CONDITION and CONDITION ...]. WHAT is "list COLUMN", "count", "sum COLUMN"
    or "max COLUMN". "by" answers for each value of a column apart. A CONDITION is a column, one of = != < <= > >=
    and a value. Words stand between single spaces. Example: max guests by land where kind = mill and rooms > 3.

    After a wrong query you see what it gives on your table.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._condition_count = (1, 2, 2)[difficulty - 1]
        self._grouped = difficulty == 3
        self.action_space = spaces.Text(300, min_length=0)
        self.observation_space = spaces.Text(4000)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._tables = self._some_tables()
        what, by = self._pick(list(QUESTIONS)), self._pick(("land", "kind"))
        used = {by, what.split()[-1]}
        chosen = []
        for line in self.np_random.permutation(list(CONDITIONS)).tolist():
            column = line.split()[0]
            if column not in used and len(chosen) < self._condition_count:
                used.add(column)
                chosen.append(line)
        values = {column: self._pick(choices) for column, choices in (VALUES | LIMITS).items()}
        head = f"{what} by {by}" if self._grouped else what
        self._right = f"{head} where {' and '.join(chosen)}".format(**values)
        which = " and ".join(CONDITIONS[line] for line in chosen).format(**values)
        question = QUESTIONS[what].format(which=which) + f" Say it for each {by} apart." * self._grouped
        rows = [" | ".join(str(value) for value in house.values()) for house in self._tables[0]]
        return "\n".join([" | ".join(self._tables[0][0]), *rows, "", question]), {}

    def step(self, action):
        try:
            given = [answer(action, table) for table in self._tables]
        except (KeyError, ValueError, TypeError):
            return "That is no query.", 0.0, False, False, {"is_success": False}
        expected = [answer(self._right, table) for table in self._tables]
        if given == expected:
            return "That is right.", 1.0, True, False, {"is_success": True}
        place = "another" if given[0] == expected[0] else "your"
        said = f"That is wrong on {place} table. On yours it gives {given[0]}."
        return said[:4000], 0.0, False, False, {"is_success": False}

    def hint(self):
        columns = [part.split()[0] for part in self._right.partition(" where ")[2].split(" and ")]
        return f"Look closely at what is said of: {', '.join(columns)}. Ask whether the limit itself is included."

    def expert_action(self):
        return self._right

    def _some_tables(self):
        names = NAMES * (1 + HIDDEN_TABLES)
        columns = [self.np_random.choice(values, len(names)).tolist() for values in VALUES.values()]
        houses = [dict(zip(("name", *VALUES), house)) for house in zip(names, *columns)]
        return [houses[n : n + len(NAMES)] for n in range(0, len(names), len(NAMES))]

    def _pick(self, values):
        return values[int(self.np_random.integers(len(values)))]


def answer(query, table):
    """Return what a query gives on a table: a list or a number, or a dictionary of such where there is a "by"."""
    head, has_conditions, tail = query.strip().partition(" where ")
    conditions = [condition.split(" ") for condition in tail.split(" and ")] if has_conditions else []
    houses = [house for house in table if all(holds(house, *condition) for condition in conditions)]
    match head.split(" "):
        case [*what, "by", column]:
            groups = sorted({house[column] for house in houses})
            return {group: total(what, [h for h in houses if h[column] == group]) for group in groups}
        case what:
            return total(what, houses)


def holds(house, column, sign, value):
    return COMPARE[sign](house[column], type(house[column])(value))


def total(what, houses):
    match what:
        case ["count"]:
            return len(houses)
        case ["list", column]:
            return sorted(house[column] for house in houses)
        case ["sum", ("rooms" | "guests") as column]:
            return sum(house[column] for house in houses)
        case ["max", column]:
            return max((house[column] for house in houses), default=None)
    raise ValueError
