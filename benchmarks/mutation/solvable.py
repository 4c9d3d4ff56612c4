"""Operators after which the expert no longer succeeds on every seed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutation.design import Design, edited, environment, methods, parsed, prepend, variants
from mutation.operator import Operator, family
from mutation.oracles_play import a_value_is_foreign, something_raises, the_expert_fails

OPERATORS: list[Operator] = []
operator = family("solvable", OPERATORS)
_ASTRAY = (something_raises, a_value_is_foreign)  # where it leads may be a state that nothing was written for


def _wrapped(design: Design, body: str, *, made: str = "", reset: str = "") -> Iterator[Design]:
    """Let the expert's action pass through other code, where it is called ``action``."""

    def edit(owner: ast.ClassDef) -> bool:
        if made and "__init__" not in methods(owner):
            return False
        methods(owner)["expert_action"].name = "_written_expert"
        prepend(owner, "__init__", made)
        prepend(owner, "reset", reset)
        owner.body += parsed(
            f"def expert_action(self):\n    action = self._written_expert()\n    {body}\n    return action"
        )
        return True

    return edited(design, edit)


def _other(design: Design) -> list[str]:
    """Return expressions of actions that are legal and seldom right."""
    if design.has_tools:
        return ["{'name': 'finish', 'arguments': {'answer': ''}}"]
    if "action_space = spaces.Text" in design.body:
        return ["'0'", "action[:-1]", "action + '1'"]
    if "action_space = spaces.Discrete" in design.body:
        return ["0", "(action + 1) % self.action_space.n"]
    return []


@operator(the_expert_fails)
def expert_off(design: Design) -> Iterator[Design]:
    for other in _other(design):
        yield from _wrapped(design, f"action = {other}")


@operator(the_expert_fails)
def expert_wrong_at_the_last_level(design: Design) -> Iterator[Design]:
    for other in _other(design):
        yield from _wrapped(
            design,
            f"action = {other} if self._made_for == {design.level_count} else action",
            made="self._made_for = difficulty",
        )


@operator(the_expert_fails)
def expert_wrong_on_rare_seeds(design: Design) -> Iterator[Design]:
    for other in _other(design):
        for share in (0.2, 0.06, 0.02):
            yield from _wrapped(
                design,
                f"action = {other} if self._odd else action",
                reset=f"self._odd = self.np_random.random() < {share}",
            )


@operator(the_expert_fails, *_ASTRAY)
def expert_off_by_one(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            yield from (ast.Constant(node.value + by) for by in (1, -1))

    yield from variants(design, change, lambda name: name == "expert_action")


_OPPOSITE = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.GtE, ast.GtE: ast.Lt, ast.Gt: ast.LtE, ast.LtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


def opposites(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a comparison's opposite."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield ast.Compare(node.left, [_OPPOSITE[type(node.ops[0])]()], node.comparators)


@operator(the_expert_fails, *_ASTRAY)
def expert_compares_the_other_way(design: Design) -> Iterator[Design]:
    yield from variants(design, opposites, lambda name: name == "expert_action")


def goal_places(design: Design) -> set[str]:
    """Return the methods in which success is judged."""
    return {"goal_reached"} if "goal_reached" in methods(environment(design.tree())) else {"step", "_predict"}


@operator(the_expert_fails, *_ASTRAY)
def goal_negated(design: Design) -> Iterator[Design]:
    yield from variants(design, opposites, lambda name: name in goal_places(design))


@operator(the_expert_fails)
def goal_never_reached(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            yield ast.BoolOp(ast.And(), [node, ast.Constant(False)])

    yield from variants(design, change, lambda name: name in goal_places(design))


@operator(the_expert_fails)
def action_has_no_effect_at_times(design: Design) -> Iterator[Design]:
    """Lose one action in a while: what follows it goes astray."""
    tree = design.tree()
    owner = environment(tree)
    for name, method in methods(owner).items():
        if name.startswith("tool_") or name in ("_press", "_load", "_swing", "_probe"):
            body = method.body[:]
            start = 1 if ast.get_docstring(method) else 0
            method.body[start:start] = parsed(
                "if self.np_random.random() < 0.2:\n    return 'Nothing happens.'"
            )
            yield design.with_tree(tree)
            method.body = body
