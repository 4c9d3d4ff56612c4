"""Addresses of games: look at one, move in it, take its file along."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from spade_envs.web.play.answering import answered
from spade_envs.web.play.asking import Asked, read_form, read_json
from spade_envs.web.play.episodes import Episode, address, read_moves, write_file
from spade_envs.web.play.game import Game, Move, Start
from spade_envs.web.play.game_views import GamePage, GamesPage
from spade_envs.web.play.keeper import Answer
from spade_envs.web.play.room import Room
from spade_envs.web.respond import answer, sends_json, wants_json

_STALE = "That was done on a page of another turn, so nothing was changed. This is the game now."
_OTHER = "The address holds other moves than your game of this seed has by now. This is the game as it is."
_BODY: dict[str, Any] = {
    "requestBody": {
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "required": ["turn"],
                    "properties": {
                        "turn": {"type": "integer", "minimum": 0, "description": "Moves so far."},
                        "action": {
                            "description": "A text as a language model writes it, or the action as JSON."
                        },
                        "do": {
                            "enum": ["act", "hint", "expert", "expert-all", "restart", "resume", "leave"],
                            "default": "act",
                        },
                    },
                },
                "example": {"turn": 0, "action": "left"},
            }
        }
    }
}


def game_routes(room: Room) -> APIRouter:
    """Return the addresses below ``/play``."""
    router = APIRouter(prefix="/play", tags=["play"])

    @router.get("")
    async def games(request: Request) -> Response:
        """This session's games."""
        owner = _owner(request)
        found = await room.threads.run(room.keeper.games, owner)
        page = GamesPage(tuple(map(GamePage, found)), room.bounds.games_of_one)
        return answer(request, "play/games.html", page)

    @router.get("/{name}")
    async def look(
        request: Request,
        name: str,
        level: str | None = None,
        seed: str | None = None,
        moves: str | None = None,
    ) -> Response:
        """A game: this session's with that level and seed; begun where there is none, after ``moves``, a JSON list."""
        start = await room.threads.run(room.catalogue.start, name, level, seed)
        made = () if moves is None else read_moves(moves)
        if seed is None or name != _name(start):
            form = {"format": "json"} if request.query_params.get("format") == "json" else {}
            return RedirectResponse(address("play", start, made, **form), 303)

        async def page() -> Response:
            found = await room.threads.run(room.keeper.look, _owner(request), start, made)
            return answer(request, "play/game.html", _looked_at(found.game, made))

        return await answered(request, start, page)

    @router.post("/{name}", openapi_extra=_BODY)
    async def move(request: Request, name: str, seed: str, level: str | None = None) -> Response:
        """Make a move, ask for help, begin anew. A move of another turn changes nothing: status 409 and the game."""
        start = await room.threads.run(room.catalogue.start, name, level, seed)
        asked = (read_json if sends_json(request) else read_form)(await request.body())

        async def done() -> Response:
            found = await room.threads.run(_done, room, _owner(request), start, asked)
            return RedirectResponse("/play", 303) if found is None else _told(request, found)

        return await answered(request, start, done)

    @router.get("/{name}/episode")
    async def file(request: Request, name: str, seed: str, level: str | None = None) -> Response:
        """The game's episode as a file, which ``/replay`` and ``/play`` take back."""
        start = await room.threads.run(room.catalogue.start, name, level, seed)

        async def made() -> Response:
            game = (await room.threads.run(room.keeper.look, _owner(request), start)).game
            text = write_file(Episode(start, game.moves, game.about.file_sha256))
            kept_as = f'attachment; filename="{_name(start)}-{start.level or 0}-{start.seed}.json"'
            return Response(
                text.encode("utf-8", "replace"), 200, {"Content-Disposition": kept_as}, "application/json"
            )

        return await answered(request, start, made)

    return router


def _done(room: Room, owner: str, start: Start, asked: Asked) -> Answer | None:
    """Do what is asked; None where nothing is left of the game."""
    keeper, turn = room.keeper, asked.turn
    match asked.deed:
        case "act":
            return keeper.act(owner, start, turn, asked.words)
        case "hint":
            return keeper.hint(owner, start, turn)
        case "expert" | "expert-all":
            return keeper.expert(owner, start, turn, whole=asked.deed == "expert-all")
        case "restart":
            return keeper.begin(owner, start)
        case "resume":
            return keeper.begin(owner, start, keeper.look(owner, start).game.moves)
    keeper.leave(owner, start)
    return None


def _told(request: Request, found: Answer) -> Response:
    """Answer a move: by the game where something is to be told or a script asks, else by its address."""
    note = _STALE if found.stale else found.note
    page = GamePage(found.game, note, found.stale)
    if note or wants_json(request) or "hx-request" in request.headers:
        there = {"HX-Replace-Url": page.here}
        return answer(request, "play/game.html", page, status=409 if found.stale else 200, headers=there)
    return RedirectResponse(page.here, 303)


def _looked_at(game: Game, made: tuple[Move, ...]) -> GamePage:
    """Return a game's page; where the address holds other moves than the game, it says so."""
    if not made or made == game.moves:
        return GamePage(game)
    return GamePage(game, _OTHER, other=address("replay", game.start, made))


def _owner(request: Request) -> str:
    request.state.keep_session = True
    owner: str = request.state.session.id
    return owner


def _name(start: Start) -> str:
    return f"{start.env_id.name}-v{start.env_id.version}"
