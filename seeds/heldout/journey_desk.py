# /// spade
# id = "spade/JourneyDesk-v0"
# title = "Journey desk"
# summary = "Search timetables town by town and book the chain of buses that arrives first."
# domain = "tools"
# skills = ["graph search", "data retrieval", "planning"]
# origin = "seed"
# max_episode_steps = 16
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from itertools import chain, pairwise

from spade_envs import ToolEnv

TOWNS = ("Arden", "Belmont", "Corvey", "Dunmore", "Elstow", "Farley", "Granby", "Holme")
OPENING = 5  # the traveller can take any bus that leaves after this hour


def arrival(journey):
    """Return the hour at which a journey ends."""
    return journey[-1]["arrives"] if journey else OPENING


def first_journeys(start, buses):
    """Return the journey that arrives first in each town that these buses reach."""
    first = {start: []}
    for bus in sorted(buses, key=lambda bus: bus["leaves"]):
        way, known = first.get(bus["from"]), first.get(bus["to"])
        catches = way is not None and bus["leaves"] > arrival(way)
        if catches and (known is None or bus["arrives"] < arrival(known)):
            first[bus["to"]] = [*way, bus]
    return first


class JourneyDesk(ToolEnv):
    """You book bus journeys. Use the tools, then call finish.

    Each town's timetable lists the day's buses from there. Book seats on the buses of one journey that begins and
    ends where the traveller wishes and arrives as early as possible. Where buses are changed, the next one must
    leave later than the last one arrives. A booking cannot be undone; book nothing that is not needed.
    """

    def __init__(self, render_mode=None, difficulty=1):
        super().__init__(render_mode=render_mode)
        self._towns = TOWNS[: (4, 6, 8)[difficulty - 1]]
        self._least_changes = (0, 1, 2)[difficulty - 1]

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        journeys = []
        while not journeys:
            self._buses = self._draw_buses()
            first = [first_journeys(town, self._buses.values()) for town in self._towns]
            ways = chain.from_iterable(reached.values() for reached in first)
            journeys = [way for way in ways if len(way) > self._least_changes]
        self._best = journeys[self.np_random.integers(len(journeys))]
        self._start, self._end = self._best[0]["from"], self._best[-1]["to"]
        self._asked, self._booked = [], []
        return f"Book a journey from {self._start} to {self._end}, leaving at 6 o'clock or later.", {}

    def tool_timetable(self, town: str) -> list:
        """List all buses that leave a town, with their hours.

        Args:
            town: The town's name.
        """
        self._asked.append(town)
        return [bus for bus in self._buses.values() if bus["from"] == town]

    def tool_book(self, bus: str) -> dict:
        """Book a seat on a bus.

        Args:
            bus: The bus's number as the timetable gives it.
        """
        if bus not in self._buses:
            return {"error": "there is no such bus"}
        self._booked.append(bus)
        return {"booked": bus}

    def goal_reached(self, answer):
        journey = sorted((self._buses[number] for number in self._booked), key=lambda bus: bus["leaves"])
        stops = [self._start, *(bus["to"] for bus in journey)]
        joined = [*(bus["from"] for bus in journey), self._end] == stops
        in_time = all(late["leaves"] > early["arrives"] for early, late in pairwise(journey))
        return joined and in_time and arrival(journey) == arrival(self._best)

    def hint(self):
        return (
            f"Buses of the best journey: {len(self._best)}; it arrives at {arrival(self._best)} o'clock. Ask for the"
            " timetable of the start, then of the towns that can be reached, the earliest reached first."
        )

    def expert_action(self):
        towns = self._towns_to_ask()
        if towns:
            return {"name": "timetable", "arguments": {"town": towns[0]}}
        for bus in self._best:
            if bus["bus"] not in self._booked:
                return {"name": "book", "arguments": {"bus": bus["bus"]}}
        return {"name": "finish", "arguments": {"answer": "booked"}}

    def _draw_buses(self):
        draw, count = self.np_random, len(self._towns)
        numbers = draw.choice(900, size=3 * count, replace=False) + 100
        onward, leaves, hours = draw.integers((1, 6, 1), (count, 18, 6), size=(3 * count, 3)).T
        buses = {}
        for k, number in enumerate(f"B{n}" for n in numbers):
            towns = {"from": self._towns[k // 3], "to": self._towns[(k // 3 + onward[k]) % count]}
            times = {"leaves": int(leaves[k]), "arrives": int(leaves[k] + hours[k])}
            buses[number] = {"bus": number, **towns, **times}
        return buses

    def _towns_to_ask(self):
        """Return the towns whose timetables may still show a better journey, the earliest reached first."""
        known = [bus for bus in self._buses.values() if bus["from"] in self._asked]
        journeys = first_journeys(self._start, known)
        latest = arrival(journeys[self._end]) if self._end in journeys else 24
        towns = sorted(journeys, key=lambda town: arrival(journeys[town]))
        return [town for town in towns if town not in self._asked and arrival(journeys[town]) < latest]
