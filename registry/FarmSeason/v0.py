# /// spade
# id = "spade/FarmSeason-v0"
# title = "Farm season"
# summary = "Sow, water and sell over a season of known prices and rain to earn what the year needs."
# domain = "planning"
# skills = ["resource management", "scheduling", "optimisation"]
# origin = "seed"
# max_episode_steps = 16
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
import numpy as np
from gymnasium import spaces

# crop: price of the seed, nights of growth, lowest and highest price of the harvest
CROPS = {"radish": (2, 1, 5, 10), "bean": (4, 2, 9, 20), "squash": (6, 3, 14, 32), "melon": (9, 4, 18, 46)}
REST, WATER, SELL, SOW = range(4)  # to sow the n-th crop is SOW + n
FALLOW = -1
PURSE = 20  # coins at the beginning
SHARE = 0.95  # of the greatest possible gain is needed


class FarmSeason(gym.Env):
    """You have one field and some coins. Own as many coins as the year needs before the season ends.

    Each day you do one chore: rest, water the field (1 coin), sell what is ripe at today's price, or sow a crop
    on the empty field (the price of its seed). A crop grows by one night's growth after a day on which you
    watered it or on which it rained, also on the day of sowing, until it is ripe; then it keeps. Seed prices and
    nights of growth: radish 2 and 1, bean 4 and 2, squash 6 and 3, melon 9 and 4. The almanac tells the prices
    and the rain of all days to come. A chore that cannot be done is a day of rest.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._days, self._crops = ((10, 2), (13, 3), (16, 4))[difficulty - 1]
        self._names = list(CROPS)[: self._crops]
        self.action_names = ["rest", "water", "sell", *(f"sow {name}" for name in self._names)]
        self.action_space = spaces.Discrete(len(self.action_names))
        self.observation_space = spaces.Dict(
            {
                "days": spaces.Box(0, self._days, shape=(1,), dtype=np.int64),
                "coins": spaces.Box(0, 500, shape=(1,), dtype=np.int64),
                "needed": spaces.Box(0, 500, shape=(1,), dtype=np.int64),
                "crop": spaces.Discrete(self._crops + 1),  # 0 where the field is empty
                "nights_to_go": spaces.Box(0, 4, shape=(1,), dtype=np.int64),
                "rain": spaces.MultiBinary(self._days),  # from today on, then zeros
                "prices": spaces.Box(0, 50, shape=(self._crops, self._days), dtype=np.int64),
            }
        )

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._rain = (self.np_random.random(self._days) < 0.35).tolist()
        spans = [CROPS[name][2:] for name in self._names]
        self._prices = [self.np_random.integers(*span, size=self._days).tolist() for span in spans]
        self._day, self._coins, self._crop, self._to_go = 0, PURSE, FALLOW, 0
        self._plans = {}
        self._needed = PURSE + int(SHARE * self._plan(0, FALLOW, 0)[0])
        return self._observe(), {}

    def step(self, action):
        before = self._progress()
        chores = self._chores(self._day, self._crop, self._to_go)
        gain, crop, to_go = chores.get(action, chores[REST])
        if self._coins + gain < 0:
            gain, crop, to_go = chores[REST]
        self._coins, self._crop, self._to_go = self._coins + gain, crop, to_go
        self._day += 1
        earned = self._coins >= self._needed
        reward = (self._progress() - before + earned) / 2
        return self._observe(), reward, earned or self._day == self._days, False, {"is_success": earned}

    def render(self):
        field = "is empty"
        if self._crop != FALLOW:
            nights = f"needs {self._to_go} more night(s) of growth" if self._to_go else "is ripe"
            field = f"bears {self._names[self._crop]}, which {nights}"
        lines = [f"You own {self._coins} coins and need {self._needed}. The field {field}."]
        for day in range(self._day, self._days):
            prices = ", ".join(f"{name} {prices[day]}" for name, prices in zip(self._names, self._prices))
            when = "Today" if day == self._day else f"In {day - self._day} day(s)"
            lines.append(f"{when}{' (rain)' if self._rain[day] else ''}: {prices}.")
        return "\n".join(lines)

    def hint(self):
        sown, state = [], (self._day, self._crop, self._to_go)
        while state[0] < self._days:
            chore = self._plan(*state)[1]
            sown += [self._names[chore - SOW]] if chore >= SOW else []
            state = (state[0] + 1, *self._chores(*state)[chore][1:])
        return f"Crops still to be grown in the best plan, in order: {', '.join(sown) or 'none'}. Let rain save coins."

    def expert_action(self):
        return self._plan(self._day, self._crop, self._to_go)[1]

    def _chores(self, day, crop, to_go):
        """Return what each possible chore brings: coins, and the crop and the nights it needs next morning."""
        rained = self._rain[day]
        chores = {REST: (0, crop, max(0, to_go - rained))}
        if crop == FALLOW:
            for number, name in enumerate(self._names):
                seed, nights = CROPS[name][:2]
                chores[SOW + number] = (-seed, number, nights - rained)
        elif to_go:
            chores[WATER] = (-1, crop, to_go - 1)
        else:
            chores[SELL] = (self._prices[crop][day], FALLOW, 0)
        return chores

    def _plan(self, day, crop, to_go):
        """Return the most coins that can be gained from here to the end, and the chore to begin with."""
        if day == self._days:
            return 0, REST
        state = (day, crop, to_go)
        if state not in self._plans:
            chores = self._chores(*state).items()
            self._plans[state] = max(
                (gain + self._plan(day + 1, *after)[0], chore) for chore, (gain, *after) in chores
            )
        return self._plans[state]

    def _progress(self):
        return min(1.0, max(0.0, (self._coins - PURSE) / (self._needed - PURSE)))

    def _observe(self):
        left = self._days - self._day
        rain, *prices = [[*row[self._day :], *[0] * self._day] for row in (self._rain, *self._prices)]
        numbers = {"days": left, "coins": self._coins, "needed": self._needed, "nights_to_go": self._to_go}
        observed = {name: np.array([number]) for name, number in numbers.items()}
        return {
            **observed,
            "crop": self._crop + 1,
            "rain": np.array(rain, dtype=np.int8),
            "prices": np.array(prices),
        }
