"""Google-style docstrings, as far as tools need them: the description and what is said of each argument."""

from __future__ import annotations

import inspect
import re

_SECTION = re.compile(
    r"(Args|Arguments|Parameters|Params|Returns?|Yields?|Raises|Notes?|Examples?|Warnings?|See Also):.*"
)
_ARGUMENT = re.compile(r"\*{0,2}(\w+)\s*(?:\(.*?\))?\s*:(?!:)\s*(.*)")
_ARGUMENT_SECTIONS = {"Args", "Arguments", "Parameters", "Params"}


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """Return the description (all before the first section) and the text for each documented argument."""
    description: list[str] = []
    sections: dict[str, list[str]] = {}
    current = description
    for line in inspect.cleandoc(text).splitlines():
        if match := _SECTION.fullmatch(line):
            current = sections.setdefault(match[1], [])
        else:
            current.append(line)
    lines = [line for name in sections if name in _ARGUMENT_SECTIONS for line in sections[name]]
    return "\n".join(description).strip(), _arguments(lines)


def _arguments(lines: list[str]) -> dict[str, str]:
    """Read one section. An argument begins at the section's own indentation; deeper lines continue it."""
    arguments: dict[str, str] = {}
    lines = [line for line in lines if line.startswith((" ", "\t"))]
    margin = min((len(line) - len(line.lstrip()) for line in lines), default=0)
    name = ""
    for line in lines:
        match = _ARGUMENT.fullmatch(line[margin:])
        if match:
            name = match[1]
            arguments[name] = match[2].strip()
        elif name:
            arguments[name] = f"{arguments[name]} {line.strip()}".strip()
    return arguments
