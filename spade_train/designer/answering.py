"""The two methods that are the same in every environment that asks one question: no model need write them."""

from __future__ import annotations

import ast

from spade_train.designer.syntax import class_of, methods_of, parsed

METHODS = {
    "goal_reached": """    def goal_reached(self, answer):
        return str(answer) == str(self._answer)""",
    "expert_action": """    def expert_action(self):
        return {"name": "finish", "arguments": {"answer": self._answer}}""",
}


def without(source: str) -> str:
    """Return a source without these methods, where it has them letter for letter."""
    for method in METHODS.values():
        source = source.replace(f"\n\n{method}", "")
    return source


def is_added(source: str) -> bool:
    """Say whether a source has these methods letter for letter."""
    return all(method.strip() in source for method in METHODS.values())


def missing(owner: ast.ClassDef) -> list[str]:
    """Return those of the methods that a class lacks which asks a question: a ToolEnv without tools."""
    bases = {base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in owner.bases}
    own = set(methods_of(owner))
    if "ToolEnv" not in bases or any(name.startswith("tool_") for name in own):
        return []
    lacking = [text for name, text in METHODS.items() if name not in own]
    return lacking if keeps_answer(owner) or len(lacking) == len(METHODS) else []


def keeps_answer(owner: ast.ClassDef) -> bool:
    """Say whether a class sets ``self._answer``."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == "_answer" and isinstance(node.ctx, ast.Store)
        for node in ast.walk(owner)
    )


def advice(source: str) -> str:
    """Return what the writer of a file should be told first: that it forgot the answer, else nothing."""
    tree = parsed(source)
    owner = class_of(tree) if tree else None
    if owner is None or not is_added(source) or keeps_answer(owner):
        return ""
    return (
        "`reset` never sets `self._answer`. Write `reset` anew: after its draws it calculates `self._answer`."
    )
