"""Which class of a file is the environment: it derives from ``gym.Env`` or ``ToolEnv`` and is no base."""

from __future__ import annotations

import ast

from spade_envs.contract import Finding
from spade_envs.language.survey import Survey

_ROOTS = frozenset({"gymnasium.Env", "spade_envs.ToolEnv"})


def find_environment_class(seen: Survey) -> str | Finding:
    """Return the environment class's name, or the finding that there is none or more than one."""
    bases = {node.name: [_unsubscripted(base) for base in node.bases] for node in seen.classes}
    names = {name: {base.id for base in parts if isinstance(base, ast.Name)} for name, parts in bases.items()}
    found = {name for name, parts in bases.items() if any(seen.dotted(base) in _ROOTS for base in parts)}
    while more := {name for name in bases if names[name] & found} - found:
        found |= more
    leaves = [
        node
        for node in seen.classes
        if node.name in found and not any(node.name in names[name] for name in found)
    ]
    if len(leaves) == 1:
        return leaves[0].name
    if not leaves:
        remedy = "Write `class Name(gym.Env)` or `class Name(ToolEnv)` at the top level of the file."
        return Finding("language.environment-class", "The file has no environment class.", remedy)
    many = ", ".join(node.name for node in leaves)
    remedy = "Keep one environment class; make the others plain classes."
    return Finding("language.environment-class", f"{many} are all environments.", remedy, leaves[1].lineno, 1)


def _unsubscripted(node: ast.expr) -> ast.expr:
    return node.value if isinstance(node, ast.Subscript) else node
