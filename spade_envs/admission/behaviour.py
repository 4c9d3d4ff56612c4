"""The fixed streams of actions by which designs are compared, and episodes as an agent reads them.

A policy that looks writes down what it sees; the player that lets it act need not know.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from spade_envs.admission import actions, policies
from spade_envs.admission.evidence import Level, Transcript
from spade_envs.admission.fingerprint import LEVELS, STREAMS, Course
from spade_envs.admission.lab import Lab
from spade_envs.admission.scene import Policy, Scene
from spade_envs.contract.plain import to_json

STREAM_SEED = 5000  # seeds of the streams begin here, apart from all others that admission plays
STREAM_STEPS = 24  # steps of a stream
TOLD_STEPS = 40  # turns of a transcript
TOLD_CHARACTERS = 4000  # of one turn


def streams(lab: Lab) -> None:
    """Play the fixed streams of the first levels and keep the course of each."""
    for level in lab.evidence.levels[:LEVELS]:
        lab.evidence.courses[level] = tuple(_course(lab, level, seed) for seed in range(STREAMS))


def transcripts(lab: Lab) -> None:
    """Write down, for the easiest and the hardest level, an episode of the expert and one of random play."""
    for level in dict.fromkeys((lab.evidence.levels[0], lab.evidence.levels[-1])):
        for name, policy in (("expert told", policies.stepwise_expert), ("uniform told", _uniform)):
            lab.evidence.transcripts.append(_transcript(lab, name, policy, level))


def _course(lab: Lab, level: Level, seed: int) -> Course:
    looking = _Looking(_fixed, lambda scene: bare(scene.observation), STREAM_STEPS)
    episode = lab.play("stream", looking, level, STREAM_SEED + seed)
    end = (len(episode.actions), _rounded(episode.total), episode.terminated, episode.success)
    return Course(_nonzero(episode.trace), _nonzero((looking.all(), end)))


def _fixed(scene: Scene) -> Iterator[Any]:
    """Play at random, whatever tools are called and in whatever order they stand in the source."""
    tools = sorted(scene.instance.tools, key=_shape)
    while True:
        yield actions.sample(scene.instance.action_space, tools, scene.rng)


def _uniform(scene: Scene) -> Iterator[Any]:
    while True:
        yield policies.random_action(scene)


def _shape(tool: Mapping[str, Any]) -> str:
    """Return what a tool takes, without any name."""
    schema = tool["function"].get("parameters", {})
    return to_json([[part.get("type"), part.get("enum")] for part in schema.get("properties", {}).values()])


def _transcript(lab: Lab, name: str, policy: Policy, level: Level) -> Transcript:
    looking = _Looking(policy, _said, TOLD_STEPS)
    episode = lab.play(name, looking, level, STREAM_SEED)
    return Transcript(episode, tuple(looking.all()))


class _Looking:
    """A policy that follows another for a while and keeps what it sees before each action."""

    def __init__(self, policy: Policy, look: Callable[[Scene], Any], most: int) -> None:
        self._policy, self._look, self._most = policy, look, most
        self._seen: list[Any] = []
        self._scene: Scene | None = None

    def __call__(self, scene: Scene) -> Iterator[Any]:
        self._scene, self._seen = scene, []  # an episode that broke off is played anew
        for _, action in zip(range(self._most), self._policy(scene), strict=False):
            self._seen.append(self._look(scene))
            yield action

    def all(self) -> list[Any]:
        """Return what was seen, the last state included; to be asked once, after the episode."""
        return [*self._seen, *([self._look(self._scene)] if self._scene else [])]


def _said(scene: Scene) -> str:
    text = scene.ask("render") if scene.instance.has_render else scene.observation
    return (text if isinstance(text, str) else to_json(text))[:TOLD_CHARACTERS]


def bare(observation: Any) -> Any:
    """Return what is left of an observation when nothing has a name: its numbers, and the size of its lists."""
    match observation:
        case str():
            numbers = [_rounded(float(found)) for found in re.findall(r"\d+(?:\.\d+)?", observation)]
            return [*numbers, len(re.findall(r"[,;|\n]", observation))]
        case Mapping():
            return sorted((bare(item) for item in observation.values()), key=repr)
        case np.ndarray() | np.generic():
            return bare(observation.tolist())
        case Sequence():
            return [bare(item) for item in observation]
        case bool() | None:
            return observation
    return _rounded(float(observation))


def _rounded(number: float) -> str:
    """Return a number as text, so coarsely that the last digits of sums do not matter."""
    return f"{number:.6g}" if math.isfinite(number) else str(number)


def _nonzero(value: Any) -> int:
    """Return a checksum that is not the one that stands for nothing."""
    return zlib.crc32(repr(value).encode()) or 1
