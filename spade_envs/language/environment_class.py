"""Which class of a file is the environment: it derives from ``gym.Env`` or ``ToolEnv`` and is no base."""

from __future__ import annotations

import ast

from spade_envs.contract import Finding
from spade_envs.language.survey import Survey

_ROOTS = frozenset({"gymnasium.Env", "spade_envs.ToolEnv"})


def find_environment_class(seen: Survey) -> str | Finding:
    """Return the environment class's name, or the finding that there is none or more than one."""
    found: dict[str, ast.ClassDef] = {}
    bases: set[str] = set()
    for node in seen.classes:
        parts = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        if names & found.keys() or any(seen.dotted(part) in _ROOTS for part in parts):
            found[node.name] = node
            bases |= names
    leaves = [node for name, node in found.items() if name not in bases]
    if len(leaves) == 1:
        return leaves[0].name
    if not leaves:
        remedy = "Write `class Name(gym.Env)` or `class Name(ToolEnv)` at the top level of the file."
        return Finding("language.environment-class", "The file has no environment class.", remedy)
    many = ", ".join(node.name for node in leaves)
    remedy = "Keep one environment class; make the others plain classes."
    return Finding("language.environment-class", f"{many} are all environments.", remedy, leaves[1].lineno, 1)
