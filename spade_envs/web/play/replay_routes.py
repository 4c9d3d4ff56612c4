"""Addresses of recorded episodes, step by step."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from spade_envs.errors import UsageError
from spade_envs.text_face import ActionFormat
from spade_envs.web.play.answering import answered
from spade_envs.web.play.episodes import address, read_file, read_moves, write_moves
from spade_envs.web.play.game import Start
from spade_envs.web.play.recordings import Recording, Wanted
from spade_envs.web.play.replay_views import ReplayPage
from spade_envs.web.play.room import Room
from spade_envs.web.respond import answer, sends_json


def replay_routes(room: Room) -> APIRouter:
    """Return the addresses below ``/replay``."""
    router = APIRouter(prefix="/replay", tags=["play"])

    @router.get("")
    async def choose(request: Request) -> Response:
        """Where an episode's file is opened."""
        return answer(request, "play/open.html", {})

    @router.post("")
    async def opened(request: Request, episode: Annotated[str, Form()] = "") -> Response:
        """Open an episode's file: the body where that is JSON, or its text in the form's field ``episode``."""
        found = read_file((await request.body()).decode(errors="replace") if sends_json(request) else episode)
        entry = await room.threads.run(room.catalogue.entry, found.start.env_id)
        if found.file_sha256 not in (None, entry.file_sha256):
            raise UsageError(
                f"the episode was played in another file of the id {found.start.env_id}; it is not here"
            )
        kept = {} if len(write_moves(found.moves)) <= 2_000 else {"episode": room.keep(found)}
        return RedirectResponse(address("replay", found.start, found.moves, **kept), 303)

    @router.get("/{name}")
    async def step(
        request: Request,
        name: str,
        level: str | None = None,
        seed: str = "0",
        moves: str | None = None,
        episode: str | None = None,
        finding: int | None = None,
        face: ActionFormat = "raw",
        step: int = 0,
    ) -> Response:
        """A step of ``moves`` (a model's: with the ``face`` of its run), of an opened file, of the episode behind a
        ``finding``; else of the expert's.
        """
        start = await room.threads.run(room.catalogue.start, name, level, seed)
        wanted = replace(_wanted(room, start, moves, episode, finding), face=face)

        async def page() -> Response:
            made = await room.threads.run(room.recordings.get, wanted)
            entry = await room.threads.run(room.catalogue.entry, start.env_id)
            query = [(key, value) for key, value in request.query_params.multi_items() if key != "step"]
            there = f"{request.url.path}?{urlencode([*query, ('step', '')], errors='replace')}"
            at = max(0, min(step, len(made.frames) - 1))
            return answer(
                request,
                "play/replay.html",
                ReplayPage(made, at, there, entry.header.title, _play(wanted, made)),
            )

        return await answered(request, start, page)

    return router


def _wanted(room: Room, start: Start, moves: str | None, episode: str | None, finding: int | None) -> Wanted:
    if (moves is not None) + (episode is not None) + (finding is not None) > 1:
        raise UsageError("give one of moves, episode and finding")
    if finding is not None:
        return Wanted(Start(start.env_id, None, 0), finding=finding)
    if episode is not None:
        return Wanted(start, room.kept(episode).moves)
    return Wanted(start, None if moves is None else read_moves(moves))


def _play(wanted: Wanted, made: Recording) -> str:
    """Return where a game goes on from an episode's moves; empty where an address cannot hold them."""
    if wanted.moves is None or wanted.face != "raw":
        return address("play", made.start)
    whole = len(write_moves(wanted.moves)) <= 2_000
    return address("play", made.start, wanted.moves) if whole else ""
