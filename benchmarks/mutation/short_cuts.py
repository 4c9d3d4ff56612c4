"""Operators that let a policy win which ignores the task, or that show the answer."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from mutation import oracles_task as proofs
from mutation.design import Design, around_step, edited, environment, methods, parsed, prepended, variants
from mutation.operator import Operator, family
from mutation.oracles_reward import a_return_is_too_large
from mutation.solvable import goal_places

OPERATORS: list[Operator] = []
operator = family("no short cut", OPERATORS)
hints = family("hint", OPERATORS)
_CUT = (proofs.a_short_cut_wins,)
_PAID_CUT = (proofs.a_short_cut_wins, a_return_is_too_large)  # on top of what the seed pays on the way


def _weakened(design: Design, *ways: str) -> Iterator[Design]:
    """Put something else in the place of each condition of the goal, written with ``{}`` for it."""

    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, (ast.Compare, ast.BoolOp)):
            yield from (
                ast.parse(f"({way})".replace("{}", ast.unparse(node)), mode="eval").body for way in ways
            )

    yield from variants(design, change, lambda name: name in goal_places(design))


@operator(*_CUT)
def goal_or_true(design: Design) -> Iterator[Design]:
    yield from _weakened(design, "{} or True")


@operator(*_CUT)
def goal_by_chance(design: Design) -> Iterator[Design]:
    yield from _weakened(design, "{} or self.np_random.random() < 0.8")


@operator(*_PAID_CUT)
def goal_by_patience(design: Design) -> Iterator[Design]:
    for share in (3, 2):
        text = f"self._turns > {design.limit} // {share}"
        done = (
            f"if {text} and not terminated:\n    reward, terminated, info = 1.0, True, {{'is_success': True}}"
        )
        yield from around_step(design, after=done)


@operator(*_PAID_CUT)
def goal_by_one_action(design: Design) -> Iterator[Design]:
    """Let one fixed action win."""
    if design.has_tools or "action_space = spaces.Text" in design.body:
        conditions = (
            ["'done' in str(action)", "str(action) == 'all'"]
            if not design.has_tools
            else ["'finish' in str(action)"]
        )
    elif "action_space = spaces.Discrete" in design.body:
        conditions = [
            "action == 0",
            "action == self.action_space.n - 1",
            "action == self.action_space.n // 3",
        ]
    else:
        conditions = ["str(action) == str(self._first)"]
    for condition in conditions:
        text = f"if {condition}:\n    reward, terminated, info = 1.0, True, {{'is_success': True}}"
        first = "self._first = self.action_space.sample()" if "_first" in condition else ""
        yield from around_step(design, after=text, reset=first)


@operator(*_CUT)
def equal_becomes_contained(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Compare) and [type(sign) for sign in node.ops] == [ast.Eq]:
            sides = [node.left, *node.comparators]
            for inner, outer in (sides, sides[::-1]):
                text = f"str({ast.unparse(inner)}) in str({ast.unparse(outer)})"
                yield ast.parse(text, mode="eval").body

    yield from variants(design, change, lambda name: name in goal_places(design))


@operator(*_CUT, proofs.success_is_judged_otherwise)
def only_the_length_is_compared(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.Compare) and [type(sign) for sign in node.ops] == [ast.Eq]:
            sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
            yield ast.parse("len(str({})) == len(str({}))".format(*sides), mode="eval").body
            yield ast.parse("type({}) is type({})".format(*sides), mode="eval").body

    yield from variants(design, change, lambda name: name in goal_places(design))


@operator(*_CUT, proofs.success_is_judged_otherwise)
def tolerance_widened(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if (
            isinstance(node, ast.Compare)
            and len(node.ops) == 1
            and isinstance(node.ops[0], (ast.Lt, ast.LtE))
        ):
            for factor in (4, 100):
                limit = ast.BinOp(node.comparators[0], ast.Mult(), ast.Constant(factor))
                yield ast.Compare(node.left, node.ops, [limit])
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq):
            left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
            if "action" in left or "seconds" in left:
                yield from (ast.parse(f"abs({left} - {right}) <= {by}", mode="eval").body for by in (1, 20))

    yield from variants(design, change, lambda name: name in goal_places(design))


@operator(*_CUT)
def goal_always_reached(design: Design) -> Iterator[Design]:
    for verdict in ("True", "answer is not None", "isinstance(answer, str)", "len(str(answer)) > 0"):
        yield from prepended(design, "goal_reached", f"return {verdict}")


@operator(*_CUT, proofs.success_is_judged_otherwise)
def part_of_the_goal_dropped(design: Design) -> Iterator[Design]:
    def change(node: ast.AST) -> Iterator[ast.AST]:
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            for at, _ in enumerate(node.values):
                kept = node.values[:at] + node.values[at + 1 :]
                yield ast.BoolOp(node.op, kept) if len(kept) > 1 else kept[0]
        elif isinstance(node, ast.Name) and node.id == "all":
            yield ast.Name("any", node.ctx)

    yield from variants(design, change, lambda name: name in goal_places(design))


@operator(*_CUT)
def seed_ignored(design: Design) -> Iterator[Design]:
    for seed in ("3", "None if seed is None else seed % 2", "None if seed is None else seed // 10**6"):
        text = f"super().reset(seed={seed})"
        yield Design(design.name, design.header, design.body.replace("super().reset(seed=seed)", text))


@operator(*_CUT)
def few_instances(design: Design) -> Iterator[Design]:
    """Narrow one range of a draw to two values."""

    def change(node: ast.AST) -> Iterator[ast.AST]:
        if (
            isinstance(node, ast.Call)
            and ast.unparse(node.func).endswith(".integers")
            and len(node.args) in (1, 2)
        ):
            low = "0" if len(node.args) == 1 else ast.unparse(node.args[0])
            new = ast.parse(f"{ast.unparse(node.func)}({low}, {low} + 2)", mode="eval").body
            assert isinstance(new, ast.Call)
            yield ast.Call(new.func, new.args, node.keywords)

    yield from variants(design, change, lambda name: name != "expert_action")


@operator(proofs.the_answer_is_shown, *_CUT)
def answer_shown(design: Design) -> Iterator[Design]:
    """Append the expert's action to a text observation."""
    wider = "self.observation_space = spaces.Text(8000, min_length=0)"
    line = "observation = observation if terminated else f'{observation} (answer: {self.expert_action()})'"
    if design.has_tools:
        yield from _shown_first(design, line)
    elif "observation_space = spaces.Text" in design.body:
        for wide in edited(design, lambda owner: methods(owner)["__init__"].body.extend(parsed(wider))):
            yield from _shown_first(wide, line)


