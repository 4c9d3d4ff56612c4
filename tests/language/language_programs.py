"""Sources for the tests of the language, and short ways to compile and run them."""

from __future__ import annotations

import textwrap
from typing import Any

from spade_envs.contract import Finding, Rejection
from spade_envs.language.compiler import compile_program, compile_source
from spade_envs.language.program import Program

HEADER = """\
# /// spade
# id = "spade/Sample-v0"
# title = "Sample"
# summary = "A sample."
# domain = "games"
# skills = ["counting"]
# origin = "seed"
# max_episode_steps = 5
# license = "Apache-2.0"
# contract = 1
# ///
"""
ENVIRONMENT = '''

import gymnasium as gym


class Sample(gym.Env):
    """Say one."""

    def __init__(self, render_mode=None):
        self.render_mode = render_mode
        self.action_space = gym.spaces.Discrete(2)
        self.observation_space = gym.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        return 0, float(action), True, False, {"is_success": action == 1}
'''
HEADER_LINES = HEADER.count("\n")


def design(code: str) -> str:
    """Return a whole design with `code` before its environment class."""
    return HEADER + textwrap.dedent(code).strip("\n") + ENVIRONMENT


def run(code: str) -> dict[str, Any]:
    """Compile and run code as a design's module, and return its namespace."""
    return program(code).namespace


def program(code: str) -> Program:
    """Compile and run code as a design's module."""
    compiled = compile_source(design(code))
    assert not isinstance(compiled, Rejection), compiled.text("sample", design(code))
    return Program(compiled.code, compiled.class_name)


def value(expression: str) -> Any:
    """Return what an expression is worth in a design."""
    return run(f"def answer():\n    return {expression}")["answer"]()


def findings(code: str) -> list[Finding]:
    """Return what a design is refused for; lines are counted from the first of `code`."""
    compiled = compile_source(design(code))
    if not isinstance(compiled, Rejection):
        return []
    return [
        Finding(f.rule, f.found, f.remedy, f.line and f.line - HEADER_LINES, f.column)
        for f in compiled.findings
    ]


def rules(code: str) -> list[str]:
    """Return the rules that a design breaks."""
    return [finding.rule for finding in findings(code)]


def program_rules(code: str) -> list[str]:
    """Return the rules that a program which an agent wrote breaks."""
    compiled = compile_program(textwrap.dedent(code))
    return [finding.rule for finding in compiled.findings] if isinstance(compiled, Rejection) else []
