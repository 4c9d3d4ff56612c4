"""The hand-written environments that are never trained on and never shown to a designer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from spade_envs import Header, IsolatedEnv, Rejection, TextEnv, parse_header, seeds_folder
from spade_envs.errors import UsageError
from spade_envs.text_face import ActionFormat
from spade_train.evaluation.suite import Item, Options, Skipped, Suite
from spade_train.playing.prompts import HELD_OUT_SEED


def heldout(options: Options) -> Suite | Skipped:
    """Return items of all of them in turn, from seeds of their own; ``heldout=2`` for their second level."""
    level = 1
    if options.given:
        if not options.given.isdigit() or int(options.given) < 1:
            raise UsageError(f"heldout={options.given}: a level is a number from 1, as in heldout=2.")
        level = int(options.given)
    sources = {str(_header(path).id): path for path in sorted((seeds_folder() / "heldout").glob("*.py"))}
    if not sources:
        return Skipped("heldout", f"{seeds_folder() / 'heldout'} holds no environments")
    fit = [name for name, path in sources.items() if level <= (_header(path).difficulty_levels or 1)]
    if not fit:
        return Skipped("heldout", f"no held-out environment has a level {level}")
    items = tuple(Item(fit[n % len(fit)], HELD_OUT_SEED + n // len(fit), level) for n in range(options.items))
    return Suite(
        "heldout" if level == 1 else f"heldout={level}",
        items,
        lambda env_id, **arguments: text_of_file(sources[env_id], options.action_format, **arguments),
        examples=2,
    )


def text_of_file(path: Path, action_format: ActionFormat, **arguments: Any) -> TextEnv:
    """Open the text face of an environment that no registry holds."""
    source = path.read_text("utf-8")
    header = _header(path)
    spec = EnvSpec(
        str(header.id), _isolated, max_episode_steps=header.max_episode_steps, disable_env_checker=True
    )
    return TextEnv(gym.make(spec, source=source, **arguments), action_format)


def _isolated(**arguments: Any) -> gym.Env[Any, Any]:
    return IsolatedEnv(**arguments)


def _header(path: Path) -> Header:
    header = parse_header(path.read_text("utf-8"))
    if isinstance(header, Rejection):
        raise UsageError(f"{path} is no environment: {header.text()}")
    return header
