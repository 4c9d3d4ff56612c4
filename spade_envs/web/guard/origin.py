"""Where a request comes from: this server's own pages, a person, a program; or another site's page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from spade_envs.web.settings import is_loopback

_HOST = re.compile(r"(?:(?P<name>[A-Za-z0-9.-]+)|\[(?P<six>[0-9A-Fa-f:.]+)\])(?::[0-9]{1,5})?")
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
"""What changes nothing."""


def own_host(host: str, bound: str) -> bool:
    """Say whether a request is meant for this server.

    A foreign name that was made to point here (DNS rebinding) would have a browser take this server's pages for that
    site's own.

    Args:
        host: the header ``Host``.
        bound: the address the server listens on.
    """
    found = _HOST.fullmatch(host)
    name = (found["name"] or found["six"]).lower() if found else ""
    return is_loopback(name) or (bool(name) and name == bound.lower())


def foreign(method: str, headers: Mapping[str, str]) -> bool:
    """Say whether another site's page made a request, be it to read, to embed or to change something.

    To follow a link from there is no such thing.

    Args:
        method: of HTTP, in capitals.
        headers: by their names in small letters.
    """
    changes = method not in SAFE_METHODS
    origin = headers.get("origin")
    if changes and origin is not None and _place(origin) != headers.get("host", "").lower():
        return True
    if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
        return False
    return (
        changes or headers.get("sec-fetch-mode") != "navigate" or headers.get("sec-fetch-dest") != "document"
    )


def _place(origin: str) -> str | None:
    """Return an origin's host and port as the header ``Host`` has them, None for one that is no address."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None
