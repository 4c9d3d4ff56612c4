"""Operators that make a call raise, hang, grow, or return what its space does not hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from mutation.design import Design, around_step, edited, methods, parsed, prepended, variants
from mutation.operator import Operator, family
from mutation.oracles_play import a_call_hangs, a_value_is_foreign, memory_grows, something_raises

OPERATORS: list[Operator] = []
operator = family("runs", OPERATORS)
_SPACES = ("Discrete", "MultiDiscrete", "MultiBinary", "Box", "Text")


@operator(something_raises)
def exception_on_a_rare_action(design: Design) -> Iterator[Design]:
    if design.has_tools:
        yield from around_step(design, before="if isinstance(action, str): action = {'name': action[0]}")
        yield from around_step(
            design, before="action['arguments']['answer'] if action['name'] == 'finish' else None"
        )
    elif "action_space = spaces.Text" in design.body:
        for check in ("action[0]", "1 / len(action.split())", "int(action[-1] == ' ') or action[1]"):
            yield from around_step(design, before=check)
    else:
        number = (
            "int(np.sum(action))" if "MultiDiscrete" in design.body or "Box(-1" in design.body else "action"
        )
        if "spaces.Dict" not in design.body.partition("observation_space")[0]:
            yield from around_step(
                design,
                before=f"1 // ({number} - (self.action_space.n - 1))"
                if number == "action"
                else f"1 // {number}",
            )


@operator(something_raises)
def crash_at_a_late_step(design: Design) -> Iterator[Design]:
    for turn in {design.limit // 2, design.limit - 1, design.limit} - {0}:
        yield from around_step(design, before=f"(0,) * {turn} if self._turns < {turn} else ()[0]")


@operator(something_raises)
def crash_on_rare_seeds(design: Design) -> Iterator[Design]:
    for share in (10, 40):
        yield from prepended(design, "reset", f"1 // int(self.np_random.integers({share}))")


@operator(something_raises)
def attribute_set_too_late(design: Design) -> Iterator[Design]:
    def drop(node: ast.AST) -> Iterator[None]:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            yield None

    yield from variants(design, drop, lambda name: name in ("reset", "__init__"))


@operator(a_call_hangs)
def hang_at_a_step(design: Design) -> Iterator[Design]:
    for turn in {1, design.limit // 2, design.limit - 1} - {0}:
        yield from around_step(design, before=f"while self._turns == {turn}: pass")


@operator(a_call_hangs)
def hang_on_rare_seeds(design: Design) -> Iterator[Design]:
    yield from prepended(design, "reset", "stuck = self.np_random.random() < 0.03\nwhile stuck: pass")


@operator(memory_grows)
def memory_grows_with_each_step(design: Design) -> Iterator[Design]:
    kept = Design(design.name, design.header, f"{design.body}\n\nKEPT = []\n")
    for kilobytes in (1500, 100, 20):
        yield from around_step(kept, after=f"KEPT.append(bytearray({kilobytes << 10}))")


@operator(a_value_is_foreign)
def space_off_by_one(design: Design) -> Iterator[Design]:
    """Make each number in an observation space's declaration one less."""

    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Constant) and type(node.value) is int and node.value > 0:
            yield ast.Constant(node.value - 1)
        elif (
            isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in _SPACES and node.args
        ):
            first, last = node.args[0], node.args[min(1, len(node.args) - 1)]
            if not isinstance(last, (ast.List, ast.Constant)) and first is not None:
                less = ast.BinOp(last, ast.Sub(), ast.Constant(1))
                yield ast.Call(node.func, [less if arg is last else arg for arg in node.args], node.keywords)

    for mutant in variants(design, change, lambda name: name == "__init__"):
        lines = [line for line in ast.unparse(design.tree()).splitlines() if "observation_space" in line]
        if any(line not in mutant.body for line in lines):
            yield mutant


@operator(a_value_is_foreign)
def text_space_too_short(design: Design) -> Iterator[Design]:
    for number in ("200", "300", "2000", "4000"):
        for less in ("1", "20", "60"):
            old = f"observation_space = spaces.Text({number}"
            if old in design.body:
                yield Design(design.name, design.header, design.body.replace(old, old.replace(number, less)))


@operator(a_value_is_foreign)
def observation_of_another_kind(design: Design) -> Iterator[Design]:
    for other in ("[observation]", "str(observation) + '!'", "None", "1.5", "{'state': observation}"):
        if ("Text" not in design.body and not design.has_tools) or not other.startswith("str"):
            yield from around_step(design, after=f"observation = {other}")


@operator(a_value_is_foreign)
def observation_of_another_kind_at_the_end(design: Design) -> Iterator[Design]:
    yield from around_step(design, after="observation = None if terminated else observation")


@operator(a_value_is_foreign)
def reward_no_number(design: Design) -> Iterator[Design]:
    for other in (
        "float('nan') if terminated else reward",
        "float('inf') if reward > 0 else reward",
        "str(reward)",
    ):
        yield from around_step(design, after=f"reward = {other}")


@operator(a_value_is_foreign, something_raises)
def step_returns_four_values(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == 5:
            kept = [part for at, part in enumerate(node.value.elts) if at != 3]
            yield ast.Return(ast.Tuple(kept, ast.Load()))

    yield from variants(design, change, lambda name: name == "step")


@operator(a_value_is_foreign)
def flag_or_info_of_another_kind(design: Design) -> Iterator[Design]:
    for line in (
        "terminated = 'yes' if terminated else ''",
        "info = None",
        "terminated = int(terminated) + 1",
    ):
        yield from around_step(design, after=line)


@operator(a_value_is_foreign, something_raises)
def expert_action_outside_its_space(design: Design) -> Iterator[Design]:
    for value in ("None", "[action]" if not design.has_tools else "(action,)", "float('nan')"):
        yield from edited(design, partial(_expert_gives, value=value))


def _expert_gives(owner: ast.ClassDef, value: str) -> None:
    methods(owner)["expert_action"].name = "_written_expert"
    owner.body += parsed(f"def expert_action(self):\n    action = self._written_expert()\n    return {value}")
