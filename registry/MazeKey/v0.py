# /// spade
# id = "spade/MazeKey-v0"
# title = "Maze key"
# summary = "Find a key in a dark maze, then the gate that it opens, by what the corridors show."
# domain = "games"
# skills = ["exploration", "memory", "navigation"]
# origin = "seed"
# max_episode_steps = 30
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from collections import deque

import gymnasium as gym
import numpy as np
from gymnasium import spaces

HEADINGS = {"north": (-1, 0), "east": (0, 1), "south": (1, 0), "west": (0, -1)}
FARTHEST = 3  # rooms that can lie ahead in the largest maze


class MazeKey(gym.Env):
    """You are in a dark maze of square rooms. Fetch the key, then go to the gate.

    Each turn, go north, east, south or west into the next room; a wall keeps you where you are. You pick the key
    up by entering its room, and the gate opens when you enter its room with the key. Down each straight corridor
    you see how many rooms lie open before the next wall and, if the key or the gate is among them, after how many
    steps (0 in your own room, -1 where it is not seen). You do not see around corners. Your torch burns down by
    one each turn: be through the gate before it goes out.
    """

    metadata = {"render_modes": ["ansi"]}
    action_names = tuple(HEADINGS)

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._rows, self._columns, self._torch = ((3, 3, 16), (3, 4, 22), (4, 4, 30))[difficulty - 1]
        self.action_space = spaces.Discrete(len(HEADINGS))
        self.observation_space = spaces.Dict(
            {
                "room": spaces.MultiDiscrete([self._rows, self._columns]),
                # for each heading: open rooms, steps to the key, steps to the gate
                "view": spaces.Box(-1, FARTHEST, shape=(len(HEADINGS), 3), dtype=np.int64),
                "has_key": spaces.Discrete(2),
                "torch": spaces.Discrete(self._torch + 1),
            }
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._left = -1
        while self._left < 0:  # until the maze can be explored by the light of one torch
            self._build()
            self._enter()
            while not self._is_out():
                self._go(self.expert_action())
        self._enter()
        return self._observe(), {}

    def step(self, action):
        self._go(action)
        out = self._is_out()
        return self._observe(), float(out), out or self._left == 0, False, {"is_success": out}

    def render(self):
        row, column = self._room
        said = f"You are in row {row + 1} of {self._rows}, column {column + 1} of {self._columns}"
        said += ", at the gate. " if self._room == self._gate else ". "
        for name, (count, *steps) in zip(HEADINGS, self._view()):
            seen = [f", the {thing} {n} ahead" for thing, n in zip(("key", "gate"), steps) if n > 0]
            said += f"{name}: {count or 'none'} open{''.join(seen)}. "
        return f"{said}You {'do not have' if self._key else 'have'} the key. Torch: {self._left}."

    def hint(self):
        key, gate = (f"row {row + 1}, column {column + 1}" for row, column in (self._hidden, self._gate))
        return f"The key was hidden in {key}; the gate is in {gate}. Remember which corridors you have tried."

    def expert_action(self):
        wanted = self._key or self._gate
        return self._way({wanted} if wanted in self._seen else self._seen - self._entered)

    def _build(self):
        """Draw a maze without loops, and the rooms of the start, the key and the gate."""
        rooms = [(row, column) for row in range(self._rows) for column in range(self._columns)]
        self._start, self._hidden, self._gate = (rooms[n] for n in self.np_random.permutation(len(rooms))[:3])
        self._doors = {self._start: {}}
        self._dig(self._start)

    def _dig(self, room):
        """Open ways to all rooms that are not reached yet, as far as they lead."""
        for heading in self.np_random.permutation(len(HEADINGS)).tolist():
            down, right = HEADINGS[self.action_names[heading]]
            row, column = beyond = (room[0] + down, room[1] + right)
            if 0 <= row < self._rows and 0 <= column < self._columns and beyond not in self._doors:
                self._doors[room][heading] = beyond
                self._doors[beyond] = {(heading + 2) % len(HEADINGS): room}
                self._dig(beyond)

    def _enter(self):
        self._room, self._key, self._left = self._start, self._hidden, self._torch
        self._entered, self._seen = {self._start}, set().union(*self._sights())

    def _go(self, heading):
        self._room = self._doors[self._room].get(heading, self._room)
        self._key = None if self._room == self._key else self._key
        self._left -= 1
        self._entered.add(self._room)
        self._seen.update(*self._sights())

    def _is_out(self):
        return not self._key and self._room == self._gate

    def _sights(self):
        """Return for each heading the rooms in the line of sight, the own one first."""
        sights = [[self._room] for _ in HEADINGS]
        for heading, rooms in enumerate(sights):
            while heading in self._doors[rooms[-1]]:
                rooms.append(self._doors[rooms[-1]][heading])
        return sights

    def _way(self, goals):
        """Return the first heading of a shortest way to one of the rooms, through rooms that were seen."""
        queue, reached = deque([(self._room, 0)]), {self._room}
        while True:
            room, first = queue.popleft()
            if room in goals:
                return first
            for heading, beyond in self._doors[room].items():
                if beyond in self._seen - reached:
                    reached.add(beyond)
                    queue.append((beyond, heading if room == self._room else first))

    def _view(self):
        things = (self._key, self._gate)
        return [[len(s) - 1, *(s.index(t) if t in s else -1 for t in things)] for s in self._sights()]

    def _observe(self):
        seen = {"room": np.array(self._room), "view": np.array(self._view())}
        return {**seen, "has_key": int(not self._key), "torch": self._left}
