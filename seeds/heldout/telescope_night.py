# /// spade
# id = "spade/TelescopeNight-v0"
# title = "Telescope night"
# summary = "Observe every star in one night, between clouds and while each stands high."
# domain = "planning"
# skills = ["scheduling", "lookahead"]
# origin = "seed"
# max_episode_steps = 16
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces

HOURS = 16


class TelescopeNight(gym.Env):
    """You point a telescope for one night, hour by hour, and must observe every star on the list.

    A star needs a number of hours in a row in which the sky is clear and it stands high. Each hour, point at one
    star or wait. Pointing elsewhere, waiting, or an hour in which the star cannot be seen loses an observation
    that is not complete. The night's clouds are known beforehand. At dawn it is over.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._stars, self._longest, self._longest_gap = ((2, 2, 4), (3, 3, 2), (4, 3, 1))[difficulty - 1]
        self.action_names = [f"star {n + 1}" for n in range(self._stars)] + ["wait"]
        self.action_space = spaces.Discrete(self._stars + 1)
        self.observation_space = spaces.Dict(
            {
                "hour": spaces.Discrete(HOURS + 1),
                "hours_missing": spaces.Box(0, 3, shape=(self._stars,), dtype=np.int32),
                "visible": spaces.Box(0, 1, shape=(self._stars, HOURS), dtype=np.int8),
            }
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._lengths = self.np_random.integers(1, self._longest + 1, size=self._stars)
        self._missing = self._lengths.astype(np.int32)
        self._hour = 0
        self._draw_night()
        return self._observe(), {}

    def step(self, action):
        kept = self._missing == 0
        if action < self._stars and not kept[action] and self._visible[action, self._hour]:
            self._missing[action] -= 1
            kept[action] = True
        self._missing[~kept] = self._lengths[~kept]
        self._hour += 1
        done = not self._missing.any()
        return self._observe(), float(done), done or self._hour == self._dawn, False, {"is_success": done}

    def render(self):
        lines = [f"It is hour {self._hour}; dawn comes at hour {self._dawn}."]
        for star, missing in enumerate(self._missing):
            hours = ", ".join(str(hour) for hour in np.flatnonzero(self._visible[star]))
            needs = f"needs {missing} more in a row" if missing else "is observed"
            lines.append(f"star {star + 1} {needs}; visible at {hours}")
        return "\n".join(lines)

    def hint(self):
        order = [str(star + 1) for star, _ in self._outlook() or ()]
        if not order:
            return "Those that are left cannot all be observed any more."
        return f"An order that works is {', '.join(order)}; begin each once it is visible for long enough."

    def expert_action(self):
        plan = self._outlook()
        return plan[0][0] if plan and plan[0][1] == self._hour else self._stars

    def _draw_night(self):
        """Draw a timetable that works, then clouds and times of rising and setting around it."""
        draw, hour = self.np_random, 0
        self._visible = np.zeros((self._stars, HOURS), dtype=np.int8)
        clear = draw.integers(2, size=HOURS, dtype=np.int8)
        for star in draw.permutation(self._stars):
            start = hour + int(draw.integers(self._longest_gap + 1))
            hour = start + int(self._lengths[star])
            clear[start:hour] = 1
            early, late = draw.integers(3, size=2)
            self._visible[star, max(0, start - early) : hour + late] = 1
        self._dawn = hour
        clear[self._dawn :] = 0
        self._visible *= clear

    def _outlook(self):
        """Return a plan from now on, a star that is begun first; None where there is none."""
        missing = {star: int(hours) for star, hours in enumerate(self._missing) if hours}
        begun = {star: hours for star, hours in missing.items() if hours < self._lengths[star]}
        return self._plan(self._hour, missing, begun or missing)

    def _plan(self, hour, missing, first):
        """Return stars with the hours at which to go on with them, or None where they do not all fit."""
        if not missing:
            return []
        for star in first:
            start = self._start(star, hour, missing[star])
            if start is not None:
                others = {other: hours for other, hours in missing.items() if other != star}
                rest = self._plan(start + missing[star], others, others)
                if rest is not None:
                    return [(star, start), *rest]
        return None

    def _start(self, star, hour, length):
        """Return the first hour from which on a star can be seen for so long."""
        starts = range(hour, self._dawn - length + 1)
        return next((start for start in starts if self._visible[star, start : start + length].all()), None)

    def _observe(self):
        missing = self._missing.copy()
        return {"hour": self._hour, "hours_missing": missing, "visible": self._visible}
