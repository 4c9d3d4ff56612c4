"""Addresses of the index."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request, Response

from spade_envs import records
from spade_envs.registry.overview import ask
from spade_envs.web.pages import Link, Pages
from spade_envs.web.respond import answer
from spade_envs.web.settings import WebSettings

PER_PAGE = 24


def pages(_: FastAPI, settings: WebSettings) -> Pages:
    """Return the index."""
    router = APIRouter(tags=["environments"])

    @router.get("/")
    def index(request: Request, q: Annotated[str, Query(max_length=500)] = "") -> Response:
        """The environments, found by words and facets."""
        query = records.Query(text=q, sort="rank" if q.strip() else "name", limit=PER_PAGE)
        found = ask(query, settings.registries)
        shown: dict[str, Any] = {
            "q": q,
            "total": found.total,
            "rows": [row.listed.as_dict() for row in found.rows],
        }
        return answer(request, "listing/index.html", shown)

    return Pages(router, (Link("Environments", "/"),))
