"""Who plays by the hint alone: its words, what it names, the numbers in it."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.admission.policies import finish, leads_on, squeezed
from spade_envs.admission.scene import Policy, Scene, Script


def hint_text(scene: Scene) -> Iterator[Any]:
    """Play what the first hint says, word for word, three times over."""
    hint = scene.ask("hint")
    if scene.instance.tools:
        plan: Sequence[Any] = [finish(hint)]
    elif isinstance(scene.instance.action_space, spaces.Text):
        said = squeezed([hint], scene.instance.action_space)
        plan = [] if said is None else [said]
    else:
        plan = named_actions(hint, scene)
    yield Script([*plan] * 3)


def hints_followed(scene: Scene) -> Iterator[Any]:
    """Do, at each step, the first thing that the hint of that state names, until that leads in a circle."""
    seen: Counter[int] = Counter()
    while leads_on(seen, scene, said := scene.ask("hint")):
        named = named_actions(said, scene)
        if not named:
            return
        yield named[0]


def hint_words(known: Collection[str]) -> Policy:
    """Play, one at a time, the texts that the first hint names of those that are known to be actions."""

    def policy(scene: Scene) -> Iterator[Any]:
        yield Script(_mentioned(scene.ask("hint"), known))

    return policy


def named_actions(hint: str, scene: Scene) -> list[Any]:
    """Return the numbered actions that a text names, or the vectors that its numbers make, in their order."""
    space, names = scene.instance.action_space, list(scene.instance.action_names or ())
    if isinstance(space, spaces.Discrete):
        by_name = {name.lower(): k + int(space.start) for k, name in enumerate(names)}
        found = _mentioned(hint.lower(), by_name, numbers=True)
        named: list[Any] = [by_name[word] if word in by_name else int(word) for word in found]
    elif isinstance(space, (spaces.MultiDiscrete, spaces.MultiBinary, spaces.Box)):
        numbers = [float(found) for found in re.findall(r"-?\d+(?:\.\d+)?", hint)]
        width = math.prod(space.shape)
        rows = (numbers[at : at + width] for at in range(0, len(numbers) - width + 1, max(1, width)))
        with np.errstate(all="ignore"):
            named = [np.array(row).reshape(space.shape).astype(space.dtype) for row in rows]
    else:
        return []
    return [action for action in named if space.contains(action)]


def _mentioned(text: str, known: Collection[str], *, numbers: bool = False) -> list[str]:
    """Return the known texts that stand in a text, in their order, and the whole numbers where they are wanted."""
    words = [re.escape(name) for name in sorted(known, key=len, reverse=True) if name]
    either = "|".join([*words, *(["[0-9]+"] if numbers else [])])
    return re.findall(rf"(?<!\w)(?:{either})(?!\w)", text) if either else []
