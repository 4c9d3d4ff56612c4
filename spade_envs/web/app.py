"""The application: rooms put together, behind the guard."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from fastapi import FastAPI
from jinja2 import Environment
from starlette.routing import BaseRoute

from spade_envs.web import entrance, environment, health, listing, play, problems
from spade_envs.web.assets import Assets
from spade_envs.web.guard import Guard
from spade_envs.web.pages import Link, Maker, Pages, of_other_packages
from spade_envs.web.settings import WebSettings
from spade_envs.web.templating import environment as templates_of

ROOMS: tuple[Maker, ...] = (listing.pages, environment.pages, play.pages, entrance.pages, health.pages)
"""This package's own rooms; one more is one more line."""

_STATIC = Path(__file__).parent / "static"


@dataclass(frozen=True, slots=True)
class Site:
    """What every page shares: ``request.app.state.site``."""

    templates: Environment
    assets: Assets
    links: tuple[Link, ...]
    settings: WebSettings

    @property
    def plays(self) -> bool:
        """Whether environments can be played here."""
        return any(link.path == "/play" for link in self.links)


def create_app(settings: WebSettings) -> FastAPI:
    """Return the application. Raises UsageError where another package's pages cannot be loaded."""
    rooms: list[Pages] = []

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        for room in rooms:
            if room.open:
                threading.Thread(target=room.open, daemon=True).start()
        yield
        for room in reversed(rooms):
            if room.close:
                room.close()

    app = FastAPI(
        title="spade-envs",
        version=version("spade-envs"),
        description="Environments that language models wrote: every page is JSON, too.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    rooms += [make(app, settings) for make in (*ROOMS, *of_other_packages())]
    methods = _methods([*app.routes, *(route for room in rooms for route in room.router.routes)])
    app.state.site = site = _site(rooms, settings)
    for room in rooms:
        app.include_router(room.router)
    app.include_router(site.assets.router())
    problems.install(app)
    app.add_middleware(Guard, settings=settings, methods=methods)
    return app


def _methods(routes: Iterable[BaseRoute]) -> frozenset[str] | None:
    """Return the methods that pages are asked by; None where a route does not say by which."""
    found: set[str] = set()
    for route in routes:
        within = getattr(route, "original_router", None)  # one that was included in another
        own = _methods(within.routes) if within else getattr(route, "methods", None)
        if not own:
            return None
        found |= own
    return frozenset(found)


def _site(rooms: list[Pages], settings: WebSettings) -> Site:
    links = tuple(link for room in rooms for link in room.links)
    templates = templates_of(room.templates for room in rooms if room.templates)
    return Site(
        templates, Assets([_STATIC, *(room.static for room in rooms if room.static)]), links, settings
    )
