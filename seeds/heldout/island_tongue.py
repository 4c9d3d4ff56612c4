# /// spade
# id = "spade/IslandTongue-v0"
# title = "Island tongue"
# summary = "Learn an unknown language from a few sentences with their meaning, then say a new one."
# domain = "language"
# skills = ["translation", "grammar induction"]
# origin = "seed"
# max_episode_steps = 2
# difficulty_levels = 3
# license = "Apache-2.0"
# contract = 1
# ///
from dataclasses import dataclass

import gymnasium as gym
from gymnasium import spaces

NOUNS = ("goat", "sailor", "heron", "friend")
VERBS = ("saw", "followed", "called")
ADJECTIVES = ("old", "small", "quiet")
ROLES = ("who acts", "what is done", "to whom it is done")
SYLLABLES = [a + b for a in "bdgklmnprst" for b in "aeiou"]


@dataclass(frozen=True)
class Thing:
    noun: str
    adjective: str
    many: bool

    def english(self):
        return f"the {self.adjective} {self.noun}{'s' if self.many else ''}".replace("  ", " ")


@dataclass(frozen=True)
class Sentence:
    doer: Thing
    verb: str
    other: Thing

    def english(self):
        return f"{self.doer.english()} {self.verb} {self.other.english()}"

    def words(self):
        things = (self.doer, self.other)
        return {self.verb, *(thing.noun for thing in things), *(thing.adjective for thing in things)} - {""}


class IslandTongue(gym.Env):
    """You hear sentences of an island's language, each with its meaning, and must say a new one.

    The language has a word for each noun, verb and adjective, none for "the", and a fixed order of words, which
    need not be that of English. A noun may take an ending when there are several. Answer with the whole sentence in
    the language, in lower case. You have two tries; after a wrong one you learn how many of its words stand right.
    """

    metadata = {"render_modes": ["ansi"]}

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self._described, self._counted = difficulty > 1, difficulty > 2
        self._heard = 2 + 2 * difficulty
        self.action_space = spaces.Text(120, min_length=0)
        self.observation_space = spaces.Text(1500, min_length=0)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self._draw_language()
        self._asked, heard = self._draw_sentence(), []
        while not self._can_be_learnt(heard):
            heard = [*heard, self._draw_sentence()][-self._heard :]
        self._tries = 2
        told = [f"{self._say(sentence)}: {sentence.english()}." for sentence in heard]
        return "\n".join([*told, f"Say: {self._asked.english()}."]), {}

    def step(self, action):
        said, right = action.lower().strip(" .").split(), self._say(self._asked).split()
        self._tries -= 1
        if said == right:
            return "They understand you.", 1.0, True, False, {"is_success": True}
        places = sum(a == b for a, b in zip(said, right))
        told = f"They shake their heads. {places} of the {len(right)} words stand right."
        return told, 0.0, self._tries == 0, False, {"is_success": False}

    def hint(self):
        order = ", then ".join(self._order)
        side = "after" if self._adjective_last else "before"
        adjectives = f"; an adjective stands {side} its noun" if self._described else ""
        return f"The order is {order}{adjectives}. Compare sentences that share just one word, to learn which it is."

    def expert_action(self):
        return self._say(self._asked)

    def _draw_language(self):
        syllables = self.np_random.permutation(SYLLABLES).tolist()
        words = (*NOUNS, *VERBS, *ADJECTIVES)
        self._words = {word: syllables[2 * k] + syllables[2 * k + 1] for k, word in enumerate(words)}
        self._ending = syllables[-1]
        self._order = self.np_random.permutation(ROLES).tolist()
        self._adjective_last = bool(self.np_random.integers(2))

    def _draw_sentence(self):
        draw = self.np_random
        nouns = draw.choice(NOUNS, size=2, replace=False).tolist()
        adjectives = draw.choice(ADJECTIVES, size=2, replace=False).tolist() if self._described else ("", "")
        many = (draw.integers(2, size=2) == 1).tolist() if self._counted else (False, False)
        doer, other = map(Thing, nouns, adjectives, many)
        return Sentence(doer, str(draw.choice(VERBS)), other)

    def _can_be_learnt(self, heard):
        """Whether the sentences, the one asked for not among them, tell its words and the ending apart."""
        things = [thing for sentence in heard for thing in (sentence.doer, sentence.other)]
        numbers = {noun: {thing.many for thing in things if thing.noun == noun} for noun in NOUNS}
        if self._asked in heard or (self._counted and all(len(both) < 2 for both in numbers.values())):
            return False
        places = {word: [word in sentence.words() for sentence in heard] for word in self._words}
        patterns = list(places.values())
        alone = {word for word, where in places.items() if any(where) and patterns.count(where) == 1}
        return self._asked.words() <= alone

    def _say(self, sentence):
        parts = (self._name(sentence.doer), self._words[sentence.verb], self._name(sentence.other))
        by_role = dict(zip(ROLES, parts))
        return " ".join(by_role[role] for role in self._order)

    def _name(self, thing):
        noun = self._words[thing.noun] + (self._ending if thing.many else "")
        if not thing.adjective:
            return noun
        pair = (self._words[thing.adjective], noun)
        return " ".join(pair[::-1] if self._adjective_last else pair)
