"""Subcommands about what became of an environment: history, lineage."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from spade_envs.cli.listing import coloured, rate
from spade_envs.cli.options import AsJson, Id
from spade_envs.cli.output import out, print_json, remark
from spade_envs.contract.printable import printable
from spade_envs.records import Measured, StatusChange
from spade_envs.registry.stack import find

if TYPE_CHECKING:
    from spade_envs.registry.history import Event
    from spade_envs.registry.lineage import Lineage, Member

MOST_ABOVE, MOST_BELOW = 20, 100
"""How many generations a tree shows."""


def history(env_id: Id, as_json: AsJson = False) -> None:
    """Tell what happened to one environment: where it stood, when it was chosen, what was measured."""
    from spade_envs.registry.history import history as told

    _, found = find(env_id)
    events = told(str(found))
    if as_json:
        print_json([event.as_dict() for event in events])
        return
    table = Table("when", "run", "round", "what", box=None, header_style="bold", padding=(0, 2, 0, 0))
    for event in events:
        table.add_row(*_row(event))
    out().print(f"[bold]{found}[/bold]")
    out().print(table)


def lineage(
    env_id: Id,
    depth: Annotated[
        int, typer.Option(min=0, max=MOST_BELOW, help="How many generations below it are shown.")
    ] = MOST_BELOW,
    as_json: AsJson = False,
) -> None:
    """Show from which environment one was made, up to the first, and what was made from it."""
    from spade_envs.registry.lineage import lineage as looked_up

    _, found = find(env_id)
    family = looked_up(str(found), depth=depth)
    if as_json:
        print_json(family.as_dict())
    else:
        out().print(_tree(family))
    if family.circular:
        remark(
            f"the ancestors of {found} go in a circle: one of them is said to be made from its own descendant"
        )


def _row(event: Event) -> tuple[str, ...]:
    what = event.what
    where = (escape(printable(what.run or "-")), "-" if what.round is None else str(what.round))
    return what.at[:19], *where, _said(event)


def _said(event: Event) -> str:
    what = event.what
    if isinstance(what, StatusChange):
        return f"{coloured(what.status)}: {escape(printable(what.reason))}"
    if isinstance(what, Measured):
        faults = f", {what.faults} faults" if what.faults else ""
        return (
            f"measured in {what.plays} plays and {what.hinted_plays} with the hint: success {rate(what.success)}, "
            f"{rate(what.hinted_success)} with the hint, regret {rate(what.regret)}{faults}"
        )
    return f"chosen: {escape(printable(what.reason))}"


def _tree(family: Lineage) -> Tree:
    above = family.ancestors[-MOST_ABOVE:]
    unseen = len(family.ancestors) - len(above)
    labels = [Text(f"{unseen} more above", "bright_black")] if unseen else []
    labels += [_label(one, family) for one in above]
    labels.append(_label(family.member, family).append("  <- this one", "bold"))
    root = tree = Tree(labels[0])
    for label in labels[1:]:
        tree = tree.add(label)
    waiting = [(tree, family.member)]
    while waiting:
        place, member = waiting.pop()
        waiting += [(place.add(_label(child, family)), child) for child in member.children]
        if member.more:
            place.add(Text("more below", "bright_black"))
    return root


def _label(member: Member, family: Lineage) -> Text:
    others = ", ".join(printable(parent.id) for one, parent in family.joins if one == member.id)
    label = _named(member, member == family.member)
    return label.append(f"  and from {others}", "bright_black") if others else label


def _named(member: Member, asked: bool) -> Text:
    if member.title is None or not member.held:
        return Text(f"{printable(member.id)} (no registry holds it)", "bright_black")
    title, status = printable(member.title), coloured(member.status)
    return Text.assemble((member.id, "bold" if asked else ""), f"  {title}  ", Text.from_markup(status))
