"""The two methods that are the same in every environment that asks one question: no model need write them."""

from __future__ import annotations

import ast

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


def asks(owner: ast.ClassDef) -> bool:
    """Say whether a class asks a question: a ToolEnv without tools, which keeps what the answer is."""
    bases = {base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in owner.bases}
    if "ToolEnv" not in bases:
        return False
    functions = [node.name for node in owner.body if isinstance(node, ast.FunctionDef)]
    return keeps_answer(owner) and not any(name.startswith("tool_") for name in functions)


def keeps_answer(owner: ast.ClassDef) -> bool:
    """Say whether a class sets ``self._answer``."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == "_answer" and isinstance(node.ctx, ast.Store)
        for node in ast.walk(owner)
    )
