"""Designs and attacks that were written elsewhere, each with a label; skipped where there is no such folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from spade_envs.contract import Rejection, parse_header
from spade_envs.language import CompiledSource, compile_source, load

SHARED = Path(os.environ.get("SPADE_SHARED") or Path(__file__).resolve().parents[3] / "shared")
HONEST = sorted(SHARED.glob("designs/honest/*.py"))
MIXED = sorted(SHARED.glob("designs/mixed/*.py"))
ATTACKS = sorted(SHARED.glob("attacks/*.py"))
IDIOMS = SHARED / "attacks" / "control_idioms.py"

if not HONEST:
    pytest.skip("no folder of labelled designs (SPADE_SHARED)", allow_module_level=True)


def named(path: Path) -> str:
    return path.stem


def label(path: Path, key: str = "expect") -> str:
    lines = path.read_text().splitlines()[:6]
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(f"# {key}:")), "")


def compiled(path: Path) -> CompiledSource:
    source = path.read_text()
    done = compile_source(source)
    assert isinstance(done, CompiledSource), done.text(path.name, source)
    return done


def trajectory(env: Any, steps: int, seed: int) -> list[Any]:
    """Play the expert's actions and return all that the environment gave."""
    seen = [env.reset(seed=seed)]
    for _ in range(steps):
        seen.append(env.step(env.expert_action()))
        if seen[-1][2] or seen[-1][3]:
            break
    return seen


def same(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(np.array_equal(one, other))


@pytest.mark.parametrize("path", [*HONEST, *MIXED], ids=named)
def test_a_design_compiles_unchanged(path: Path) -> None:
    assert isinstance(load(compiled(path)).environment_class(), gymnasium.Env)


@pytest.mark.parametrize("path", HONEST, ids=named)
def test_the_expert_of_an_honest_design_succeeds(path: Path) -> None:
    made = compiled(path)
    program = load(made)
    for level in range(1, (made.header.difficulty_levels or 1) + 1):
        env = program.environment_class(**({"difficulty": level} if made.header.difficulty_levels else {}))
        for seed in (0, 1):
            program.seed(seed)
            *_, info = trajectory(env, made.header.max_episode_steps, seed)[-1]
            assert info["is_success"] is True or info["is_success"] == np.True_
            assert env.hint()


@pytest.mark.parametrize("path", HONEST, ids=named)
def test_compiled_code_plays_as_plain_python_does(path: Path) -> None:
    source = path.read_text()
    if "import random" in source or "default_rng" in source:
        pytest.skip("its generators are the instance's own here")
    names: dict[str, Any] = {"__name__": "plain_design"}
    exec(compile(source, str(path), "exec", dont_inherit=True), names)
    made = compiled(path)
    plain, ours = names[made.class_name](), load(made).environment_class()
    for seed in range(3):
        steps = made.header.max_episode_steps
        assert same(trajectory(plain, steps, seed), trajectory(ours, steps, seed))


def test_the_idioms_of_designers_compile_and_step() -> None:
    env = load(compiled(IDIOMS)).environment_class()
    observation, info = env.reset(seed=1)
    assert info == {"goal_kind": "free"}
    assert env.observation_space.contains(observation)
    for action in (0, 1, 2, 3):
        observation, reward, _, _, info = env.step(action)
        assert env.observation_space.contains(observation)
        assert isinstance(reward, float)
        assert "JSONDecodeError" in info["msg"]
    assert env.render().count("A") == 1


@pytest.mark.parametrize("path", [path for path in ATTACKS if label(path) == "rejected-static"], ids=named)
def test_an_attack_is_refused_before_anything_runs(path: Path) -> None:
    refused = compile_source(path.read_text())
    assert isinstance(refused, Rejection)
    for finding in refused.findings:
        assert finding.rule.startswith("language.")
        assert finding.line is not None or "bytes" in finding.found
        assert finding.remedy


@pytest.mark.parametrize("path", [path for path in ATTACKS if label(path) != "rejected-static"], ids=named)
def test_what_is_not_refused_statically_has_a_whole_header(path: Path) -> None:
    """These run in a worker, or are refused early where the label lets them be."""
    source = path.read_text()
    assert not isinstance(parse_header(source), Rejection)
    assert isinstance(compile_source(source), CompiledSource) or "rejected-static" in label(path, "also-ok")


PLAY = """
import resource, sys
resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
from spade_envs.language import compile_source, describe, load
program = load(compile_source(sys.stdin.read()))
try:
    env = program.environment_class()
    env.reset(seed=0)
    for _ in range(3):
        env.step(0)
    print("played")
except Exception as error:
    print(describe(error))
"""


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("esc_getattr_dynamic", "AttributeError: the attribute '__class__'"),
        ("esc_type_of_array_forged_pointer", "TypeError: ndarray is not to be called here"),
        ("esc_exception_payload", "Bomb: "),
        ("dos_bigint_str", "ValueError: Exceeds the limit"),
    ],
)
def test_an_attack_on_the_language_ends_in_an_error(name: str, outcome: str) -> None:
    source = (SHARED / "attacks" / f"{name}.py").read_text()
    done = subprocess.run(
        [sys.executable, "-c", PLAY], input=source, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.startswith(outcome), json.dumps(done.stdout)
