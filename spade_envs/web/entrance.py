"""The page where a visitor says the token."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, FastAPI, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from spade_envs.web.guard import SIGN_IN
from spade_envs.web.pages import Pages
from spade_envs.web.respond import answer
from spade_envs.web.settings import WebSettings


@dataclass(frozen=True, slots=True)
class SignIn:
    """The page.

    Attributes:
        to: the address to go to afterwards.
        wrong: whether another token has been tried.
    """

    to: str
    wrong: bool = False


def pages(_: FastAPI, settings: WebSettings) -> Pages:
    """Return the addresses for signing in."""
    router = APIRouter(include_in_schema=False)

    @router.get(SIGN_IN)
    def ask(request: Request, to: Annotated[str, Query()] = "/") -> Response:
        return answer(request, "sign_in.html", SignIn(local(to)))

    @router.post(SIGN_IN)
    def check(
        request: Request, token: Annotated[str, Form()] = "", to: Annotated[str, Form()] = "/"
    ) -> Response:
        known = settings.token or ""
        if not hmac.compare_digest(token.encode("utf-8", "replace"), known.encode()):
            return answer(request, "sign_in.html", SignIn(local(to), wrong=True), status=401)
        request.state.sign_in = True  # the guard seals it into the cookie
        return RedirectResponse(local(to), 303)

    return Pages(router)


def local(address: str) -> str:
    """Return an address if it is one of this server, else the first page's."""
    inside = address.startswith("/") and address[1:2] not in ("/", "\\") and address.isprintable()
    return address if inside and address.isascii() else "/"
