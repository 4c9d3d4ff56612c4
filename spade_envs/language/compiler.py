"""From source to code: header, limits, policy, and what kind of environment it is. Nothing is run here."""

from __future__ import annotations

import ast
import functools
import types
from dataclasses import dataclass

from spade_envs.contract import Finding, Header, Rejection, parse_header
from spade_envs.language.environment_class import find_environment_class
from spade_envs.language.limits import parse, syntax_finding
from spade_envs.language.names import FILENAME
from spade_envs.language.policy import Policy
from spade_envs.language.rewriting import without_main_block
from spade_envs.language.sharing import Uses, uses_of
from spade_envs.language.survey import survey


@dataclass(frozen=True, slots=True)
class CompiledSource:
    """A design that may be loaded, in a worker.

    Attributes:
        header: the metadata.
        source: the whole file as it was given.
        class_name: the one environment class.
        code: the module's code under the policy.
        uses: what it takes to know whether instances may share a namespace; None where they may not.
    """

    header: Header
    source: str
    class_name: str
    code: types.CodeType
    uses: Uses | None = None


@functools.lru_cache(maxsize=256)
def compile_source(source: str) -> CompiledSource | Rejection:
    """Compile a design, or say everything that keeps it from being compiled, each refusal with its place."""
    header, tree = parse_header(source), parse(source)
    findings = list(header.findings) if isinstance(header, Rejection) else []
    if isinstance(tree, Rejection):
        return _rejection(findings + list(tree.findings))
    tree = without_main_block(tree)
    seen, uses = survey(tree), uses_of(tree)
    class_name = find_environment_class(seen)
    findings += [class_name] if isinstance(class_name, Finding) else []
    code = _compile_tree(tree, Policy(seen))
    findings += code.findings if isinstance(code, Rejection) else []
    if isinstance(header, Rejection) or isinstance(class_name, Finding) or isinstance(code, Rejection):
        return _rejection(findings)
    return CompiledSource(header, source, class_name, code, uses)


@functools.lru_cache(maxsize=64)
def compile_program(source: str) -> types.CodeType | Rejection:
    """Compile a program that an agent wrote, which changes nothing but its own objects."""
    tree = parse(source)
    if isinstance(tree, Rejection):
        return tree
    tree = without_main_block(tree)
    return _compile_tree(tree, Policy(survey(tree), own_stores_only=True))


def _compile_tree(tree: ast.Module, policy: Policy) -> types.CodeType | Rejection:
    try:
        tree = policy.visit(tree)
        if policy.findings:
            return _rejection(policy.findings)
        return compile(tree, FILENAME, "exec", dont_inherit=True)
    except SyntaxError as error:  # what only the compiler sees, such as `return` outside a function
        return Rejection((syntax_finding(error),))
    except RecursionError:
        found = "The expressions are nested too deep for Python's compiler."
        return Rejection((Finding("language.limit", found, "Write shorter, flatter expressions."),))


def _rejection(findings: list[Finding]) -> Rejection:
    def place(finding: Finding) -> tuple[bool, int, int]:
        return finding.line is None, finding.line or 0, finding.column or 0

    return Rejection(tuple(sorted(findings, key=place)))
