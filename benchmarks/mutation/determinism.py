"""Operators by which the same seed and actions give another episode."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutation.design import Design, edited, environment, methods, parsed, prepend, variants
from mutation.operator import Operator, family
from mutation.oracles_play import episodes_differ

OPERATORS: list[Operator] = []
operator = family("determinism", OPERATORS)
_WASTE = "for _ in range({}):\n    self.np_random.random()"


def _extra_draws(design: Design, count: str, module: str = "", last: str = "") -> Iterator[Design]:
    """Draw a number of times that is not the seed's before anything else is drawn."""
    tree = design.tree()
    prepend(environment(tree), "reset", f"{_WASTE.format(count)}\n{last}")
    first = next(at for at, part in enumerate(tree.body) if isinstance(part, ast.ClassDef))
    tree.body[first:first] = parsed(module)
    yield design.with_tree(tree)


@operator(episodes_differ)
def counter_of_the_module(design: Design) -> Iterator[Design]:
    yield from _extra_draws(design, "len(PLAYED)", "PLAYED = []", "PLAYED.append(1)")
    yield from _extra_draws(design, "len(PLAYED) // 9", "PLAYED = []", "PLAYED.append(1)")
    yield from _extra_draws(design, "len(PLAYED) // 50", "PLAYED = []", "PLAYED.append(1)")


@operator(episodes_differ)
def counter_of_the_instance(design: Design) -> Iterator[Design]:
    for count in ("self._played", "int(self._played > 30)"):
        tree = design.tree()
        owner = environment(tree)
        prepend(owner, "reset", f"{_WASTE.format(count)}\nself._played += 1")
        prepend(owner, "__init__", "self._played = 0")
        yield design.with_tree(tree)


@operator(episodes_differ)
def order_of_a_set(design: Design) -> Iterator[Design]:
    yield from _extra_draws(design, "len(next(iter({'ash', 'hazel', 'cedar', 'sycamore', 'bamboo'})))")


@operator(episodes_differ)
def hash_of_a_text(design: Design) -> Iterator[Design]:
    yield from _extra_draws(design, "hash(type(self).__name__) % 7")


@operator(episodes_differ)
def generator_of_the_constructor(design: Design) -> Iterator[Design]:
    """Draw from a generator that is made once and never seeded again, one draw at a time."""

    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "self.np_random":
            yield ast.Attribute(ast.Name("self"), "_own_draw", ast.Load())

    for mutant in variants(design, change, lambda name: name != "__init__"):
        tree = mutant.tree()
        tree.body = [*parsed("import numpy as np"), *tree.body]
        prepend(environment(tree), "__init__", "self._own_draw = np.random.default_rng(7)")
        yield mutant.with_tree(tree)


@operator(episodes_differ)
def state_kept_over_resets(design: Design) -> Iterator[Design]:
    """Move an assignment of something constant from reset to the constructor."""
    reset = methods(environment(design.tree()))["reset"]
    for at, part in enumerate(reset.body):
        if (
            isinstance(part, ast.Assign)
            and "self._" in ast.unparse(part.targets[0])
            and _is_constant(part.value)
        ):
            tree = design.tree()
            own = methods(environment(tree))
            if "__init__" in own:
                own["__init__"].body.append(own["reset"].body.pop(at))
                yield design.with_tree(tree)


def _is_constant(node: ast.expr) -> bool:
    free = {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
    return free <= {"set"}


def _spending(design: Design, method: str) -> Iterator[Design]:
    """Let a method that only looks carry out a change that another one makes."""
    own = methods(environment(design.tree()))
    changes = {
        ast.unparse(node)
        for name, where in own.items()
        for node in ast.walk(where)
        if name in ("step", "_press", "_probe", "_swing", "_load") or name.startswith("tool_")
        if isinstance(node, ast.AugAssign) and isinstance(node.value, ast.Constant)
    }
    for change in [*sorted(changes), "self.np_random.random()", "KEPT.append(1)"]:
        yield from _changing(design, method, change)


def _changing(design: Design, method: str, change: str) -> Iterator[Design]:
    tree = design.tree()
    if not prepend(environment(tree), method, change):
        return
    if change.startswith("KEPT"):
        tree.body += parsed("KEPT = []")
        prepend(environment(tree), "reset", f"{_WASTE.format('len(KEPT) % 5')}")
    yield design.with_tree(tree)


@operator(episodes_differ)
def expert_action_mutates(design: Design) -> Iterator[Design]:
    yield from _spending(design, "expert_action")


@operator(episodes_differ)
def hint_mutates(design: Design) -> Iterator[Design]:
    yield from _spending(design, "hint")


@operator(episodes_differ)
def render_mutates(design: Design) -> Iterator[Design]:
    yield from _spending(design, "render")


@operator(episodes_differ)
def list_in_a_default(design: Design) -> Iterator[Design]:
    def edit(owner: ast.ClassDef) -> None:
        prepend(owner, "reset", _WASTE.format("len(self._note())"))
        owner.body += parsed("def _note(self, notes=[]):\n    notes.append(1)\n    return notes")

    yield from edited(design, edit)
