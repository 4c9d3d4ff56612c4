"""Who plays: each policy is a generator that yields actions and may look at its scene between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from spade_envs.admission import actions
from spade_envs.admission.evidence import Episode, Restart
from spade_envs.admission.lab import SALT
from spade_envs.admission.readings import action_from, sources
from spade_envs.admission.record import checksum
from spade_envs.admission.scene import Follow, Policy, Scene, Script
from spade_envs.isolation import InstanceInfo

LONGEST = 1000  # steps that any episode may have
ROUNDS = 3  # times that a state may look the same before a policy that goes by its looks gives up
PATIENCE = 7  # repetitions after which what has not changed is taken to stay: no usual length of a cycle
CHUNK = 16  # random actions that are drawn at once: more would be wasted on short episodes


def nothing(_: Scene) -> Iterator[Any]:
    """Only reset."""
    return iter(())


def expert(_: Scene) -> Iterator[Any]:
    """Do what the design's own reference policy does."""
    while True:
        yield Follow(LONGEST)


def uniform(scene: Scene) -> Iterator[Any]:
    """Play at random."""
    while True:
        yield Script([random_action(scene) for _ in range(CHUNK)])


def random_action(scene: Scene) -> Any:
    """Draw one action."""
    return actions.sample(scene.instance.action_space, scene.instance.tools, scene.rng)


def stepwise_expert(scene: Scene) -> Iterator[Any]:
    """Yield what the expert would do, for policies that change it before it is played."""
    while True:
        yield scene.ask("expert_action")


def spoilt(scene: Scene) -> Iterator[Any]:
    """Follow the expert with actions bent into something odd but legal; later seeds bend only half."""
    for turn, action in enumerate(stepwise_expert(scene)):
        if scene.seed >= actions.KINDS and scene.rng.random() < 0.5:
            yield action
        else:
            space, tools = scene.instance.action_space, scene.instance.tools
            yield actions.spoilt(action, space, tools, scene.rng, kind=scene.seed + turn)


def unseeded(scene: Scene) -> Iterator[Any]:
    """Play three actions at a time, with resets without a seed between."""
    scene.restarts = True
    for _ in range(4):
        yield Script([random_action(scene) for _ in range(3)])
        yield Restart.RESTART


def held(action: Any, patience: int = LONGEST) -> Policy:
    """Repeat one action, up to the time limit or until so many have left what is seen as it was."""

    def policy(scene: Scene) -> Iterator[Any]:
        before = checksum(scene.observation)
        yield Script([action] * patience)
        if checksum(scene.observation) != before:
            yield Script([action] * LONGEST)

    return policy


def changed_end(shown: Callable[[int], Episode], change: Callable[[Any, np.random.Generator], Any]) -> Policy:
    """Follow the expert and do something else at the end; play nothing where there is nothing to change.

    Args:
        shown: the expert's episode on a seed.
        change: returns another last action, or the same where it cannot.
    """

    def policy(scene: Scene) -> Iterator[Any]:
        *before, last = shown(scene.seed).actions or (None,)
        changed = change(last, scene.rng)
        if changed != last:
            yield Script([*before, changed])

    return policy


def other_numbers(action: Any, rng: np.random.Generator) -> Any:
    """Return a text with other digits, or a call of `finish` with other numbers in its answer."""
    if isinstance(action, dict):
        return finish_with(action, actions.wrong(action["arguments"], rng))
    return actions.wrong(action, rng)


def without_answer(action: Any, _: np.random.Generator) -> Any:
    """Return a call of `finish` without an answer."""
    return finish_with(action, {"answer": ""})


def finish_with(action: Any, arguments: dict[str, Any]) -> Any:
    """Return the call of `finish` with other arguments; other calls stay as they are."""
    return {**action, "arguments": arguments} if action["name"] == "finish" else action


def reading(name: str) -> Policy:
    """Play what stands in one place of the observation or the info, as long as it is an action and leads on."""

    def policy(scene: Scene) -> Iterator[Any]:
        seen: Counter[int] = Counter()
        while leads_on(seen, scene):
            found = sources(scene.observation, scene.info)
            action = action_from(found[name], scene.instance) if name in found else None
            if action is None:
                return
            yield action

    return policy


def leads_on(seen: Counter[int], scene: Scene, *also: Any) -> bool:
    """Count a state by its looks, and say whether going by them may still lead out of a circle."""
    state = checksum((scene.observation, *also))
    seen[state] += 1
    return seen[state] <= ROUNDS


def script(sequence: Sequence[Any]) -> Policy:
    """Play given actions."""
    return lambda _: iter([Script(sequence)])


def finish(answer: Any) -> dict[str, Any]:
    """Return the call that ends a tool environment's episode."""
    return {"name": "finish", "arguments": {"answer": answer}}


def held_actions(instance: InstanceInfo, experts: Sequence[Episode]) -> list[Any]:
    """Return the actions that are worth repeating: some of the space, and the expert's most frequent ones."""
    own = Counter(repr(a) for e in experts for a in e.actions)
    by_text = {repr(a): a for e in experts for a in e.actions}
    frequent = [by_text[text] for text, _ in own.most_common(3)]
    general = actions.held(instance.action_space, instance.tools, np.random.default_rng(SALT))
    return list({repr(a): a for a in [*general, *frequent]}.values())


def superset(experts: Sequence[Episode], space: spaces.Space[Any]) -> Any:
    """Return one action stuffed with the expert's final answers, or None where there are none."""
    finals = [e.actions[-1] for e in experts if e.success and e.actions]
    if isinstance(space, spaces.Text) and all(isinstance(a, str) for a in finals):
        answers = list(dict.fromkeys(finals))
        command, _, _ = answers[0].partition(" ") if answers else ("", "", "")
        if all(answer.startswith(command + " ") for answer in answers):
            answers = [command, *(answer[len(command) + 1 :] for answer in answers)]
        return squeezed(answers, space) if len(answers) > 1 else None
    given = [
        a["arguments"].get("answer") for a in finals if isinstance(a, dict) and a.get("name") == "finish"
    ]
    distinct = list(dict.fromkeys(answer for answer in given if isinstance(answer, str)))
    return finish(" ".join(distinct)) if len(distinct) > 1 else None


def squeezed(texts: Sequence[str], space: spaces.Text) -> str | None:
    """Join texts into one that the space holds, without foreign characters; None where it is too short."""
    joined = (" " if " " in space.character_set else "").join(texts)
    kept = "".join(character for character in joined if character in space.character_set)
    return kept[: space.max_length] if len(kept) >= space.min_length else None
