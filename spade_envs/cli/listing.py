"""The subcommands list and search: questions to all registries, answered part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.markup import escape
from rich.table import Table

from spade_envs.cli import options
from spade_envs.cli.output import out, print_json, remark
from spade_envs.errors import UsageError
from spade_envs.records.values import EVERYTHING
from spade_envs.registry.stack import Stack

if TYPE_CHECKING:
    from spade_envs.records import Query
    from spade_envs.registry.overview import Found, Page

COLOURS = {
    "active": "green",
    "mastered": "blue",
    "too_hard": "yellow",
    "quarantined": "red",
    "retired": "bright_black",
}


def list_(
    domain: options.Domain = None,
    skill: options.Skill = None,
    status: options.Status = None,
    difficulty: options.Between = None,
    regret: options.Between = None,
    success: options.Between = None,
    steps: options.Between = None,
    tools: options.Tools = None,
    origin: options.Origin = None,
    run: options.Run = None,
    round: options.Round = None,
    name: options.Name = None,
    sort: options.Sort = "name",
    all_versions: options.AllVersions = False,
    limit: options.Limit = 50,
    offset: options.Offset = None,
    page: options.PageNumber = None,
    registry: options.Only = None,
    as_json: options.AsJson = False,
) -> None:
    """List the environments of all registries; on a terminal with where they stand and what was measured."""
    from spade_envs.records import Query

    query = Query(
        domain=domain,
        skill=skill,
        status=cast("Any", status),  # the question itself says which there are
        difficulty=options.between(difficulty, "difficulty"),
        regret=options.between(regret, "regret"),
        success=options.between(success, "success"),
        steps=options.between(steps, "steps"),
        tools=tools,
        origin=origin,
        run=run,
        round=round,
        name=name and name.removeprefix("spade/"),
        all_versions=all_versions,
        sort=cast("Any", sort),
        limit=limit or None,
        offset=options.first_of(limit, offset, page),
    )
    _answer(query, options.only(registry), as_json)


def search(
    words: Annotated[list[str], typer.Argument(metavar="WORDS...", help="Words, or how they begin.")],
    domain: options.Domain = None,
    skill: options.Skill = None,
    status: options.Status = None,
    all_versions: options.AllVersions = False,
    limit: options.Limit = 20,
    offset: options.Offset = None,
    page: options.PageNumber = None,
    registry: options.Only = None,
    as_json: options.AsJson = False,
) -> None:
    """Find environments by words in their name, title, summary, skills and rules, the best first."""
    from spade_envs.records import Query

    if not (text := " ".join(words)).strip():
        raise UsageError("there are no words to search for; write one at least, for example: lamp")
    query = Query(
        text=text,
        domain=domain,
        skill=skill,
        status=cast("Any", status),  # the question itself says which there are
        all_versions=all_versions,
        sort="rank",
        limit=limit or None,
        offset=options.first_of(limit, offset, page),
    )
    _answer(query, options.only(registry), as_json)


def coloured(status: str | None) -> str:
    """Return a status as markup."""
    colour = COLOURS.get(status or "")
    return f"[{colour}]{status}[/{colour}]" if colour else status or "-"


def rate(value: float | None) -> str:
    """Return a number of a list."""
    return "-" if value is None else f"{value:.2f}"


def _answer(query: Query, stack: Stack, as_json: bool) -> None:
    from spade_envs.registry.overview import ask

    page = ask(query, stack)
    if as_json:
        print_json([found.as_dict() for found in page.rows])
    elif out().is_terminal and page.rows:
        out().print(_table(page))
        out().print(_count(query, page))
    else:
        for found in page.rows:
            print(f"{found.listed.id}\t{found.listed.domain}\t{found.listed.title}")
    if not page.rows:
        remark(_nothing(query, page, stack))
    elif len(page.rows) < page.total and (as_json or not out().is_terminal):
        remark(_count(query, page))


def _table(page: Page) -> Table:
    table = Table(box=None, header_style="bold")
    table.add_column("id", no_wrap=True)
    for name in ("status", "domain", "title"):
        table.add_column(name)
    for name in ("difficulty", "success", "regret"):
        table.add_column(name, justify="right")
    for found in page.rows:
        table.add_row(*_row(found))
    return table


def _row(found: Found) -> tuple[str, ...]:
    one = found.listed
    numbers = (rate(one.difficulty), rate(one.success), rate(one.regret))
    return escape(one.id), coloured(one.status), escape(one.domain), escape(one.title), *numbers


def _count(query: Query, page: Page) -> str:
    shown = len(page.rows)
    if shown == page.total:
        return f"{shown:,} environment{'s' * (shown != 1)}"
    more = query.offset + shown < page.total
    onward = f"; --offset {query.offset + shown} for the next, --limit 0 for all" if more else ""
    return f"{shown:,} of {page.total:,} environments{onward}"


def _nothing(query: Query, page: Page, stack: Stack) -> str:
    """Say that nothing was found, and what to ask instead."""
    from spade_envs.registry.overview import near

    if page.total:
        return f"there are {page.total:,}, none from {query.offset:,} on; take a lower --offset or --page"
    unknown = near(query, stack)
    for what, words in unknown.items():
        mend = f"; did you mean {options.said(words[:1])}?" if words else ""
        return f"no environment has the {what} {getattr(query, what)!r}{mend}"
    if query.text:
        return "no environment holds all these words; take fewer of them, or only how they begin"
    asked = [name for name in _FILTERS if getattr(query, name) not in (None, EVERYTHING)]
    if not asked:
        return "there are no environments; `spade-envs admit FILE` adds one"
    older = "" if query.all_versions else ", or add --all for older versions"
    return f"no environment meets all of this; leave out {options.said('--' + name for name in asked)}{older}"


_FILTERS = (
    *("domain", "skill", "status", "difficulty", "regret", "success", "steps", "tools"),
    *("origin", "run", "round", "name"),
)
