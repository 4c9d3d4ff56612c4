"""The operators of mutation testing, on all code of a design: whatever an oracle can prove is meant."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutation import oracles_play, oracles_reward, oracles_task
from mutation.design import Design, variants
from mutation.operator import Operator, family
from mutation.solvable import opposites

OPERATORS: list[Operator] = []
operator = family("classical", OPERATORS)
ALL = (
    oracles_play.something_raises,
    oracles_play.a_value_is_foreign,
    oracles_play.a_call_hangs,
    oracles_play.episodes_differ,
    oracles_play.the_expert_fails,
    oracles_reward.a_return_is_too_large,
    oracles_reward.failure_pays,
    oracles_reward.success_is_not_stated,
    oracles_reward.success_goes_on,
    oracles_task.the_hint_tells,
    oracles_task.the_hint_is_no_hint,
    oracles_task.a_short_cut_wins,
    oracles_task.a_higher_level_is_easier,
    oracles_task.success_is_judged_otherwise,
)
_SWAPS = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
}
_NAMES = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "sorted": "list",
    "sum": "max",
    "append": "extend",
}


@operator(*ALL)
def number_off_by_one(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and node.value is not True:
            yield from (ast.Constant(node.value + by) for by in (1, -1))

    yield from variants(design, change)


@operator(*ALL)
def comparison_negated(design: Design) -> Iterator[Design]:
    yield from variants(design, opposites)


@operator(*ALL)
def limit_of_a_comparison_moved(design: Design) -> Iterator[Design]:
    moved = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}

    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Compare) and type(node.ops[0]) in moved:
            yield ast.Compare(node.left, [moved[type(node.ops[0])](), *node.ops[1:]], node.comparators)

    yield from variants(design, change)


@operator(*ALL)
def and_or_swapped(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.BoolOp):
            yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node.operand

    yield from variants(design, change)


@operator(*ALL)
def arithmetic_swapped(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.BinOp) and type(node.op) in _SWAPS:
            yield ast.BinOp(node.left, _SWAPS[type(node.op)](), node.right)
        elif isinstance(node, ast.AugAssign) and type(node.op) in _SWAPS:
            yield ast.AugAssign(node.target, _SWAPS[type(node.op)](), node.value)

    yield from variants(design, change)


@operator(*ALL)
def function_swapped(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Name) and node.id in _NAMES:
            yield ast.Name(_NAMES[node.id], node.ctx)

    yield from variants(design, change)


@operator(*ALL)
def statement_deleted(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[None]:
        plain = isinstance(node, (ast.AugAssign, ast.Delete, ast.Expr)) and not _is_text(node)
        kept = isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Attribute, ast.Subscript))
        if plain or kept:
            yield None

    yield from variants(design, change)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


@operator(*ALL)
def branch_taken_always_or_never(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.If):
            yield from (ast.If(ast.Constant(value), node.body, node.orelse) for value in (True, False))

    yield from variants(design, change)
