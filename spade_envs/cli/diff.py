"""The subcommand diff: what two versions have in common and what not."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import unified_diff
from typing import Annotated

import typer
from rich.text import Text

from spade_envs.cli.options import Id
from spade_envs.cli.output import LINES, out, print_json, remark
from spade_envs.contract import code_sha256
from spade_envs.contract.ids import EnvId
from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_envs.registry.stack import find, holder_of, registries
from spade_envs.registry.versions import Entry, numbers

_STYLES = {"+": "green", "-": "red", "@": "cyan"}


def diff(
    first: Id,
    second: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="Without it, the first one's parent or previous version."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the lines.")] = False,
) -> None:
    """Show what changed from one version to another, as a unified diff.

    With one id, what changed to it from its parent or, where it names none, from its previous version.
    """
    new = _entry(first)
    pair = (new, _entry(second)) if second is not None else (_before(new), new)
    lines = _lines(*pair)
    only_header = bool(lines) and code_sha256(pair[0].source) == code_sha256(pair[1].source)
    if as_json:
        ids = [str(entry.header.id) for entry in pair]
        print_json({"from": ids[0], "to": ids[1], "only_header": only_header, "diff": "\n".join(lines)})
        return
    _print(lines)
    if only_header or not lines:
        remark("only the header differs" if lines else "there is no difference")


def _entry(text: str) -> Entry:
    registry, env_id = find(text)
    return registry.entry(env_id)


def _before(entry: Entry) -> Entry:
    """Return what a version came from: its parent, or the version of its name before it."""
    header = entry.header
    if header.parent is not None:
        return _entry(str(header.parent))
    name, number = header.id.name, header.id.version
    taken = {v for registry in registries() for v in numbers(registry.root / name) if v < number}
    for version in sorted(taken, reverse=True):
        if (holder := holder_of(earlier := EnvId(name, version))) is not None:
            return holder.entry(earlier)
    raise UsageError(f"{header.id} has neither a parent nor an earlier version; name two ids")


def _lines(first: Entry, second: Entry) -> list[str]:
    old, new = (entry.source.splitlines() for entry in (first, second))
    return list(unified_diff(old, new, str(first.header.id), str(second.header.id), lineterm=""))


def _print(lines: Sequence[str]) -> None:
    console = out()
    for line in lines:
        if console.is_terminal:
            text = Text(
                printable(line, keep=LINES),
                _STYLES.get(line[:1], "") if line[:3] not in ("+++", "---") else "bold",
            )
            console.print(text, soft_wrap=True)
        else:
            print(line)
