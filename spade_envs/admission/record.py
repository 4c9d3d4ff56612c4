"""An episode in the making: what a policy plays becomes evidence."""

from __future__ import annotations

import zlib
from typing import Any

import msgspec
import numpy as np

from spade_envs.admission.evidence import Episode, Fault, Level, Restart
from spade_envs.admission.scene import Follow, Policy, Scene, Script
from spade_envs.isolation import Turn

_ENCODER = msgspec.msgpack.Encoder(enc_hook=lambda array: array.tobytes())


class Record:
    """An episode in the making."""

    def __init__(self, name: str, level: Level, seed: int, limit: int) -> None:
        self.name, self.level, self.seed, self.limit = name, level, seed, limit
        self.actions: list[Any] = []
        self.trace: list[int] = []
        self.views: list[int] = []
        self.hints: list[str] = []
        self.first: tuple[Any, dict[str, Any]] | None = None
        self.total = 0.0
        self.terminated = self.truncated = self.success = False

    def run(self, scene: Scene, policy: Policy, watch: bool, singly: bool) -> None:
        """Play until the policy, the design or the time limit ends it."""
        self._reset(scene, self.seed)
        if watch:
            self._look(scene.view())
        for move in policy(scene):
            if isinstance(move, Restart):
                self.actions.append(move)
                self._reset(scene, None)
                continue
            for turn in scene.turns(self._within_limit(move), singly=singly, watch=watch):
                self._note(scene, turn)
                if scene.over:
                    break
            if scene.over and not scene.restarts:
                break

    def _within_limit(self, move: Any) -> Any:
        """Cut a script at the time limit."""
        left = max(0, self.limit - len(self.actions))
        if isinstance(move, Script):
            return Script(move.actions[:left])
        return Follow(min(move.steps, left)) if isinstance(move, Follow) else move

    def _reset(self, scene: Scene, seed: int | None) -> None:
        scene.observation, scene.info = scene.ask("reset", seed, None)
        self.first = self.first or (scene.observation, scene.info)
        self.terminated = self.truncated = scene.over = False
        self.trace.append(checksum(scene.observation))

    def _note(self, scene: Scene, turn: Turn) -> None:
        self.actions.append(turn.action)
        scene.observation, scene.info = turn.observation, turn.info
        self.total += turn.reward
        self.terminated = turn.terminated
        self.truncated = turn.truncated or len(self.actions) >= self.limit
        scene.over = self.terminated or self.truncated
        self.success = self._success(scene, turn.info)
        seen = (turn.observation, turn.reward, turn.terminated, turn.truncated, self.success)
        self.trace.append(checksum(seen))
        if turn.view is not None and not scene.over:
            self._look(turn.view)

    def _success(self, scene: Scene, info: dict[str, Any]) -> bool:
        stated = info.get("is_success")
        if stated is None and self.terminated:
            scene.breach("reward.is-success", "a step that terminates does not state info['is_success']")
        elif stated is not None and not isinstance(stated, (bool, np.bool_)):
            scene.breach("reward.is-success", f"info['is_success'] is {stated!r}, not a bool")
        elif stated and not self.terminated:
            scene.breach("reward.goes-on", "info['is_success'] is true, but the episode goes on")
        return bool(stated)

    def _look(self, view: tuple[str | None, str]) -> None:
        self.hints.append(view[1])
        self.views.append(checksum(view))

    def episode(self, scene: Scene | None, fault: Fault | None = None) -> Episode:
        """Return what was played so far, and what stopped it, if anything did."""
        return Episode(
            policy=self.name,
            level=self.level,
            seed=self.seed,
            actions=(*self.actions, *(scene.trying if scene and fault else ())),
            total=self.total,
            terminated=self.terminated,
            truncated=self.truncated,
            success=self.success,
            breaches=tuple(dict.fromkeys(scene.breaches)) if scene else (),
            trace=tuple(self.trace),
            views=tuple(self.views),
            hints=tuple(self.hints),
            fault=fault,
            first=self.first,
        )


def checksum(value: Any) -> int:
    """Return a checksum of nested plain values and arrays."""
    return zlib.crc32(_ENCODER.encode(value))
