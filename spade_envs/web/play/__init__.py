"""Playing in the browser: games in isolated workers, and any recorded episode step by step."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI

from spade_envs.web.pages import Link, Pages
from spade_envs.web.play.catalogue import Catalogue
from spade_envs.web.play.game_routes import game_routes
from spade_envs.web.play.replay_routes import replay_routes
from spade_envs.web.play.room import Room
from spade_envs.web.settings import WebSettings


def pages(_: FastAPI, settings: WebSettings) -> Pages:
    """Return the pages for playing and for replaying."""
    room = Room(Catalogue(lambda: settings.registries))
    router = APIRouter()
    router.include_router(game_routes(room))
    router.include_router(replay_routes(room))
    return Pages(router, links=(Link("Play", "/play"), Link("Replay", "/replay")), close=room.close)
