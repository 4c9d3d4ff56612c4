"""Builds ``docs/environments``: a page for each seed environment, and an index. ``make docs`` runs it.

All that a page says comes from the file's header, from its docstring, and from one episode that is played in an
isolated worker. Of the held-out environments only id, title and domain are told.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from gymnasium import spaces

from spade_envs import Header, IsolatedEnv, TextEnv, parse_header, seeds_folder
from spade_envs.contract.text_space import UnicodeText
from spade_envs.registry.paths import shipped_registry

FOLDER = Path(__file__).parent / "environments"
SEED, MOST_LINES, MOST_CHARACTERS = 0, 20, 150

INTRODUCTION = """\
# Environments

The hand-written environments, one page each. They are built by `make docs` from the files in `seeds/`; do not edit
them. What is published from them stands in the registry: `spade-envs list` shows it.
"""
HELD_OUT = """\
## Held out

These are for evaluation alone. They are never trained on and never shown to a designer, and the gate on
[novelty](../novelty.md) refuses a design that is like one of them. If a designer could read their rules or hints, it
could write copies to train on, and a good result on them would no longer say anything about tasks that are new. So
this list gives no more than the id, the title and the domain.
"""


def pages() -> dict[str, str]:
    """Return every page by its file name."""
    paths = sorted(seeds_folder().glob("*.py"))
    built = {f"{path.stem}.md": page(path) for path in paths}
    return {"README.md": index(paths), **built}


def index(paths: Sequence[Path]) -> str:
    """Return the table of all environments, and the list of those that are held out."""
    titles = ("id", "title", "domain", "skills", "levels", "observation", "action", "steps", "what it is for")
    rows = [_row(path) for path in paths]
    held_out = [
        (f"`{header.id}`", header.title, header.domain)
        for header in map(_header, sorted((seeds_folder() / "heldout").glob("*.py")))
    ]
    found = (
        INTRODUCTION,
        *_table(titles, rows),
        "",
        HELD_OUT,
        *_table(("id", "title", "domain"), held_out),
    )
    return "\n".join(found) + "\n"


def page(path: Path) -> str:
    """Return the page of one environment."""
    header, source = _header(path), path.read_text()
    levels = range(1, (header.difficulty_levels or 0) + 1) or [None]
    environments = [IsolatedEnv(source, **_arguments(level)) for level in levels]
    try:
        return "\n".join([*_head(header, path), *_faces(environments), *_episode(environments[0])]) + "\n"
    finally:
        for environment in environments:
            environment.close()


def _head(header: Header, path: Path) -> Iterator[str]:
    levels = str(header.difficulty_levels or "none")
    facts = {
        "id": f"`{header.id}`",
        "domain": header.domain,
        "skills": ", ".join(header.skills),
        "levels": levels,
        "steps at most": str(header.max_episode_steps),
        "licence": header.license,
        "file": f"[seeds/{path.name}](../../seeds/{path.name})",
    }
    yield from (f"# {header.title}", "", header.summary, "")
    yield from _table(("", ""), list(facts.items()))
    yield from ("", "```py", *_made(header, path), "```", "")


def _made(header: Header, path: Path) -> Iterator[str]:
    """Yield the Python that makes it: by its id where it is published, else from its file."""
    level = ", difficulty=1" if header.difficulty_levels else ""
    if (shipped_registry() / header.id.name / f"v{header.id.version}.py").exists():
        yield from ("import gymnasium", "import spade_envs", "")
        yield f'env = gymnasium.make("{header.id}"{level})'
    else:
        yield from ("import spade_envs", "")
        yield f'source = (spade_envs.seeds_folder() / "{path.name}").read_text()'
        yield f"env = spade_envs.IsolatedEnv(source{level})"


def _faces(environments: Sequence[IsolatedEnv]) -> Iterator[str]:
    """Yield what an agent is told: rules, spaces, and the names of actions or the tools."""
    first = environments[0]
    yield from ("## Rules", "", *_block(first.rules.splitlines()), "", "## Spaces", "")
    shown = [
        (f"`{_written(environment.observation_space)}`", f"`{_written(environment.action_space)}`")
        for environment in environments
    ]
    if len(set(shown)) == 1:
        yield from _table(("observation", "action"), shown[:1])
    else:
        rows = [(str(level), *row) for level, row in enumerate(shown, 1)]
        yield from _table(("level", "observation", "action"), rows)
    yield ""
    if first.action_names:
        yield from ("The actions, in order: " + ", ".join(f"`{name}`" for name in first.action_names), "")
    if first.tools:
        yield from ("## Tools", "")
        for tool in first.tools:
            yield from _tool(tool["function"])


def _written(space: spaces.Space[Any]) -> str:
    """Return a space as its constructor would be called; Gymnasium lists characters in no fixed order."""
    match space:
        case UnicodeText():
            return f"Text({space.min_length}, {space.max_length})"
        case spaces.Text():
            return f"Text({space.min_length}, {space.max_length}, {_characters(space.character_set)})"
        case spaces.Dict():
            return f"Dict({', '.join(f'{key}: {_written(part)}' for key, part in space.spaces.items())})"
        case spaces.Tuple():
            return f"Tuple({', '.join(map(_written, space.spaces))})"
    return str(space)


def _characters(held: frozenset[str]) -> str:
    known = {"printable": string.printable, "letters and digits": string.ascii_letters + string.digits}
    return next((name for name, listed in known.items() if held == set(listed)), repr("".join(sorted(held))))


def _tool(function: dict[str, Any]) -> Iterator[str]:
    """Yield a tool's name, what it does, and its arguments with their schemas."""
    parameters = function.get("parameters", {})
    yield from (f"**`{function['name']}`**: {' '.join(function['description'].split())}", "")
    rows = [
        (
            f"`{name}`",
            f"`{_schema(schema)}`",
            "yes" if name in parameters.get("required", ()) else "no",
            " ".join(schema.get("description", "").split()),
        )
        for name, schema in parameters.get("properties", {}).items()
    ]
    if rows:
        yield from (*_table(("argument", "schema", "needed", "meaning"), rows), "")


