# /// spade
# id = "spade/RewriteProof-v0"
# title = "Rewrite proof"
# summary = "Prove two words equal by replacing parts of one, rule by rule, until it reads like the other."
# domain = "math"
# skills = ["proof search", "algebra", "planning"]
# origin = "seed"
# max_episode_steps = 5
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
from gymnasium import spaces

RULES = 3
SIDES = [a + b for a in "abc" for b in ("", *"abc")]  # a side of a rule is one letter or two


class RewriteProof(gym.Env):
    """In a small algebra of words over a, b and c, some short words count as equal.

    Prove that one word equals another. Each turn, name a rule and a place: the rule's left side, found in the word
    at that place (0 is the first letter), is replaced by its right side. A rule whose left side does not stand
    there, or that would make the word too long, changes nothing but costs the turn.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._longest = (4, 5, 5)[difficulty - 1]
        self._needed = difficulty
        self.action_space = spaces.Tuple([spaces.Discrete(2 * RULES), spaces.Discrete(self._longest)])
        self.observation_space = spaces.Text(400, min_length=0)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        starts = []
        while not starts:
            self._draw_algebra()
            starts = [word for word, distance in self._distances.items() if distance == self._needed]
        self._word = str(self.np_random.choice(starts))
        self._left = self._needed + 2
        return self._observe("Prove it."), {}

    def step(self, action):
        after = self._steps(self._word).get(action)
        said = f"{self._word} = {after}." if after else "That rule does not fit there."
        self._word = after or self._word
        self._left -= 1
        proved = self._word == self._goal
        return self._observe(said), float(proved), proved or self._left == 0, False, {"is_success": proved}

    def hint(self):
        way, word = [], self._word
        while self._distances.get(word, 0) > 1:
            word = self._steps(word)[self._nearer(word)]
            way.append(word)
        return f"A proof may pass through {' and then '.join(way) or 'no further word'}."

    def expert_action(self):
        return self._nearer(self._word)

    def _draw_algebra(self):
        """Draw the rules, each in both directions, and a goal; measure which words can be how far from it."""
        pairs = [self.np_random.choice(SIDES, size=2, replace=False).tolist() for _ in range(RULES)]
        self._rules = [rule for left, right in pairs for rule in ((left, right), (right, left))]
        self._goal = "".join(self.np_random.choice([*"abc"], size=self._longest - 1).tolist())
        self._distances, last = {self._goal: 0}, [self._goal]
        for distance in range(1, self._needed + 2):  # from farther away, no proof fits into the turns
            reached = {after for word in last for after in self._steps(word).values()}
            last = sorted(reached - self._distances.keys())
            self._distances.update(dict.fromkeys(last, distance))

    def _steps(self, word):
        """Return what each possible step makes of a word."""
        return {
            (rule, place): word[:place] + right + word[place + len(left) :]
            for rule, (left, right) in enumerate(self._rules)
            if len(word) + len(right) - len(left) <= self._longest
            for place in range(len(word))
            if word.startswith(left, place)
        }

    def _nearer(self, word):
        """Return a step that brings a word nearer to the goal, or the first step of all where none does."""
        wanted = self._distances.get(word, 0) - 1
        steps = self._steps(word).items()
        return next((step for step, after in steps if self._distances.get(after) == wanted), (0, 0))

    def _observe(self, said):
        rules = "; ".join(f"{number}: {left} -> {right}" for number, (left, right) in enumerate(self._rules))
        limits = f"Longest word: {self._longest} letters. Turns left: {self._left}."
        return f"{said}\nRules: {rules}\nShow that {self._word} = {self._goal}. {limits}"
