"""Addresses of one environment."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI, Request, Response

from spade_envs.contract.ids import NAMESPACE
from spade_envs.contract.plain import plain
from spade_envs.registry.stack import find
from spade_envs.web.pages import Pages
from spade_envs.web.respond import answer
from spade_envs.web.settings import WebSettings


def pages(_: FastAPI, settings: WebSettings) -> Pages:
    """Return the pages of an environment."""
    router = APIRouter(prefix="/environments", tags=["environments"])

    @router.get("/{name}")
    def environment(request: Request, name: str) -> Response:
        """One environment; without ``-vN`` the newest version."""
        registry, found = find(f"{NAMESPACE}/{name}", settings.registries)
        header = registry.entry(found).header
        return answer(request, "environment/page.html", {**plain(header), "id": str(header.id)})

    return Pages(router)
