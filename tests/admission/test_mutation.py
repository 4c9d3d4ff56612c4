"""The gates against mutants of the seeds, and the engine that makes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from mutation import OPERATORS, Design, Operator
from mutation.proving import Mutant, mutants, prove

from spade_envs import judge, parse_header, seeds_folder
from spade_envs.contract import Header

SEEDS = sorted(seeds_folder().glob("*.py"))
NAMES = [operator.name for operator in OPERATORS]
# One of each family that is refused: operator, seed.
REFUSED = (
    ("tool parameter undocumented", "stock_room"),
    ("crash at a late step", "spring_scale"),
    ("hash of a text", "largest_value"),
    ("expert wrong at the last level", "word_sorter"),
    ("success no bool", "largest_value"),
    ("goal always reached", "stock_room"),
    ("hint tells the action", "word_sorter"),
    ("level order reversed", "oasis_walk"),
    ("answer shown", "string_ordering"),
    ("answer in the info", "balance_beam"),
)


def made(operator: Operator, name: str) -> Iterator[Mutant]:
    return mutants(seeds_folder() / f"{name}.py", [operator])


def by_name(name: str) -> Operator:
    return next(operator for operator in OPERATORS if operator.name == name)


def test_there_are_operators_for_every_part_of_the_contract() -> None:
    assert len(OPERATORS) >= 20
    assert len(set(NAMES)) == len(NAMES)
    families = {operator.family for operator in OPERATORS}
    assert families >= {
        "form",
        "runs",
        "determinism",
        "solvable",
        "hint",
        "no short cut",
        "honest reward",
        "difficulty",
    }


@pytest.mark.parametrize("operator", OPERATORS, ids=NAMES)
def test_an_operator_names_clause_and_reasons(operator: Operator) -> None:
    assert operator.clause
    assert operator.reasons - {"review."}


def test_mutants_are_files_with_a_header_and_differ() -> None:
    found = list(mutants(seeds_folder() / "oasis_walk.py"))
    assert len({mutant.source for mutant in found}) == len(found) > 100
    assert all(mutant.source != mutant.original for mutant in found)
    headers = [parse_header(mutant.source) for mutant in found if mutant.operator.family != "form"]
    assert all(isinstance(header, Header) for header in headers)


def test_a_design_is_put_together_again_as_it_was() -> None:
    for path in SEEDS:
        design = Design.of(path.stem, path.read_text())
        assert parse_header(design.with_tree(design.tree()).source) == parse_header(path.read_text())


@pytest.mark.parametrize("name", ["largest_value", "word_sorter"])
def test_oracles_find_nothing_in_a_seed(name: str) -> None:
    source = (seeds_folder() / f"{name}.py").read_text()
    oracles = list({oracle.name: oracle for operator in OPERATORS for oracle in operator.oracles}.values())
    assert prove(source, source, oracles).found == ()


@pytest.mark.parametrize(("kind", "seed"), REFUSED)
def test_a_mutant_is_refused_for_its_own_reason(kind: str, seed: str) -> None:
    mutant = next(made(by_name(kind), seed))
    proof = prove(mutant.source, mutant.original, mutant.operator.oracles)
    assert proof.kind == "proved"
    rules = [finding.rule for gate in judge(mutant.source).gates for finding in gate.findings]
    assert any(rule.startswith(proof.reasons) for rule in rules), rules


@pytest.mark.soak
@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_oracles_find_nothing_in_any_seed(path: Path) -> None:
    oracles = list({oracle.name: oracle for operator in OPERATORS for oracle in operator.oracles}.values())
    assert prove(path.read_text(), path.read_text(), oracles).found == ()


@pytest.mark.soak
@pytest.mark.parametrize("operator", OPERATORS, ids=NAMES)
def test_an_operator_has_a_proved_mutant(operator: Operator) -> None:
    for path in SEEDS:
        for mutant in mutants(path, [operator]):
            if prove(mutant.source, mutant.original, operator.oracles).kind == "proved":
                return
    pytest.fail(f"no mutant of {operator.name} is proved to break the contract")
