"""The header of what a model wrote: its form put right, and the facts in it that are not the model's to choose."""

from __future__ import annotations

import ast
import difflib
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spade_train.designer.syntax import class_of, methods_of, parsed

DOMAINS = ("games", "math", "science", "code", "planning", "language", "tools")
LICENSE = "Apache-2.0"
MOST_SUMMARY = 200
"""The most characters of a summary, by the contract."""
_HEADER = re.compile(
    r"^# /// spade[ \t]*\n(?P<keys>(?:#(?! ///).*\n)*)(?:#?[ \t]*///?[ \t]*$|(?=[^#])|\Z)", re.MULTILINE
)
"""From its first mark to the last, which models misspell or leave out."""
_CHOSEN = ("id", "title", "summary", "domain", "skills", "max_episode_steps", "difficulty_levels")


@dataclass(frozen=True, slots=True)
class Facts:
    """What the header says and no model chooses."""

    round: int
    parent: str | None = None


def with_facts(source: str, facts: Facts) -> str:
    """Return the source with a header whose form and facts are right; what the model chose stays where it can.

    Id, title and summary are taken from the class where they are missing. A key that is none is left out, tags become
    lower case, texts are cut to their lengths, and of the id its name is kept. A last mark that is misspelt or missing
    is written; a source without the first is left as it is.
    """
    found = _HEADER.search(source)
    if found is None:
        return source
    tree = parsed(source)
    rest = source[found.end() :]
    keys = {**(_from_code(tree) if tree else _from_text(rest)), **dict(_keys(found["keys"]))}
    levels = tree is not None and _takes_difficulty(tree)
    written = _header({name: keys[name] for name in _CHOSEN if name in keys}, facts, levels)
    return source[: found.start()] + written + (rest if rest.startswith("\n") else f"\n{rest}")


def retitled(source: str, name: str, title: str) -> str:
    """Return the source with another name in its id, and another title."""
    source = re.sub(r"^# id = .*$", f'# id = "spade/{name}-v0"', source, count=1, flags=re.MULTILINE)
    return re.sub(
        r"^# title = .*$",
        f"# title = {_toml(title[:60])}".replace("\\", r"\\"),
        source,
        count=1,
        flags=re.MULTILINE,
    )


def without_keys(source: str, *keys: str) -> str:
    """Return the source without these keys of its header; what can be is then taken from its class."""
    return re.sub(rf"^# (?:{'|'.join(keys)}) = .*\n", "", source, flags=re.MULTILINE)


def _keys(block: str) -> Iterator[tuple[str, Any]]:
    """Yield what each line says by itself: as TOML, or a text whose quotation marks were forgotten."""
    for line in block.splitlines():
        said = line.removeprefix("#").strip()
        try:
            yield from tomllib.loads(said).items()
        except (ValueError, RecursionError):
            if bare := re.fullmatch(r"(\w+)\s*=\s*\[?\s*(\w[^\"\[\]{}#]*?)\s*\]?\s*(#.*)?", said):
                yield bare[1], re.split(r"\s*,\s*", bare[2]) if bare[1] == "skills" else bare[2]


def _header(keys: dict[str, Any], facts: Facts, levels: bool) -> str:
    chosen = {name: _chosen(name, value) for name, value in keys.items()}
    if not levels:
        chosen.pop("difficulty_levels", None)
    said = {name: value for name, value in chosen.items() if value is not None}
    parent = {"parent": facts.parent} if facts.parent else {}
    stated = {"origin": "generated", **parent, "generation_round": facts.round}
    ordered: dict[str, Any] = {
        name: said[name] for name in ("id", "title", "summary", "domain", "skills") if name in said
    }
    ordered |= stated | {n: said[n] for n in ("max_episode_steps", "difficulty_levels") if n in said}
    ordered |= {"license": LICENSE, "contract": 1}
    return "\n".join(
        ["# /// spade", *(f"# {name} = {_toml(value)}" for name, value in ordered.items()), "# ///"]
    )


def _chosen(name: str, value: Any) -> Any:
    """Return a key's value in the form that the contract wants; None where nothing can be made of it."""
    match name, value:
        case "id", str():
            words = re.findall(r"[A-Za-z0-9]+", re.sub(r"-v\d+$", "", value.rsplit("/", 1)[-1]))
            camel = "".join(word[:1].upper() + word[1:] for word in words).lstrip("0123456789")
            return f"spade/{camel}-v0" if camel else None
        case "title", str():
            return " ".join(value.split())[:60].strip() or None
        case "summary", str():
            return " ".join(value.split())[:MOST_SUMMARY].strip() or None
        case "domain", str():
            near = difflib.get_close_matches(value.lower(), DOMAINS, 1)
            return near[0] if near else value
        case "skills", list() | str():
            tags = [
                re.sub(r"[^a-z0-9 _+#./-]", "", str(tag).lower()).strip(" _./-")[:40]
                for tag in ([value] if isinstance(value, str) else value)
            ]
            return list(dict.fromkeys(tag for tag in tags if tag))[:6] or None
    return value


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'
    return str(value).lower() if isinstance(value, bool) else str(value)


def _from_code(tree: ast.Module) -> dict[str, Any]:
    """Return what the class's name and docstring say in place of a header's."""
    owner = class_of(tree)
    return _names(owner.name, ast.get_docstring(owner) or "") if owner else {}


def _from_text(code: str) -> dict[str, Any]:
    """Return the same of code that does not parse: what is to be found is its fault, and no missing header."""
    classes = re.finditer(
        r'^class (\w+)[^\n]*:\s*("""(?P<rules>.*?)""")?(?P<body>.*?)(?=^class |\Z)',
        code,
        re.MULTILINE | re.DOTALL,
    )
    found = [one for one in classes if "def reset" in one["body"]]
    return _names(found[-1][1], found[-1]["rules"] or "") if found else {}


def _names(name: str, docstring: str) -> dict[str, Any]:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)
    rules = " ".join(docstring.split())
    rules = rules if len(rules) <= MOST_SUMMARY else re.split(r"(?<=[.!?])\s", rules)[0]
    said = {"id": f"spade/{name}-v0", "title": " ".join(words).capitalize()}
    return said | ({"summary": rules} if rules else {})


def _takes_difficulty(tree: ast.Module) -> bool:
    owner = class_of(tree)
    start = methods_of(owner).get("__init__") if owner else None
    return start is not None and "difficulty" in [a.arg for a in (*start.args.args, *start.args.kwonlyargs)]