def _schema(schema: dict[str, Any]) -> str:
    return json.dumps({key: value for key, value in schema.items() if key != "description"})


def _episode(environment: IsolatedEnv) -> Iterator[str]:
    """Yield an episode of the expert's, as an agent that wrote the same would read it."""
    level = ", level 1" if environment.header.difficulty_levels else ""
    yield from (f"## An episode of the expert{level}, seed {SEED}", "")
    face = TextEnv(environment, "raw")
    text, _ = face.reset(seed=SEED)
    told, total, won = [*_cut(text)], 0.0, False
    for _ in range(environment.header.max_episode_steps):
        said = face.expert_text()
        text, reward, terminated, truncated, info = face.step(said)
        total, won = total + reward, bool(info.get("is_success"))
        told += [f"> {line}" for line in _cut(said)] + [*_cut(text)]
        if terminated or truncated:
            break
    yield from _block(_shortened(told))
    verdict = "success" if won else "no success"
    yield from ("", f"Lines that begin with `>` are the expert's. Return {total:g}, {verdict}.")


def _cut(text: str) -> Iterator[str]:
    for line in text.strip("\n").splitlines():
        cut = line.rstrip()
        yield cut if len(cut) <= MOST_CHARACTERS else cut[: MOST_CHARACTERS - 4] + " ..."


def _shortened(lines: list[str]) -> list[str]:
    """Leave out the middle of what is long."""
    if len(lines) <= MOST_LINES:
        return lines
    first = MOST_LINES // 2
    last = MOST_LINES - first - 1
    return [*lines[:first], f"(... {len(lines) - first - last} lines ...)", *lines[-last:]]


def _row(path: Path) -> tuple[str, ...]:
    header = _header(path)
    environment = IsolatedEnv(path.read_text(), **_arguments(1 if header.difficulty_levels else None))
    environment.close()
    tools = f"{len(environment.tools)} tools" if environment.tools else _kind(environment.action_space)
    return (
        f"[`{header.id}`]({path.stem}.md)",
        header.title,
        header.domain,
        ", ".join(header.skills),
        str(header.difficulty_levels or "-"),
        _kind(environment.observation_space),
        tools,
        str(header.max_episode_steps),
        header.summary,
    )


def _kind(space: spaces.Space[Any]) -> str:
    """Return the kind of a space, and of its parts."""
    match space:
        case spaces.Text():
            return "Text"
        case spaces.Dict():
            return f"Dict of {', '.join(dict.fromkeys(map(_kind, space.spaces.values())))}"
        case spaces.Tuple():
            return f"Tuple of {', '.join(dict.fromkeys(map(_kind, space.spaces)))}"
    return type(space).__name__


def _header(path: Path) -> Header:
    header = parse_header(path.read_text())
    if not isinstance(header, Header):
        raise SystemExit(header.text(str(path)))
    return header


def _arguments(level: int | None) -> dict[str, Any]:
    return {} if level is None else {"difficulty": level}


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    for cells in (titles, ["---"] * len(titles), *rows):
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _block(lines: Sequence[str]) -> list[str]:
    """Return lines as a fenced block whose fence does not stand in them."""
    fence = "```"
    while any(fence in line for line in lines):
        fence += "`"
    return [f"{fence}text", *lines, fence]


def main() -> None:
    """Write the pages; those of environments that are no more are deleted."""
    built = pages()
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.md"):
        if old.name not in built:
            old.unlink()
    for name, text in built.items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
