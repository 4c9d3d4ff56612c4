# /// spade
# id = "spade/StackMachine-v0"
# title = "Stack machine"
# summary = "Write a program for a tiny stack machine from what it should make of some numbers."
# domain = "code"
# skills = ["program synthesis", "induction", "arithmetic"]
# origin = "seed"
# max_episode_steps = 4
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import operator

import gymnasium as gym
from gymnasium import spaces

INPUTS = (1, 2, 3, 5, 10)
LARGEST = 10**9
ARITHMETIC = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
PIECES = ("{n} add", "{n} sub", "{n} swap sub", "{n} mul", "dup {n} add mul")  # {n} is drawn from 2 to 9


class StackMachine(gym.Env):
    """Write a program for a stack machine. It starts with one number on the stack and must end with one.

    A program is a line of words, carried out from left to right. A digit 0 to 9 puts that number on top; "dup" puts
    a copy of the top number on top; "swap" exchanges the two top numbers; "add", "sub" and "mul" replace the two
    top numbers by their sum, difference (the lower one minus the top one) and product. For example, "dup 3 sub mul"
    makes 10 of 5. You see what the program should make of some numbers, and have four attempts.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._pieces = difficulty
        self.action_space = spaces.Text(80, min_length=0)
        self.observation_space = spaces.Text(400, min_length=0)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._program = ""
        while not self._is_worth_asking():
            drawn = self.np_random.choice(PIECES, size=self._pieces).tolist()
            numbers = self.np_random.integers(2, 10, size=self._pieces)
            self._program = " ".join(piece.format(n=n) for piece, n in zip(drawn, numbers))
        wanted = "; ".join(f"{n} becomes {run(self._program, n)}" for n in INPUTS)
        return f"Wanted: {wanted}.", {}

    def step(self, action):
        for n in INPUTS:
            made, wanted = run(action, n), run(self._program, n)
            if made != wanted:
                said = f"{n} should become {wanted}, but your program gives {made}."
                return said, 0.0, False, False, {"is_success": False}
        return "The program does what is wanted.", 1.0, True, False, {"is_success": True}

    def hint(self):
        words = self._program.split()
        squares = words.count("dup")
        return (
            f"{len(words)} words are enough, and {squares or 'none'} of them a dup. Look at how the results grow when"
            " the number grows by one."
        )

    def expert_action(self):
        return self._program

    def _is_worth_asking(self):
        """Whether the program's results are moderate, and neither all alike nor the inputs themselves."""
        results = [run(self._program, n) for n in INPUTS]
        small = all(isinstance(result, int) and abs(result) < 10**5 for result in results)
        return small and len(set(results)) > 1 and results != list(INPUTS)


def run(program, number):
    """Return what a program makes of a number, or in words why it makes nothing of it."""
    stack = [number]
    for word in program.split():
        needed = {"dup": 1, "swap": 2, "add": 2, "sub": 2, "mul": 2}.get(word, 0)
        if len(stack) < needed:
            return f"nothing, since {word} finds too few numbers"
        if word in ARITHMETIC:
            top, below = stack.pop(), stack.pop()
            stack.append(ARITHMETIC[word](below, top))
        elif word == "dup":
            stack.append(stack[-1])
        elif word == "swap":
            stack[-2:] = stack[:-3:-1]
        elif word in tuple("0123456789"):
            stack.append(int(word))
        else:
            return "nothing, since it has a word that the machine does not know"
        if abs(stack[-1]) > LARGEST:
            return "nothing, since a number grows too large"
    return stack[0] if len(stack) == 1 else f"{len(stack)} numbers instead of one"
