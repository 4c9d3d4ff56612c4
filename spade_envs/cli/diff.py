"""The subcommand diff: what two versions have in common and what not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.text import Text

from spade_envs.cli.options import Id
from spade_envs.cli.output import LINES, out, print_json, remark
from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_envs.registry.differing import before, difference
from spade_envs.registry.stack import find
from spade_envs.registry.versions import Entry

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
    found = difference(new, _entry(second)) if second is not None else difference(_before(new), new)
    if as_json:
        ids = {"from": found.old, "to": found.new}
        print_json({**ids, "only_header": found.only_header, "diff": "\n".join(found.lines)})
        return
    _print(found.lines)
    if found.only_header or not found.lines:
        remark("only the header differs" if found.lines else "there is no difference")


def _entry(text: str) -> Entry:
    registry, env_id = find(text)
    return registry.entry(env_id)


def _before(new: Entry) -> Entry:
    earlier = before(new)
    if earlier is None:
        raise UsageError(f"{new.header.id} has neither a parent nor an earlier version; name two ids")
    return earlier


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
