"""Environments of the registries, by their ids: how well a model plays what it was trained on, from other seeds."""

from __future__ import annotations

from spade_envs import make_text
from spade_envs.contract.ids import with_namespace
from spade_envs.errors import UsageError
from spade_envs.registry import find
from spade_train.evaluation.suite import Item, Options, Suite
from spade_train.playing.prompts import HELD_OUT_SEED

NAME = "environments"


def environments(options: Options) -> Suite:
    """Return items of the ids that are given, in turn, at their easiest level.

    Raises:
        UsageError: none is given, or no registry has one of them.
    """
    words = [word.strip() for word in options.given.split(",") if word.strip()]
    if not words:
        raise UsageError(f"--suite {NAME}: say which, as in {NAME}=spade/LampRow-v0,spade/WordGate-v0")
    ids = [str(find(with_namespace(word))[1]) for word in words]
    items = tuple(Item(ids[n % len(ids)], HELD_OUT_SEED + n // len(ids)) for n in range(options.items))
    return Suite(
        NAME,
        items,
        lambda env_id, **arguments: make_text(env_id, action_format=options.action_format, **arguments),
        examples=2,
    )
