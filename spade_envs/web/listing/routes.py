"""Addresses of the index."""

from __future__ import annotations

import contextlib
from typing import Annotated

from fastapi import APIRouter, FastAPI, Query, Request, Response

from spade_envs import records
from spade_envs.errors import RegistryError
from spade_envs.registry.catalogue import Catalogue
from spade_envs.registry.overview import near
from spade_envs.registry.stack import Stack
from spade_envs.web.listing.asked import Asked, check
from spade_envs.web.listing.facets import BANDS
from spade_envs.web.listing.shown import Index, shown
from spade_envs.web.pages import Link, Pages
from spade_envs.web.respond import answer
from spade_envs.web.settings import WebSettings


def pages(_: FastAPI, settings: WebSettings) -> Pages:
    """Return the index."""
    router = APIRouter(tags=["environments"])
    catalogue = Catalogue(lambda: settings.registries)

    @router.get("/", response_model=Index)
    def index(request: Request, asked: Annotated[Asked, Query()]) -> Response:
        """The environments of all registries, found by words and facets, with counts of every facet."""
        check(request.query_params)
        query = asked.query()
        found = catalogue.ask(query, BANDS)
        meant = {} if found.total else _meant(query, settings.registries)
        here = asked.address(page=asked.page)  # without what a form sends of what was left as it is
        page = shown(asked, found, meant)
        return answer(request, "listing/index.html", page, headers={"HX-Push-Url": here})

    def ready() -> None:
        with contextlib.suppress(RegistryError):  # whoever opens a page reads why
            catalogue.ask(records.Query(limit=0), BANDS)

    return Pages(router, (Link("Environments", "/", below="/environments/"),), open=ready)


def _meant(query: records.Query, stack: Stack) -> dict[str, list[str]]:
    """Return for the words of a question that nobody knows the three nearest."""
    return {what: words[:3] for what, words in near(query, stack).items()}
