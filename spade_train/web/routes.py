"""Addresses of training runs."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, FastAPI, HTTPException, Query, Request, Response

from spade_envs.contract.printable import printable
from spade_envs.web import Link, Pages, WebSettings, answer
from spade_train.report.page import TEMPLATES, report_of
from spade_train.report.pictures import PICTURES
from spade_train.web.comparing import MOST, compare
from spade_train.web.episodes import episodes
from spade_train.web.listing import runs
from spade_train.web.live import live
from spade_train.web.rounds import round_page
from spade_train.web.shelf import Shelf, UnknownRunError

DEFAULT = Path("runs")
"""Where runs lie unless the server is told otherwise: where ``spade-train`` makes them."""

_SVG = "image/svg+xml"


def pages(_: FastAPI, settings: WebSettings) -> Pages:
    """Return the pages of runs."""
    shelf = Shelf(DEFAULT if settings.runs is None else settings.runs)
    router = APIRouter(tags=["runs"])
    for add in (_lists, _live, _whole):
        add(router, shelf)
    _parts(router, shelf, settings)
    return Pages(router, (Link("Runs", "/runs"),), TEMPLATES, Path(__file__).parent / "static")


def _lists(router: APIRouter, shelf: Shelf) -> None:
    @router.get("/runs")
    def all_runs(request: Request) -> Response:
        """All runs of the folder."""
        return answer(request, "runs/index.html", runs(shelf))

    @router.get("/compare")
    def compared(
        request: Request,
        run: Annotated[list[str] | None, Query(description="Names of two to six runs.")] = None,
    ) -> Response:
        """Runs beside each other."""
        names = list(dict.fromkeys(run or ()))
        if not 2 <= len(names) <= MOST:
            raise HTTPException(400, f"Choose two to {MOST} runs: /compare?run=one&run=other.")
        with _known(shelf):
            found = {name: shelf.facts(name) for name in names}
        return answer(request, "runs/compare.html", compare(found))


def _live(router: APIRouter, shelf: Shelf) -> None:
    @router.get("/runs/{name}")
    def run(request: Request, name: str) -> Response:
        """A run as it is now; the page follows it."""
        with _known(shelf):
            page = shelf.look(name, partial(live, name, shelf.version(name)))
        return answer(request, "runs/live.html", page)

    @router.get("/runs/{name}/now", include_in_schema=False)
    def now(request: Request, name: str, seen: str = "") -> Response:
        """What is new on the live page since a version of it; nothing where nothing is."""
        try:
            version = shelf.version(name)
            if seen == version:
                return Response(status_code=204, headers={"Cache-Control": "no-store"})
            page = shelf.look(name, partial(live, name, version))
        except UnknownRunError:
            return answer(request, "runs/gone.html", {"name": name})
        return answer(request, "runs/now.html", page, headers={"HX-Trigger": "written"})


def _whole(router: APIRouter, shelf: Shelf) -> None:
    @router.get("/runs/{name}/report")
    def report(request: Request, name: str) -> Response:
        """What holds a run back, its figures, curves and tables, some episodes."""
        with _known(shelf):
            return answer(request, "runs/report.html", shelf.look(name, report_of))

    @router.get("/runs/{name}/rounds/{number}")
    def one_round(request: Request, name: str, number: int) -> Response:
        """One round, counted from 1: what the designer saw and made, what was played and why."""
        with _known(shelf):
            page = shelf.look(name, partial(round_page, name, number - 1))
        if page is None:
            raise HTTPException(404, f"{printable(name)} has no round {number} on record.")
        return answer(request, "runs/round.html", page)


def _parts(router: APIRouter, shelf: Shelf, settings: WebSettings) -> None:
    @router.get("/runs/{name}/charts/{chart}")
    def one_chart(request: Request, name: str, chart: str) -> Response:
        """One chart of a run; ``?format=svg`` for the picture alone."""
        if chart not in PICTURES:
            raise HTTPException(
                404, f"There is no chart {printable(chart)}; there are {', '.join(PICTURES)}."
            )
        with _known(shelf):
            picture = PICTURES[chart](shelf.facts(name))
        if request.query_params.get("format") == "svg":
            return Response(picture.svg, media_type=_SVG, headers={"Cache-Control": "private, no-cache"})
        part = "HX-Request" in request.headers
        return answer(
            request, "runs/chart.html" if part else "runs/chart_page.html", {"name": name, "picture": picture}
        )

    @router.get("/runs/{name}/episodes")
    def pairs(
        request: Request,
        name: str,
        round: Annotated[int | None, Query(description="Counted from 1; the newest pair without it.")] = None,
        env: str = "",
        level: int = 1,
        seed: int = 0,
    ) -> Response:
        """Episodes without and with the hint, side by side."""
        wanted = None if round is None else (round - 1, env, level, seed)
        with _known(shelf):
            page = shelf.look(name, partial(episodes, name, wanted, settings.registries))
        if page is None:
            raise HTTPException(404, f"{printable(name)} has no such pair of episodes on record.")
        return answer(request, "runs/episodes.html", page)


@contextlib.contextmanager
def _known(shelf: Shelf) -> Iterator[None]:
    """Say that a run is not there."""
    try:
        yield
    except UnknownRunError as unknown:
        where, name = printable(str(shelf.folder)), printable(str(unknown))
        raise HTTPException(
            404, f"{where} holds no run {name}, or no longer. /runs shows those that are there."
        ) from None
