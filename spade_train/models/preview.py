"""What the first round reads, and how long it will be: from a tokenizer and the environments, without a model."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from spade_envs import make_text, seeds_folder
from spade_train.curriculum import uniform
from spade_train.designer import SlotDesigner
from spade_train.designer.slots import templates
from spade_train.models.budget import Lengths
from spade_train.models.sketch import Sketch
from spade_train.playing.prompts import (
    TRAINING_SEEDS,
    TextEnvironment,
    agent_messages,
    worked_examples,
)
from spade_train.selfplay import SelfPlay

SAMPLED = 4
"""How many environments of the curriculum are tried for the length of an episode."""


@dataclass(frozen=True)
class Preview:
    """The first prompts and the lengths that follow.

    Attributes:
        designer: None where nobody designs.
        env_id: an environment of the curriculum.
        seed: of its episode.
        plain: the agent's prompt there.
        hinted: the same with the hint.
    """

    designer: str | None
    env_id: str
    seed: int
    plain: str
    hinted: str
    lengths: Lengths


def preview(selfplay: SelfPlay, sketch: Sketch, designer: Sketch) -> Preview:
    """Return what a run would read in its first round.

    Args:
        selfplay: as a new run begins with it.
        sketch: the agent's model.
        designer: the designer's: another one, or the same.

    Raises:
        SpadeError: an environment cannot be played on this machine.
    """
    rng = random.Random(f"{selfplay.seed}/0/0")
    chosen = uniform(selfplay.pool, min(SAMPLED, len(selfplay.pool)), rng)
    seed = rng.randrange(TRAINING_SEEDS)
    openings = [_opening(selfplay, sketch, env_id, seed) for env_id in chosen]
    prompt = _designer_prompt(selfplay, designer) if selfplay.schedule.designs else None
    first = openings[0]
    lengths = Lengths(
        design_prompt=len(designer.ids(prompt)) if prompt else 0,
        design=_design_length(selfplay, designer) if prompt else 0,
        prompt=round(fmean(len(sketch.ids(one.hinted)) for one in openings)),
        episode=round(fmean(one.episode for one in openings)),
    )
    return Preview(prompt, chosen[0], seed, first.plain, first.hinted, lengths)


@dataclass(frozen=True)
class _Opening:
    plain: str
    hinted: str
    episode: int


def _opening(selfplay: SelfPlay, sketch: Sketch, env_id: str, seed: int) -> _Opening:
    env: TextEnvironment = make_text(env_id, action_format=selfplay.config.action_format)
    try:
        examples = worked_examples(env)
        seen, _ = env.reset(seed=seed)
        chats = [agent_messages(env, examples, seen, hint) for hint in (None, env.hint())]
        plain, hinted = (sketch.chat.render(chat, env.tools) for chat in chats)
        return _Opening(plain, hinted, _expert_length(env, sketch, selfplay.limits.completion))
    finally:
        env.close()


def _expert_length(env: TextEnvironment, sketch: Sketch, most: int) -> int:
    """Tokens of the expert's episode from here: its turns and what the environment says between them."""
    length, over = 0, False
    while not over and length < most:
        action = env.expert_text()
        seen, _, terminated, truncated, _ = env.step(action)
        over = terminated or truncated
        said = action if over else action + sketch.chat.between(seen, env.tools)
        length += len(sketch.ids(said))
    return min(length, most)


def _designer_prompt(selfplay: SelfPlay, sketch: Sketch) -> str:
    workshop = selfplay.workshop
    return sketch.chat.render(workshop.designer.prompt(workshop.prepared(None, selfplay.context(0))))


def _design_length(selfplay: SelfPlay, sketch: Sketch) -> int:
    """Tokens of a design of the kind that the designer is shown, on average."""
    shown: Sequence[str]
    if isinstance(selfplay.workshop.designer, SlotDesigner):
        shown = [json.dumps(example) for one in templates().values() for example in one.examples]
    else:
        shown = [path.read_text("utf-8") for path in sorted(seeds_folder().glob("*.py"))[:8]]
    return round(fmean(len(sketch.ids(text)) for text in shown))
