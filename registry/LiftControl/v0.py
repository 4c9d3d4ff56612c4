# /// spade
# id = "spade/LiftControl-v0"
# title = "Lift control"
# summary = "Run two small lifts so that everybody is on the wanted floor before patience ends."
# domain = "planning"
# skills = ["scheduling", "coordination", "planning"]
# origin = "seed"
# max_episode_steps = 30
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from dataclasses import dataclass
from itertools import permutations

import gymnasium as gym
import numpy as np
from gymnasium import spaces

NAMES = ("Ada", "Bo", "Cleo", "Dan", "Eve", "Finn", "Gus")
LIFTS, ROOM = 2, 2  # lifts, and people whom each of them holds
DOWN, OPEN, UP = range(3)
WAITING, ARRIVED = LIFTS, LIFTS + 1  # where a person is who rides in no lift
PATIENT = 99


@dataclass
class Person:
    floor: int
    goal: int
    patience: int = PATIENT
    place: int = WAITING


class LiftControl(gym.Env):
    """Two lifts run side by side in a house. Bring everybody to the wanted floor before patience ends.

    Each turn, give each lift a number: 0 down one floor, 1 open the doors, 2 up one floor. When doors open, those
    who want this floor get out, then those who wait here get in, in the order of the list, the first lift first;
    a lift holds two. Whoever has not arrived loses one minute of patience each turn. When anybody has none left,
    the shift is lost.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._floors, self._count, self._spare = ((4, 3, 3), (6, 5, 2), (7, 7, 1))[difficulty - 1]
        self._ways = list(permutations(range(self._floors), 2))
        self.action_space = spaces.MultiDiscrete([3] * LIFTS)
        self.observation_space = spaces.Dict(
            {
                "lifts": spaces.MultiDiscrete([self._floors] * LIFTS),
                # for each person: floor, wanted floor, patience; 0 or 1 in that lift, 2 waiting, 3 arrived
                "people": spaces.Box(0, PATIENT, shape=(self._count, 4), dtype=np.int64),
            }
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        times = [PATIENT]
        while max(times) > 25:  # until a shift fits well into the time limit
            begin = self.np_random.integers(self._floors, size=LIFTS).tolist()
            ways = [self._ways[n] for n in self.np_random.integers(len(self._ways), size=self._count)]
            self._lifts, self._people = list(begin), [Person(*way) for way in ways]
            times = self._rehearse()
        self._lifts = begin
        self._people = [Person(*way, time + self._spare) for way, time in zip(ways, times)]
        return self._observe(), {}

    def step(self, action):
        before = self._arrived()
        self._run(action)
        done = self._arrived() == self._count
        lost = any(person.patience == 0 for person in self._people if person.place != ARRIVED)
        reward = ((self._arrived() - before) / self._count + done) / 2
        return self._observe(), reward, done or lost, False, {"is_success": done}

    def render(self):
        lifts = ", ".join(f"lift {number} is at floor {floor}" for number, floor in enumerate(self._lifts))
        return "\n".join([f"Floors 0 to {self._floors - 1}; {lifts}.", *map(self._line, range(self._count))])

    def hint(self):
        least = sorted(range(self._count), key=lambda number: self._people[number].patience)
        order = ", ".join(NAMES[number] for number in least if self._people[number].place != ARRIVED)
        return f"Aim at these arrivals in turn: {order or 'all are there'}. Let the lifts share the house."

    def expert_action(self):
        orders, claimed = [], set()
        for lift, floor in enumerate(self._lifts):
            stops = [person.goal for person in self._people if person.place == lift]
            if len(stops) < ROOM:
                waiting = {person.floor for person in self._people if person.place == WAITING}
                stops += sorted(waiting - claimed)
            stop = min(stops, key=lambda stop: abs(stop - floor), default=floor)
            claimed.add(stop)
            orders.append(OPEN if stop == floor else UP if stop > floor else DOWN)
        return np.array(orders)

    def _rehearse(self):
        """Let the expert run the lifts until all have arrived; return after how many turns each one has."""
        times = [0] * self._count
        while self._arrived() < self._count:
            times = [time + (person.place != ARRIVED) for time, person in zip(times, self._people)]
            self._run(self.expert_action())
        return times

    def _run(self, orders):
        for lift, order in enumerate(orders.tolist()):
            if order == OPEN:
                self._open(lift)
            else:
                self._lifts[lift] = min(self._floors - 1, max(0, self._lifts[lift] + order - OPEN))
        for person in self._people:
            person.floor = self._lifts[person.place] if person.place < LIFTS else person.floor
            person.patience -= person.place != ARRIVED

    def _open(self, lift):
        floor = self._lifts[lift]
        for person in self._people:
            if person.place == lift and person.goal == floor:
                person.place = ARRIVED
        for person in self._people:
            full = sum(other.place == lift for other in self._people) == ROOM
            if person.place == WAITING and person.floor == floor and not full:
                person.place = lift

    def _arrived(self):
        return sum(person.place == ARRIVED for person in self._people)

    def _line(self, number):
        person = self._people[number]
        if person.place == ARRIVED:
            return f"{NAMES[number]} has arrived."
        where = f"rides in lift {person.place}" if person.place < LIFTS else f"waits at floor {person.floor}"
        return f"{NAMES[number]} {where}, wants floor {person.goal}, patience {person.patience}."

    def _observe(self):
        people = [(person.floor, person.goal, person.patience, person.place) for person in self._people]
        return {"lifts": np.array(self._lifts), "people": np.array(people)}