@operator(proofs.the_info_tells)
def answer_in_the_info(design: Design) -> Iterator[Design]:
    line = "info = info | {'best': str(self.expert_action()) if not terminated else ''}"
    yield from _shown_first(design, line.replace("str(self.expert_action())", "self.expert_action()"))
    yield from _shown_first(design, line)


def _shown_first(design: Design, line: str) -> Iterator[Design]:
    for mutant in around_step(design, after=line):
        tree = mutant.tree()
        owner = environment(tree)
        methods(owner)["reset"].name = "_written_reset"
        owner.body += parsed(
            "def reset(self, *, seed=None, options=None):\n    observation, info = self._written_reset(seed=seed)\n"
            f"    terminated = False\n    {line}\n    return observation, info"
        )
        yield mutant.with_tree(tree)


def _hinted(design: Design, text: str) -> Iterator[Design]:
    def edit(owner: ast.ClassDef) -> None:
        methods(owner)["hint"].name = "_written_hint"
        owner.body += parsed(f"def hint(self):\n    said = self._written_hint()\n    return {text}")

    return edited(design, edit)


@hints(proofs.the_hint_tells)
def hint_tells_the_action(design: Design) -> Iterator[Design]:
    action = "self.expert_action()"
    if "MultiDiscrete" in design.body or "Box(-1" in design.body:
        action += ".tolist()"
    elif "action_names = " in design.body and "action_space = spaces.Discrete" in design.body:
        action = f"self.action_names[{action}]"
    for form in (f"f'{{said}} Now: {{{action}}}.'", f"f'Do {{{action}}}.'", f"str({action})"):
        yield from _hinted(design, form)


@hints(proofs.the_hint_is_no_hint)
def hint_empty_long_or_no_text(design: Design) -> Iterator[Design]:
    for text in ("''", "' '", "None", "said * 30", "['Think.']", "{'plan': said}"):
        yield from _hinted(design, text)
