"""A design, its report and its records, of which every text holds markup and script."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from spade_envs.records import Choice, Measured
from spade_envs.registry import Registry, keep_round
from spade_envs.registry.status import change

PAYLOADS = (
    "<script>window.pwned=1</script>",
    '"><img src="//evil.invalid/x" onerror="window.pwned=1">',
    "'><svg/onload=window.pwned=1>",
    "</textarea></pre></title><iframe src=javascript:window.pwned=1>",
    '" hx-get="//evil.invalid/" hx-trigger="load" x="',
    "{{ 7*7 }}{% raw %}<a href='javascript:window.pwned=1'>x</a>",
    "\u202egnp.exe\u200b\x07\ud800",
)
SHORT = "<img src=//e.invalid/x onerror=pwned=1>"
"""Fits into a title."""
EVERY = " ".join(PAYLOADS)
SEEN = EVERY.split("\u202e")[0].encode("unicode_escape").decode()
"""What of it a source can say."""

SOURCE = f"""# /// spade
# id = "spade/Hostile-v0"
# title = '{SHORT} bad'
# summary = '<b>bold</b> <script>window.pwned=1</script> <img src=//e.invalid/x onerror=pwned=1>'
# domain = "games"
# skills = ["markup"]
# origin = "generated"
# generation_round = 3
# max_episode_steps = 10
# license = "Apache-2.0"
# contract = 1
# ///
import gymnasium as gym
from gymnasium import spaces

MARKUP = {SEEN!r}


class Hostile(gym.Env):
    '''<script>window.pwned=1</script> <img src=//e.invalid/x onerror=pwned=1> &lt;b&gt; {{{{ 7*7 }}}}'''

    metadata = {{"render_modes": ["ansi"]}}

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.action_names = [MARKUP + "0", MARKUP + "1"]
        self.action_space = spaces.Discrete(2)
        self.observation_space = spaces.Text(2000)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return MARKUP, {{}}

    def step(self, action):
        return MARKUP, float(action), True, False, {{"is_success": bool(action)}}

    def hint(self):
        return MARKUP

    def expert_action(self):
        return 1
"""


def report(text: str = EVERY) -> dict[str, Any]:
    """Return a report whose every text is this one."""
    finding = {
        "rule": text,
        "found": text,
        "remedy": text,
        "severity": text,
        "line": 3,
        "column": None,
    }
    nearest = {"id": text, "tree": 0.5, "contained": text}
    saw = {
        text: text,
        "example": text,
        "rules": text,
        "observation space": text,
        "action space": text,
        "tools": text,
    }
    episode = {"policy": text, "level": None, "seed": 0, "actions": [text]}
    gates = [
        {"name": "form", "passed": True, "saw": saw, "findings": [finding]},
        {
            "name": "hint",
            "passed": False,
            "saw": {"example": text, "episode": episode},
            "findings": [finding],
        },
        {
            "name": "novelty",
            "passed": True,
            "saw": {"nearest": [nearest, {**nearest, "id": "spade/Hostile-v0"}]},
        },
        {"name": text, "passed": text, "saw": {text: [text, {text: text}]}, "findings": [finding, text]},
    ]
    return {
        "gates": gates,
        "scores": {text: text, "difficulty": 0.5},
        "active_pool": {"enters": False, "reasons": [text]},
        "versions": {text: text},
        "admitted_at": "2026-01-01T00:00:00+00:00",
        "run": text,
        "round": 3,
        "provenance": {"designer": text, "document": text, "sampling": {text: text}, text: [text]},
    }


def hostile(root: Path) -> Registry:
    """Return a registry of two versions of it, with hostile records."""
    registry = Registry(root)
    ids = [str(registry.add(SOURCE, report()))]
    changed = SOURCE.replace('# domain = "games"', '# parent = "spade/Hostile-v0"\n# domain = "games"')
    ids.append(str(registry.add(f"{changed}\n# {SEEN}\n", report())))
    run = EVERY.split("\u202e")[0]
    for number in range(3):
        measured = [
            Measured(one, run, number, 8, 8, 1, success=0.5, hinted_success=0.75, regret=0.1 * number)
            for one in ids
        ]
        keep_round(registry, run, number, measured=measured, choices=[Choice(ids[0], run, number, run)])
    change(ids, "quarantined", run, registry)
    registry.own_records.close()
    with closing(sqlite3.connect(root / "records.db")) as connection, connection:
        connection.execute("UPDATE skills SET skill = ?", (SHORT,))
    return registry
