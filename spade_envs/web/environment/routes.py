"""Addresses of one environment: one for each part, so that what is heavy is fetched when it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Query, Request, Response

from spade_envs.web.environment import parts
from spade_envs.web.environment.subject import Subject, subject
from spade_envs.web.pages import Pages
from spade_envs.web.respond import answer
from spade_envs.web.settings import WebSettings


def pages(_: FastAPI, settings: WebSettings) -> Pages:
    """Return the pages of an environment."""
    router = APIRouter(prefix="/environments", tags=["environments"])

    def about(name: str) -> Subject:
        return subject(name, settings.registries)

    @router.get("/{name}", response_model=parts.Overview)
    def overview(request: Request, name: str) -> Response:
        """One environment; without ``-vN`` the newest version."""
        return answer(request, "environment/overview.html", parts.overview(about(name)))

    @router.get("/{name}/source", response_model=parts.Code)
    def source(request: Request, name: str, first: Annotated[int, Query(ge=1, le=100_000)] = 1) -> Response:
        """Its source, from a line on; as JSON the whole."""
        return answer(request, "environment/source.html", parts.code(about(name), first))

    @router.get("/{name}/diff")
    def diff(request: Request, name: str, other: Annotated[str, Query(max_length=100)] = "") -> Response:
        """What changed to it from another version: its parent, or the one before it, where none is named."""
        found = parts.changed(about(name), other, settings.registries)
        return answer(request, "environment/diff.html", found)

    @router.get("/{name}/spaces", response_model=parts.Spaces)
    def spaces(request: Request, name: str) -> Response:
        """What it takes and gives, as a worker that is started for it declares."""
        return answer(request, "environment/spaces.html", parts.spaces(about(name)))

    @router.get("/{name}/admission", response_model=parts.Admission)
    def admission(request: Request, name: str) -> Response:
        """Its admission report, gate by gate."""
        return answer(request, "environment/admission.html", parts.admission(about(name)))

    simple: dict[str, tuple[str, Callable[[Subject, Any], Any]]] = {
        "measured": ("What runs measured of it.", parts.measures),
        "history": ("What happened to it.", parts.happened),
        "lineage": ("From which environment it was made, and what was made from it.", parts.family),
        "neighbours": ("What it was like when it was admitted.", parts.alike),
    }
    for part, (described, made) in simple.items():
        router.get(f"/{{name}}/{part}", description=described)(_page(part, made, about, settings))
    return Pages(router)


def _page(
    part: str, made: Callable[[Subject, Any], Any], about: Callable[[str], Subject], settings: WebSettings
) -> Callable[[Request, str], Response]:
    def page(request: Request, name: str) -> Response:
        return answer(request, f"environment/{part}.html", made(about(name), settings.registries))

    page.__name__ = part
    return page
