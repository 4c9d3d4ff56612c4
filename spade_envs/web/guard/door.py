"""The door: each request is looked at in one order, and let in or told why not."""

from __future__ import annotations

import hmac
import logging
import math
from dataclasses import dataclass, field
from http import cookies
from urllib.parse import quote

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spade_envs.contract.printable import printable
from spade_envs.web.guard import bodies, forged, origin
from spade_envs.web.guard.headers import SAFE
from spade_envs.web.guard.rates import Buckets
from spade_envs.web.guard.sessions import Seal, Session
from spade_envs.web.respond import problem, wants_json
from spade_envs.web.settings import WebSettings

SIGN_IN = "/sign-in"
OPEN = ("/health", SIGN_IN)
"""What a visitor may ask who has not said the token; the files of ``/static/``, too."""

_LOG = logging.getLogger("spade_envs.web")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not let in."""

    status: int
    detail: str
    headers: dict[str, str] = field(default_factory=dict)


class Guard:
    """ASGI middleware around all pages.

    Args:
        app: what is guarded.
        settings: who may ask, and how much.
        methods: by which pages are asked; None for any.
    """

    def __init__(self, app: ASGIApp, settings: WebSettings, methods: frozenset[str] | None = None) -> None:
        self._app, self._settings, self._methods = app, settings, methods
        self._seal = Seal()
        self._requests, self._sign_ins = Buckets(settings.rate), Buckets(settings.sign_in_rate)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let one request in, or answer it."""
        if scope["type"] == "http":
            if scope["method"] == "HEAD":  # as GET; the server itself leaves the body out
                scope = {**scope, "method": "GET"}
            await self._http(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        session = self._session(request)
        request.state.session = session or self._seal.new()
        outgoing = _Outgoing(send, request, self, new=session is None)
        refusal = self._refusal(request)
        if refusal is None and request.method not in origin.SAFE_METHODS:
            body, refusal = await self._body(request, receive)
            receive = bodies.again(body, receive)
        if refusal is not None:
            answered = self._refused(request, refusal)
            await answered(scope, receive, outgoing)
            return
        try:
            await self._app(scope, receive, outgoing)
        except Exception:
            _LOG.exception("%s %s failed", request.method, request.url.path)
            if not outgoing.begun:
                said = "The server failed at this; its log says where. Other pages may still answer."
                await problem(request, 500, said)(scope, receive, outgoing)

    def _refusal(self, request: Request) -> Refusal | None:
        """Look at all of a request but its body."""
        target = len(request.scope.get("raw_path") or b"") + len(request.scope["query_string"])
        if target > self._settings.target_limit:
            return Refusal(
                414, f"An address has at most {self._settings.target_limit:,} bytes here; ask for less."
            )
        if wait := self._wait(request):
            again = str(math.ceil(wait))
            return Refusal(429, f"Too many requests; try again in {again} s.", {"Retry-After": again})
        if self._settings.token is None and (wrong := self._of_host(request)):
            return wrong
        if origin.foreign(request.method, request.headers):
            return Refusal(403, "Another site's page may not ask this server; open the address itself.")
        if not self._may_see(request):
            return Refusal(401, "A token is needed: sign in, or send it as `Authorization: Bearer TOKEN`.")
        return None

    def _of_host(self, request: Request) -> Refusal | None:
        """Look whom a request is meant for."""
        host = request.headers.get("host", "")
        own = "[{}]:{}" if ":" in self._settings.host else "{}:{}"
        own = own.format(self._settings.host, (request.scope.get("server") or ("", 80))[1])
        if not host.strip():
            return Refusal(400, f"The request names no host; send its header, for example `Host: {own}`.")
        if not origin.own_host(host, self._settings.host):
            return Refusal(421, f"This server answers under its own address only, for example http://{own}/.")
        return None

    async def _body(self, request: Request, receive: Receive) -> tuple[bytes, Refusal | None]:
        """Read a body, and look whether its sender may change anything."""
        try:
            body = await bodies.read(receive, self._settings.body_limit)
        except bodies.TooLargeError:
            most = self._settings.body_limit
            return b"", Refusal(413, f"A request has at most {most:,} bytes here.", {"Connection": "close"})
        except bodies.TooSlowError:
            return b"", Refusal(408, "The request did not come to its end.", {"Connection": "close"})
        if self._methods is not None and request.method not in self._methods:
            allowed = ", ".join(sorted({*self._methods, "HEAD"}))
            return b"", Refusal(
                405, f"Nothing is asked by {printable(request.method)} here.", {"Allow": allowed}
            )
        if body and forged.media_type(request.headers) not in (forged.FORM, forged.JSON):
            return b"", Refusal(415, "Send a form (application/x-www-form-urlencoded) or application/json.")
        if not self._bears(request) and not forged.proven(request.state.session, request.headers, body):
            return b"", Refusal(
                403, "The page that sent this is out of date; load it anew, and send it again."
            )
        return body, None

    def _wait(self, request: Request) -> float:
        client = request.client.host if request.client else ""
        tries = request.method == "POST" and request.url.path == SIGN_IN
        if self._settings.token and request.headers.get("authorization", "").lower().startswith("bearer "):
            tries = not self._bears(request)  # a guess is as slow here as at the form
        return self._requests.wait(client) or (self._sign_ins.wait(client) if tries else 0.0)

    def _may_see(self, request: Request) -> bool:
        path = request.url.path
        return (
            self._settings.token is None
            or path in OPEN
            or path.startswith("/static/")
            or request.state.session.signed_in
            or self._bears(request)
        )

    def _bears(self, request: Request) -> bool:
        """Say whether a request carries the token itself, which no browser sends of its own accord."""
        kind, _, said = request.headers.get("authorization", "").partition(" ")
        token = self._settings.token
        return (
            token is not None
            and kind.lower() == "bearer"
            and hmac.compare_digest(said.strip().encode("utf-8", "replace"), token.encode())
        )

    def _refused(self, request: Request, refusal: Refusal) -> Response:
        if refusal.status == 401 and request.method == "GET" and not wants_json(request):
            there = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            return RedirectResponse(f"{SIGN_IN}?to={quote(there, safe='/')}", 303)
        bearer = {"WWW-Authenticate": "Bearer"} if refusal.status == 401 else {}
        return problem(request, refusal.status, refusal.detail, {**refusal.headers, **bearer})

    def _session(self, request: Request) -> Session | None:
        try:
            held = cookies.SimpleCookie(request.headers.get("cookie", "")).get(cookie_name(request))
        except cookies.CookieError:
            return None
        return self._seal.read(held.value) if held else None

    def cookie(self, request: Request) -> str:
        """Return the header that gives a visitor the session; a new one for who has just signed in."""
        session: Session = request.state.session
        if getattr(request.state, "sign_in", False):
            session = self._seal.new(signed_in=True)
        secure = "; Secure" if request.url.scheme == "https" else ""
        return f"{cookie_name(request)}={self._seal.cookie(session)}; Path=/; HttpOnly; SameSite=Lax{secure}"


class _Outgoing:
    """What an answer goes through on its way out."""

    def __init__(self, send: Send, request: Request, guard: Guard, *, new: bool) -> None:
        self._send, self._request, self._guard, self._new = send, request, guard, new
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(raw=message.setdefault("headers", []))
            headers.update(SAFE)
            page = headers.get("content-type", "").startswith("text/html")
            kept = page or getattr(self._request.state, "keep_session", False)  # something is held of it
            if (self._new and kept) or getattr(self._request.state, "sign_in", False):
                headers.append("Set-Cookie", self._guard.cookie(self._request))
        await self._send(message)


def cookie_name(request: Request) -> str:
    """Return the name of this server's cookie: browsers do not tell ports apart, two servers must."""
    server = request.scope.get("server") or ("", 0)
    return f"spade_{server[1] or 0}"
