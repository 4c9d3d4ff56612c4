# /// spade
# id = "spade/WordSorter-v0"
# title = "Word sorter"
# summary = "Put a word into the box of its kind."
# domain = "language"
# skills = ["vocabulary", "classification"]
# origin = "seed"
# max_episode_steps = 1
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import string

import gymnasium as gym
from gymnasium import spaces

KINDS = {
    "animals": ("They live and move.", "dog horse sheep goat tiger rabbit lion monkey camel fox"),
    "foods": ("People eat them.", "bread cheese rice soup cake potato egg butter noodles salad"),
    "clothes": ("People wear them.", "shirt coat sock hat shoe glove scarf skirt jacket trousers"),
    "tools": ("People build and mend with them.", "hammer saw drill wrench axe shovel pliers chisel ladder"),
    "vehicles": ("People travel in them.", "car bus train ship bicycle truck plane boat tram taxi"),
    "colours": ("Eyes tell them apart.", "red blue green yellow purple pink brown black white grey"),
    "weather": ("It comes from the sky.", "rain snow wind hail fog storm sunshine thunder drizzle frost"),
    "furniture": ("It stands in a room.", "table chair sofa bed shelf desk wardrobe bench stool cupboard"),
}


class WordSorter(gym.Env):
    """Put each word into its box. Answer with the name of the box."""

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._boxes = (2, 4, 8)[difficulty - 1]
        self.action_space = spaces.Text(max_length=40, min_length=0, charset=string.printable)
        self.observation_space = spaces.Text(max_length=200, charset=string.printable)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        boxes = [str(kind) for kind in self.np_random.permutation(list(KINDS))[: self._boxes]]
        self._kind = str(self.np_random.choice(boxes))
        word = self.np_random.choice(KINDS[self._kind][1].split())
        return f"{word}. Boxes: {', '.join(boxes)}.", {}

    def step(self, action):
        right = action.strip(" .").lower() == self._kind
        return "Right." if right else "Wrong.", float(right), True, False, {"is_success": right}

    def hint(self):
        return f"Think of what such things have in common. {KINDS[self._kind][0]}"

    def expert_action(self):
        return self._kind
