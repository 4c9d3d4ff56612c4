"""Whether the server can answer: for programs that watch it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version

from fastapi import APIRouter, FastAPI, Response

from spade_envs.contract.plain import to_json
from spade_envs.errors import RegistryError
from spade_envs.registry.overview import known
from spade_envs.web.pages import Pages
from spade_envs.web.respond import JSON
from spade_envs.web.settings import WebSettings


@dataclass(frozen=True, slots=True)
class Health:
    """How the server is.

    Attributes:
        ready: whether the records can be read.
        detail: why not.
    """

    ready: bool
    version: str
    detail: str = ""


def pages(_: FastAPI, settings: WebSettings) -> Pages:
    """Return the address ``/health``: status 200, or 503 where the records cannot be read. It needs no token."""
    router = APIRouter(tags=["server"])

    @router.get("/health", response_model=Health, responses={503: {"model": Health}})
    def health() -> Response:
        """Whether the records can be read."""
        found = _looked(settings)
        return Response(to_json(found), 200 if found.ready else 503, media_type=JSON)

    return Pages(router)


def _looked(settings: WebSettings) -> Health:
    try:
        known("", settings.registries)  # one question: broken records may still be opened
        return Health(True, version("spade-envs"))
    except RegistryError:  # what it says names files; whoever may know them reads it on a page
        return Health(False, version("spade-envs"), "the records cannot be read")
