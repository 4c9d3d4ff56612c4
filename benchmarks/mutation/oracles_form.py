"""Oracles that read: what the header and the class must have."""

from __future__ import annotations

import ast
import tomllib

from mutation.design import Design, environment, methods
from mutation.oracle import oracle
from mutation.playing import Trial

ALLOWED = (
    "__future__ math cmath random re json string itertools functools collections abc heapq bisect operator statistics"
    " fractions decimal dataclasses enum typing copy contextlib textwrap datetime numpy gymnasium spade_envs"
)
INTROSPECTION = {"eval", "exec", "compile", "open", "input", "globals", "vars"}
DOMAINS = {"games", "math", "science", "code", "planning", "language", "tools"}
NEEDED = {
    "id", "title", "summary", "domain", "skills", "origin", "max_episode_steps", "license", "contract"
}  # fmt: skip
KNOWN = NEEDED | {"parent", "generation_round", "difficulty_levels"}


def _tree(trial: Trial) -> ast.Module:
    return Design.of("", trial.mutant).tree()


@oracle("The header's keys and values", "header.")
def the_header_is_wrong(trial: Trial) -> str | None:
    lines = Design.of("", trial.mutant).header.splitlines()[1:-1]
    data = tomllib.loads("\n".join(line.removeprefix("# ") for line in lines))
    wrong = sorted((data.keys() - KNOWN) | (NEEDED - data.keys()))
    if data.get("domain") not in DOMAINS:
        wrong.append("domain")
    if not 1 <= data.get("max_episode_steps", 0) <= 1000:
        wrong.append("max_episode_steps")
    if not 1 <= len(data.get("skills", [])) <= 6:
        wrong.append("skills")
    return f"wrong in the header: {', '.join(wrong)}" if wrong else None


@oracle("Docstring: the rules, as the agent reads them", "form.rules")
def there_are_no_rules(trial: Trial) -> str | None:
    return None if ast.get_docstring(environment(_tree(trial))) else "the class has no docstring"


@oracle("Two extra methods, hint() and expert_action()", "runs.raised", "form.", "language.")
def a_method_is_missing(trial: Trial) -> str | None:
    missing = {"hint", "expert_action", "reset"} - methods(environment(_tree(trial))).keys()
    return f"the class has no {', '.join(sorted(missing))}" if missing else None


@oracle("Exactly one class derives from gym.Env or ToolEnv", "language.environment-class")
def there_are_two_environments(trial: Trial) -> str | None:
    classes = [node for node in _tree(trial).body if isinstance(node, ast.ClassDef)]
    names = [c.name for c in classes if any("Env" in ast.unparse(base) for base in c.bases)]
    return f"these are environments: {names}" if len(names) > 1 else None


@oracle("Refused: other imports, introspection, other dunders", "language.")
def something_is_forbidden(trial: Trial) -> str | None:
    for node in ast.walk(_tree(trial)):
        if isinstance(node, ast.Import) and (
            other := {n.name.split(".")[0] for n in node.names} - set(ALLOWED.split())
        ):
            return f"it imports {other}"
        if isinstance(node, ast.Name) and node.id in INTROSPECTION:
            return f"it uses {node.id}"
        if isinstance(node, ast.Attribute) and node.attr in ("__dict__", "__class__", "__globals__"):
            return f"it reads {node.attr}"
    return None


@oracle(
    "A documented parameter that the signature lacks, or the reverse, is a rejection",
    "runs.",
    "form.",
    "language.",
)
def a_tool_is_documented_wrongly(trial: Trial) -> str | None:
    for name, method in methods(environment(_tree(trial))).items():
        documented = ast.get_docstring(method) or ""
        lacking = [arg.arg for arg in method.args.args[1:] if f"{arg.arg}:" not in documented]
        if name.startswith("tool_") and lacking:
            return f"{name} does not document {lacking}"
    return None


@oracle("Constructor: every keyword has a default", "runs.", "form.", "language.")
def the_constructor_needs_an_argument(trial: Trial) -> str | None:
    made = methods(environment(_tree(trial))).get("__init__")
    needed = made and len(made.args.args) - 1 - len(made.args.defaults)
    return f"{needed} arguments have no default" if needed else None
