"""The reference of verify is whole: every rule that the code may find stands there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from spade_envs.verification.checks import CHECKS, judged

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "verify.md").read_text()
RULE = re.compile(r"(?:files|verify)\.[a-z]+(?:-[a-z]+)*")


def test_every_rule_stands_on_the_page_and_no_other() -> None:
    trees = [ast.parse(path.read_text()) for path in (ROOT / "spade_envs").rglob("*.py")]
    constants = {n.value for tree in trees for n in ast.walk(tree) if isinstance(n, ast.Constant)}
    rules = {value for value in constants if isinstance(value, str) and RULE.fullmatch(value)}
    assert rules == set(re.findall(r"^\| `([a-z.-]+)` \| (?:refuse|warn)", PAGE, re.MULTILINE))


def test_every_check_stands_on_the_page() -> None:
    (section,) = re.findall(r"^## What is looked at$(.+?)^## ", PAGE, re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\| ([a-z]+)(?: \(`--judge`\))? \| ", section, re.MULTILINE)
    assert rows == ["check", *(check.__name__ for check in CHECKS), judged.__name__]
