"""Whether what changes something was sent by one of this server's own pages (CSRF)."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from urllib.parse import parse_qs

from spade_envs.web.guard.sessions import Session

HEADER, FIELD = "x-csrf-token", "csrf_token"
FORM, JSON = "application/x-www-form-urlencoded", "application/json"


def media_type(headers: Mapping[str, str]) -> str:
    """Return what a body is, without its parameters."""
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def proven(session: Session, headers: Mapping[str, str], body: bytes) -> bool:
    """Say whether a request carries the session's token, or is one that no other site's page can send.

    JSON is such a one: a browser asks this server first whether another site may send it, and is told no.
    """
    kind = media_type(headers)
    if kind == JSON:
        return True
    said = headers.get(HEADER)
    if said is None and kind == FORM:
        said = _field(body)
    return said is not None and hmac.compare_digest(said.encode("utf-8", "replace"), session.csrf.encode())


def _field(body: bytes) -> str | None:
    try:
        return parse_qs(body.decode("utf-8", "replace"), max_num_fields=100).get(FIELD, [None])[0]
    except ValueError:
        return None
