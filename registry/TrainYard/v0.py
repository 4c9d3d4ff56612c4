# /// spade
# id = "spade/TrainYard-v0"
# title = "Train yard"
# summary = "Sort wagons into departure order by way of short sidings that keep their order."
# domain = "planning"
# skills = ["planning", "ordering", "look-ahead"]
# origin = "seed"
# max_episode_steps = 20
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces

ROOM = 3  # wagons that a siding holds


class TrainYard(gym.Env):
    """Numbered wagons arrive in a line, in disorder. They must depart as 1, 2, 3 and so on.

    Each turn, push the first wagon of the line into a siding ("into A"), or let the wagon that has stood longest
    in a siding depart ("from A"). A siding is open at both ends: wagons leave it in the order in which they came.
    It holds three. A wagon that departs before its turn spoils the train. A move that is not possible only costs
    a turn, and you have two turns to spare.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._wagons, self._tracks = ((5, 2), (7, 3), (9, 4))[difficulty - 1]
        self._letters = "ABCD"[: self._tracks]
        self.action_names = [f"{way} {letter}" for way in ("into", "from") for letter in self._letters]
        self.action_space = spaces.Discrete(2 * self._tracks)
        places = self._wagons + ROOM * self._tracks  # the line, then the sidings; 0 stands for an empty place
        self.observation_space = spaces.MultiDiscrete([self._wagons + 1] * places)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._line = ()
        while not self._line or not self._is_worth_sorting():
            self._line = tuple((self.np_random.permutation(self._wagons) + 1).tolist())
        self._sidings = ((),) * self._tracks
        self._departed, self._left, self._spoilt = 0, 2 * self._wagons + 2, False
        return self._observe(), {}

    def step(self, action):
        before = self._departed
        self._left -= 1
        if self._can(self._line, self._sidings, action):
            self._line, self._sidings, wagon = self._after(self._line, self._sidings, action)
            self._spoilt = wagon not in (0, self._departed + 1)
            self._departed += wagon == self._departed + 1
        done = self._departed == self._wagons
        reward = ((self._departed - before) / self._wagons + done) / 2
        over = done or self._spoilt or self._left == 0
        return self._observe(), reward, over, False, {"is_success": done}

    def render(self):
        sidings = [
            f"siding {letter}: {' '.join(map(str, siding)) or 'empty'}"
            for letter, siding in zip(self._letters, self._sidings)
        ]
        line = " ".join(map(str, self._line)) or "empty"
        said = " The train is spoilt." if self._spoilt else ""
        return (
            f"Line, first wagon first: {line}. {', '.join(sidings)}, the longest there first. "
            f"Departed: {self._departed} of {self._wagons}.{said} Turns left: {self._left}."
        )

    def hint(self):
        plan = self._plan(self._line, self._sidings) or []
        loads, line = [""] * self._tracks, list(self._line)
        for move in plan:
            if move < self._tracks:
                loads[move] += f" {line.pop(0)}"
        together = "; ".join(load.strip() for load in loads if load) or "none"
        return f"From here on, these may share a siding: {together}. What can depart at once should do so."

    def expert_action(self):
        return (self._plan(self._line, self._sidings) or [0])[0]

    def _can(self, line, sidings, move):
        siding = sidings[move % self._tracks]
        return bool(siding) if move >= self._tracks else bool(line) and len(siding) < ROOM

    def _after(self, line, sidings, move):
        """Return line and sidings after a move, and the wagon that departed, or 0."""
        track, departed = move % self._tracks, 0
        if move >= self._tracks:
            departed, *siding = sidings[track]
        else:
            siding, line = (*sidings[track], line[0]), line[1:]
        return line, (*sidings[:track], tuple(siding), *sidings[track + 1 :]), departed

    def _plan(self, line, sidings):
        """Return moves that let all wagons depart in order, or None: depth first, departures first."""
        if not line and not any(sidings):
            return []
        for move in self._sensible(line, sidings):
            rest = self._plan(*self._after(line, sidings, move)[:2])
            if rest is not None:
                return [move, *rest]
        return None

    def _sensible(self, line, sidings):
        """Return the moves worth trying: no wagon behind a later one, no two empty sidings in turn."""
        following = min((*line, *(wagon for siding in sidings for wagon in siding)))
        for track, siding in enumerate(sidings):
            if siding[:1] == (following,):
                return [self._tracks + track]
        moves = {s: track for track, s in enumerate(sidings) if self._can(line, sidings, track)}
        return [
            moves[s] for s in sorted(moves, key=lambda s: s[-1:], reverse=True) if s == () or s[-1] < line[0]
        ]

    def _is_worth_sorting(self):
        """Say whether the line can be sorted, but not with one siding less."""
        fewer, all_tracks = (((),) * count for count in (self._tracks - 1, self._tracks))
        return self._plan(self._line, fewer) is None and self._plan(self._line, all_tracks) is not None

    def _observe(self):
        rows = [(self._line, self._wagons), *((siding, ROOM) for siding in self._sidings)]
        return np.array([number for row, size in rows for number in (*row, *[0] * (size - len(row)))])
