# /// spade
# id = "spade/PatchDesk-v0"
# title = "Patch desk"
# summary = "Repair a small Python function until its unit tests pass."
# domain = "code"
# skills = ["debugging", "programming"]
# origin = "seed"
# max_episode_steps = 4
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
from gymnasium import spaces

from spade_envs import run_program

# Each task: what the function does, the repaired body, the broken body. {a} and {b} are drawn for each episode.
EASY = (
    ("Return {a} times x, plus {b}.", "return {a} * x + {b}", "return {a} * x - {b}"),
    ("Return the remainder of x plus {b}, divided by {a}.", "return (x + {b}) % {a}", "return x + {b} % {a}"),
    ("Return whether x is greater than {b}.", "return x > {b}", "return x >= {a} + {b}"),
)
MEDIUM = (
    ("Return the sum of the multiples of {a} from {a} to x.",
     "return sum(range({a}, x + 1, {a}))", "return sum(range({a}, x, {a}))"),
    ("Return x, but at least {a} and at most {a} + {b}.",
     "return min({a} + {b}, max({a}, x))", "return max({a} + {b}, min({a}, x))"),
    ("Return how many of the numbers 1 to x have the remainder 1 when divided by {a}.",
     "return sum(n % {a} == 1 for n in range(1, x + 1))", "return sum(n % {a} for n in range(1, x))"),
)  # fmt: skip
HARD = (
    ("Return how often x can be halved (rounding down) until it is less than {a}, plus {b}.",
     "count = {b}\n    while x >= {a}:\n        x //= 2\n        count += 1\n    return count",
     "count = 0\n    while x > {a}:\n        x //= 2\n        count += {b}\n    return count"),
    ("Return the digits of x in base {a} + 1, added up, plus {b}.",
     "total = {b}\n    while x:\n        total += x % ({a} + 1)\n        x //= {a} + 1\n    return total",
     "total = {b}\n    while x > {a}:\n        total += x % {a}\n        x //= {a} + 1\n    return total"),
)  # fmt: skip
INPUTS = (0, 1, 3, 8, 14, 21, 55, 89)
# The first line ends the agent's text: a decorator there must not be one of what follows.
EVERY = """
pass
def every(inputs):
    return [f(x) for x in inputs]
"""


class PatchDesk(gym.Env):
    """A Python function f(x) is broken. Write the whole function anew, so that it does what it says.

    Answer with Python source that defines f. After each attempt you see one test that fails. x is a whole number,
    not negative.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._tasks = (EASY, MEDIUM, HARD)[difficulty - 1]
        self.action_space = spaces.Text(2000, min_length=0)
        self.observation_space = spaces.Text(4000, min_length=0)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        task = self._tasks[int(self.np_random.integers(len(self._tasks)))]
        a, b = (int(n) for n in self.np_random.integers((3, 2), (12, 30)))
        about, right, wrong = (text.replace("{a}", str(a)).replace("{b}", str(b)) for text in task)
        self._repaired = f"def f(x):\n    {right}"
        self._expected = self._run(self._repaired)["result"]
        return f"{about}\n\ndef f(x):\n    {wrong}", {}

    def step(self, action):
        given = self._run(action)
        if "error" in given:
            return f"It could not be run: {given['error']}"[:4000], 0.0, False, False, {"is_success": False}
        for x, right, result in zip(INPUTS, self._expected, given["result"], strict=True):
            if result != right:
                said = f"f({x}) should be {right!r}, but gave {result!r}."
                return said[:4000], 0.0, False, False, {"is_success": False}
        return "All tests pass.", 1.0, True, False, {"is_success": True}

    def hint(self):
        return "Work out the failing test by hand and look where the function leaves its description."

    def expert_action(self):
        return self._repaired

    def _run(self, source):
        return run_program(f"{source}\n{EVERY}", "every", [list(INPUTS)])
