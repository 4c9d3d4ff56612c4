"""Designs to be played: honest ones, hostile ones, and a catalogue of them without a registry."""

from __future__ import annotations

from collections.abc import Callable

from small_designs import ENDLESS, design

from spade_envs.contract import EnvId
from spade_envs.web.play.game import Start

SAMPLE = design(
    module="LOG = []\n",
    init='self.action_names = ["wait", "left", "right", "up", "down", "look", "take", "drop"]',
    step="self._turn += int(action == 1 and self._secret > 3)",
    observation_space="spaces.Discrete(99)",
    reward="float(action == self._secret)",
    info='{"is_success": bool(action == self._secret)}',
)
"""Says a turn's number. The second action skips one for some seeds; the seed's own number is worth a point."""

WORDS = design(
    action_space="spaces.Text(40)",
    observation_space="spaces.Text(300)",
    observation='f"turn {self._turn}: {self._said}"',
    init='self._said = ""',
    reset='self._said = "say something"',
    step="self._said = action[::-1]",
    info='{"is_success": action == "win"}',
    expert_action='"win"',
)
FIELDS = design(
    module="SHOT = spaces.Box(0, 255, (4, 4, 3), np.uint8)\n",
    action_space='spaces.Dict({"on": spaces.MultiBinary(2), "to": spaces.Box(-1, 1, (2,), np.float32)})',
    observation_space='spaces.Dict({"at": spaces.Box(-9, 9, (2,), np.float32), "shot": SHOT})',
    observation='{"at": self._at.copy(), "shot": np.full((4, 4, 3), self._turn, np.uint8)}',
    init="self._at = np.zeros(2, np.float32)",
    reset="self._at = np.zeros(2, np.float32)",
    step="self._at = (action['to'] * action['on']).astype(np.float32)",
    expert_action='{"on": np.ones(2, np.int8), "to": np.zeros(2, np.float32)}',
)
MARKUP = "<script>alert(1)</script><img src=x onerror=alert(1)>\"'&{{7*7}}"
HOSTILE = design(
    observation_space="spaces.Text(300)",
    observation=f"{MARKUP!r}",
    init=f"self.action_names = [{MARKUP!r} + str(n) for n in range(8)]",
    hint=f"return {MARKUP!r}",
    expert_action="1",
).replace("Add up the numbers.", MARKUP.replace("\\", ""))
HANGS = design(step=f"if action == 5:\n    {ENDLESS.replace(chr(10), chr(10) + '    ')}")
KILLS = design(step="if action == 5:\n    self._all = [0] * 10**9")
RAISES = design(hint='raise ValueError("no hint")', expert='raise ValueError("no expert")')
FORGETFUL = design(hint="self._turn = 5", observation="self._turn", observation_space="spaces.Discrete(99)")
NOWHERE = design(reset='raise ValueError("no reset")')

DESIGNS = {
    "Sample": SAMPLE,
    "Words": WORDS,
    "Fields": FIELDS,
    "Hostile": HOSTILE,
    "Hangs": HANGS,
    "Kills": KILLS,
    "Raises": RAISES,
    "Forgetful": FORGETFUL,
    "Nowhere": NOWHERE,
}


def source_of(start: Start) -> str:
    """Return the design that a start names."""
    return DESIGNS[start.env_id.name]


def start(name: str, seed: int = 0) -> Start:
    """Return the beginning of a game."""
    return Start(EnvId(name, 0), None, seed)


Source = Callable[[Start], str]
