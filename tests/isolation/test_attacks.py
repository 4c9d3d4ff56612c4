"""Labelled attacks and honest designs, where the folder with them is at hand (SPADE_SHARED)."""

from __future__ import annotations

import glob
import os
import random
import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from processes import eventually, outcome, workers

from spade_envs.contract import Rejection
from spade_envs.envs import IsolatedEnv
from spade_envs.errors import WorkerFault
from spade_envs.isolation import Worker

SHARED = Path(os.environ.get("SPADE_SHARED") or Path(__file__).resolve().parents[3] / "shared")
ATTACKS = sorted((SHARED / "attacks").glob("*.py"))
HONEST = sorted((SHARED / "designs" / "honest").glob("*.py"))
STEPS = 300
ACCEPTABLE = {
    "rejected-static": {"refused"},
    "rejected-gate": {"contract", "raised", "harmless"},
    "contained-error": {"raised", "died", "harmless"},
    "contained-memory": {"memory"},
    "contained-timeout": {"timeout"},
    "accepted": {"harmless"},
    "compiles-and-steps": {"harmless"},
}


def play(worker: Worker, source: str) -> str:
    """Return what became of the design: refused, a fault's kind, or harmless."""
    if isinstance(worker.load(source), Rejection):
        return "refused"
    space = worker.make().action_space
    space.seed(0)
    asked = [getattr(worker, name) for name in ("render", "hint") if f"def {name}(" in source]
    over = True
    for step in range(STEPS):
        if over:
            worker.reset(0, step)
        over = worker.step(0, space.sample())[2]
        if step % 30 == 0:
            for ask in asked:
                ask(0)
    return "harmless"


@pytest.mark.skipif(not ATTACKS, reason="no folder of attacks (SPADE_SHARED)")
@pytest.mark.parametrize("path", ATTACKS, ids=lambda path: path.stem)
def test_an_attack_ends_as_its_label_says(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    expected = re.search(r"^# expect: (\S+)", source, re.M)
    others = re.search(r"^# also-ok: (.*)", source, re.M)
    assert expected
    labels = {expected[1], *(others[1].split() if others else ())}
    before = (random.getstate(), np.geterr(), str(np.random.get_state()), set(gymnasium.registry))
    worker = Worker.start()
    got = outcome(play, worker, source)
    got = got.kind if isinstance(got, WorkerFault) else got
    worker.close()
    assert got in set().union(*(ACCEPTABLE[label] for label in labels)), got
    assert glob.glob("/tmp/SANDBOX_ESCAPE*") == []
    assert before == (random.getstate(), np.geterr(), str(np.random.get_state()), set(gymnasium.registry))
    assert eventually(lambda: workers() == [])


@pytest.mark.skipif(not ATTACKS, reason="no folder of attacks (SPADE_SHARED)")
def test_after_all_attacks_the_control_still_steps() -> None:
    worker = Worker.start()
    assert play(worker, (SHARED / "attacks" / "control_base.py").read_text(encoding="utf-8")) == "harmless"
    worker.close()


@pytest.mark.skipif(not HONEST, reason="no folder of designs (SPADE_SHARED)")
@pytest.mark.parametrize("path", HONEST, ids=lambda path: path.stem)
def test_an_honest_designs_expert_succeeds(path: Path) -> None:
    environment = IsolatedEnv(path.read_text(encoding="utf-8"), on_fault="raise")
    for seed in range(3):
        environment.reset(seed=seed)
        info: dict[str, Any] = {}
        for _ in range(environment.header.max_episode_steps):
            _, _, terminated, _, info = environment.step(environment.expert_action())
            if terminated:
                break
        assert info["is_success"] is True
        assert environment.hint()
        assert environment.describe()
    environment.close()
