"""Sessions: a name that nobody can guess, sealed into a cookie, so that the server keeps nothing of them."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from hashlib import sha256


@dataclass(frozen=True, slots=True)
class Session:
    """One visitor's browser.

    Attributes:
        id: what tells it from others.
        signed_in: whether the token was said.
        csrf: what forms and scripts of own pages send along, and no other page can know.
    """

    id: str
    signed_in: bool = False
    csrf: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Seal:
    """What makes and reads the cookies of one server; another one, and the same one started anew, has another key."""

    key: bytes = field(default_factory=lambda: secrets.token_bytes(32), repr=False)

    def new(self, session_id: str | None = None, *, signed_in: bool = False) -> Session:
        """Return a new session."""
        name = session_id or secrets.token_urlsafe(18)
        return Session(name, signed_in, self._mark(f"csrf {name} {signed_in:d}"))

    def cookie(self, session: Session) -> str:
        """Return what a cookie holds of a session."""
        text = f"{session.id}.{session.signed_in:d}"
        return f"{text}.{self._mark(text)}"

    def read(self, cookie: str) -> Session | None:
        """Return the session that a cookie holds, None where this server has not sealed it."""
        text, _, mark = cookie.rpartition(".")
        name, _, signed_in = text.rpartition(".")
        if not name or not hmac.compare_digest(mark.encode(), self._mark(text).encode()):
            return None
        return self.new(name, signed_in=signed_in == "1")

    def _mark(self, text: str) -> str:
        return hmac.new(self.key, text.encode("utf-8", "replace"), sha256).hexdigest()
