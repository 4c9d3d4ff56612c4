# /// spade
# id = "spade/StoryMemory-v0"
# title = "Story memory"
# summary = "Follow people and things through a story that is told once, then answer two questions about it."
# domain = "language"
# skills = ["memory", "reading comprehension", "state tracking"]
# origin = "seed"
# max_episode_steps = 12
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
from gymnasium import spaces

PEOPLE = ("Nora", "Omar", "Pia")
THINGS = ("the lantern", "the letter")
PLACES = ("mill", "harbour", "school", "bakery", "forge", "chapel", "market", "library")
LISTEN = len(PLACES)


class StoryMemory(gym.Env):
    """You hear a story, one sentence a turn, and each sentence only once. Then come two questions.

    People walk about, and they send things to each other; a thing is always where the person is who has it. Say
    "listen" to hear the next sentence. Answer a question with a place. The first wrong answer ends the episode;
    what you say before the questions does not matter.
    """

    metadata = {"render_modes": ["ansi"]}
    action_names = (*PLACES, "listen")

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._things = THINGS if difficulty > 1 else ()
        self._events = (4, 6, 8)[difficulty - 1]
        self._asks_for_earlier = difficulty == 3
        self.action_space = spaces.Discrete(len(self.action_names))
        self.observation_space = spaces.Text(200, min_length=0)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._asked = self.np_random.permutation(self._things or PEOPLE)[:2].tolist()
        self._tell()
        while any(len(self._stays[name]) < 2 for name in self._asked):
            self._tell()
        first, second = self._asked
        self._lines = [(sentence, None) for sentence in self._story]
        if self._asks_for_earlier:
            question = f"Where was {first} just before it came to where it is now?"
            self._lines.append((question, self._stays[first][-2]))
        else:
            self._lines.append((f"Where is {first} now?", self._stays[first][-1]))
        self._lines.append((f"Where is {second} now?", self._stays[second][-1]))
        self._turn = 0
        return self._lines[0][0], {}

    def step(self, action):
        _, answer = self._lines[self._turn]
        self._turn += 1
        right = answer in (None, self.action_names[action])
        won = right and self._turn == len(self._lines)
        if won or not right:
            return "Right." if won else "Wrong.", float(won), True, False, {"is_success": won}
        return self._lines[self._turn][0], 0.0, False, False, {"is_success": False}

    def hint(self):
        first, second = self._asked
        return f"You will be asked about {first} and {second}. Keep a list of the places of both, in their order."

    def expert_action(self):
        _, answer = self._lines[self._turn]
        return LISTEN if answer is None else PLACES.index(answer)

    def _tell(self):
        """Make a story up, and note the places at which each person and thing stays, in their order."""
        self._place = dict(zip(PEOPLE, self.np_random.permutation(PLACES).tolist()))
        self._owner = {thing: self._one_of(PEOPLE) for thing in self._things}
        self._stays = {name: [self._where(name)] for name in (*PEOPLE, *self._things)}
        self._story = [", ".join(f"{person} is at the {self._place[person]}" for person in PEOPLE) + "."]
        if self._things:
            self._story.append(" and ".join(f"{self._owner[thing]} has {thing}" for thing in THINGS) + ".")
        for _ in range(self._events):
            self._story.append(
                self._send() if self._things and self.np_random.random() < 0.5 else self._walk()
            )
            for name, stays in self._stays.items():
                if stays[-1] != self._where(name):
                    stays.append(self._where(name))

    def _walk(self):
        person = self._one_of(PEOPLE)
        self._place[person] = self._one_of([place for place in PLACES if place != self._place[person]])
        return f"{person} walks to the {self._place[person]}."

    def _send(self):
        thing = self._one_of(THINGS)
        sender = self._owner[thing]
        self._owner[thing] = self._one_of([person for person in PEOPLE if person != sender])
        return f"{sender} sends {thing} to {self._owner[thing]}."

    def _where(self, name):
        """A thing is where its owner is."""
        return self._place[self._owner.get(name, name)]

    def _one_of(self, options):
        return options[int(self.np_random.integers(len(options)))]
