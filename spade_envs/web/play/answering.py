"""How the addresses of games answer what cannot be: no room, a fault, as pages and as problems."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import Request, Response

from spade_envs.errors import WorkerFault
from spade_envs.web.play.episodes import address
from spade_envs.web.play.game import Start
from spade_envs.web.play.game_views import FaultPage
from spade_envs.web.play.seats import NoRoom
from spade_envs.web.respond import answer, problem, wants_json


async def answered(request: Request, start: Start, make: Callable[[], Awaitable[Response]]) -> Response:
    """Return what ``make`` does; where a game cannot be had now, what says so and how to try again."""
    try:
        return await make()
    except NoRoom as full:
        return problem(request, 503, str(full), {"Retry-After": "5"})
    except WorkerFault as fault:
        said = f"{fault.kind}: {fault}"
        if wants_json(request):
            return problem(request, 502, said)
        again = address("play", start)
        return answer(request, "play/fault.html", FaultPage(start, said, again), status=502)
