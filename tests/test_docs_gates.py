"""The reference of gates is whole: every rule that the code may find stands there, with its severity."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from spade_envs.admission.content_rules import RULES
from spade_envs.admission.gates import _FAULTS
from spade_envs.admission.judging import REVIEW, STAGES
from spade_envs.admission.severity import severity_of
from spade_envs.admission.short_cut_gate import _SHORT_CUTS
from spade_envs.contract.header_keys import KEYS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "reference" / "gates.md").read_text()
SUBJECTS = (
    "header language form runs determinism solvable hint short-cut reward difficulty novelty content review"
    " extension reply"
)
RULE = re.compile(rf"(?:{'|'.join(SUBJECTS.split())})\.[a-z][a-z_-]*")
COMPOSED = {
    "form.": {"empty", "encoding", "size"},
    "header.": set(KEYS),
    "language.": set(),  # of refusals, whose names are found in the code
    "runs.": set(_FAULTS),
    "short-cut.": {rule for rule, *_ in _SHORT_CUTS.values()},
}
"""Beginnings of rules that are put together while the program runs, and all that may follow them."""


def trees() -> Iterator[tuple[Path, ast.AST]]:
    for path in sorted((ROOT / "spade_envs").rglob("*.py")):
        yield path, ast.parse(path.read_text())


def rules() -> set[str]:
    """Return every rule that stands in the code or is put together there."""
    found = {rule.name for rule in RULES}
    found |= {start + end for start, ends in COMPOSED.items() for end in ends}
    for path, tree in trees():
        docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                found |= {node.value} if RULE.fullmatch(node.value) else set()
            elif isinstance(node, ast.Call) and path.parent.name == "language":
                named = isinstance(node.func, ast.Name) and node.func.id == "Refusal"
                if named and node.args and isinstance(node.args[0], ast.Constant):
                    found.add(f"language.{node.args[0].value}")
    return found


def told() -> dict[str, str]:
    """Return what the page says: the severity of each rule."""
    rows = re.findall(r"^\| `([a-z_.-]+)` \| (refuse|warn) \|", PAGE, re.MULTILINE)
    assert len(dict(rows)) == len(rows), "a rule stands on the page twice"
    return dict(rows)


def test_every_rule_stands_on_the_page_and_no_other() -> None:
    assert sorted(rules() - told().keys()) == [], "these are missing in docs/reference/gates.md"
    assert sorted(told().keys() - rules()) == [], "these stand in docs/reference/gates.md only"


def test_the_severities_are_true() -> None:
    assert {rule: severity_of(rule) for rule in told()} == told()


def test_no_rule_is_put_together_that_is_not_known_here() -> None:
    for path, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr) and isinstance(node.values[0], ast.Constant):
                start = node.values[0].value
                if isinstance(start, str) and start.removesuffix(".") in SUBJECTS.split():
                    assert start in COMPOSED or not start.endswith("."), f"{path}: {start}"


def test_the_gates_stand_in_their_order() -> None:
    found = re.findall(r"^## Gate (?:\d+|last): (.+)$", PAGE, re.MULTILINE)
    assert found == [name for name, *_ in (*STAGES, REVIEW)]
