"""Every word that a designer reads, in one place."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from spade_envs.errors import UsageError
from spade_train.designer.context import DesignContext, Message

SLOTS_ROLE = (
    "You design small games. Each is one line of JSON, about the given text and unlike earlier games."
)

FREE_ROLE = """\
You design environments in which a language model learns by reinforcement. You write each as one complete
Python file: a header and one Gymnasium class that obey the contract below. A good environment is easy to
check and not easy to solve: random play fails, the expert always succeeds, and the agent succeeds
sometimes, more often with the hint."""

CONTRACT = """\
# The contract
- The file begins with the header: TOML in comments between `# /// spade` and `# ///`. Its keys: `id` is
  "spade/<CamelCaseName>-v0"; `title` has at most 60 characters and `summary` at most 200; `domain` is
  games, math, science, code, planning, language or tools; `skills` are 1 to 6 lower-case tags; `origin` is
  "generated"; `generation_round` is as told below; `max_episode_steps`, 1 to 1000, is the time limit;
  `license` is an SPDX expression; `contract` is 1. Optional: `parent`, the id of an environment that it
  derives from, and `difficulty_levels`, a number N, when the constructor takes `difficulty` from 1, the
  easiest, to N.
- Exactly one class derives from gym.Env (or spade_envs.ToolEnv, below). Its docstring states the rules as
  the agent reads them, never the answer.
- Every argument of the constructor has a default; `render_mode=None` is one of them.
- Spaces: Discrete, MultiDiscrete, MultiBinary, Box, Text, and Dict or Tuple of these. Every observation
  lies in its space.
- `reset(self, *, seed=None, options=None)` calls `super().reset(seed=seed)` first and returns two
  values: the observation and `{}`.
- `step(self, action)` returns `observation, reward, terminated, truncated, info`. An action that lies in
  the space never raises. Rewards are finite, and their sum over an episode lies in [-1, 1]; every success
  returns more than every failure. A step that terminates says in `info["is_success"]` whether the goal has
  been reached; `info` holds nothing that helps to act.
- Randomness comes from `self.np_random`: `.integers(low, high)`, `.choice`, `.permutation`, `.random()`.
  The same seed and actions give the same episode.
- `render()` returns the state as text; where the observation is Text it may be missing. `action_names` may
  name the actions of a Discrete space.
- `hint()` returns at most 100 words that help in the present episode: a strategy or hidden facts, but never
  an action that the expert takes.
- `expert_action()` returns the right action for the present state and changes nothing. Followed from reset,
  it succeeds within `max_episode_steps` on every seed.
- Random play, one action repeated, another episode's actions, and the hint's text alone each succeed in at
  most a quarter of the episodes.
- A tool-use environment derives from spade_envs.ToolEnv and has no spaces and no `step`: `reset` returns the
  task as text and `{}`; each tool is a method `tool_<name>` with annotated parameters and a Google-style
  docstring; `goal_reached(answer)` checks the whole outcome when the agent calls `finish`; `expert_action()`
  returns `{"name": ..., "arguments": {...}}`, in the end with the name "finish".
- Imports: gymnasium, numpy, spade_envs, and of the standard library only pure modules such as math, random,
  re, json, string, itertools, functools, collections, dataclasses, enum. No files, clocks, eval, exec,
  async or metaclasses; no dunder attributes; of the dunder methods only the usual ones such as `__init__`
  and `__len__`."""

REQUEST = """\
Write one new environment, inspired by the document where there is one. It must differ from the examples and
from earlier environments in its rules, not only in its names. In the header write
`generation_round = {round}`. Reply with the whole file in one ```python block."""

DOCUMENT_SHARE = 0.25
"""The most of the token budget that the document may take."""


def slots(examples: Sequence[dict[str, Any]], text: str, context: DesignContext) -> list[Message]:
    """Return the chat that asks for a specification about ``text``; worked examples are earlier turns."""
    messages = [_message("system", SLOTS_ROLE)]
    for example in examples:
        messages.append(_message("user", f"Text: {example['title']}.\nA new game?"))
        messages.append(_message("assistant", json.dumps(example)))
    asked = [context.digest, f"Text: {text}" if text else "", _target(context), "A new game?"]
    return [*messages, _message("user", _joined("\n", asked))]


def free(
    examples: Sequence[str], context: DesignContext, count: Callable[[str], int], budget: int
) -> list[Message]:
    """Return the chat that asks for a whole file, within ``budget`` tokens as ``count`` counts them.

    The document is cut to its share of the budget; of the examples, those are shown that fit.

    Raises:
        UsageError: the budget does not hold the role, the contract, the digest and the request.
    """
    parents = f"Derive it from one of {', '.join(context.parents)}." if context.parents else ""
    request = _joined("\n", [_target(context), parents, REQUEST.format(round=context.round)])
    left = budget - sum(map(count, (FREE_ROLE, CONTRACT, context.digest, request)))
    if left < 0:
        raise UsageError(f"A prompt of {budget} tokens cannot hold the contract. Allow {-left} tokens more.")
    document = f"# Document\n{context.document.text}" if context.document else ""
    document = _cut(document, count, min(left, int(budget * DOCUMENT_SHARE)))
    left -= count(document)
    shown = []
    for example in (_example(source, context.round) for source in examples):
        if count(example) <= left:
            shown.append(example)
            left -= count(example)
    system = _joined("\n\n", [FREE_ROLE, CONTRACT, *shown])
    user = _joined("\n\n", [document, context.digest, request])
    return [_message("system", system), _message("user", user)]


def _example(source: str, generation_round: int) -> str:
    """Show a seed environment's header as a generated one's, so that copying its form is right."""
    seed, generated = '# origin = "seed"', f'# origin = "generated"\n# generation_round = {generation_round}'
    return f"# An example\n```python\n{source.strip().replace(seed, generated)}\n```"


def _cut(text: str, count: Callable[[str], int], limit: int) -> str:
    words = text.split(" ")
    while words and (tokens := count(" ".join(words))) > limit:
        words = words[: min(len(words) - 1, len(words) * limit // tokens)]
    return " ".join(words)


def _target(context: DesignContext) -> str:
    return f"It trains {context.target}." if context.target else ""


def _joined(separator: str, parts: Sequence[str]) -> str:
    return separator.join(part for part in parts if part)


def _message(role: str, content: str) -> Message:
    return {"role": role, "content": content}
