"""How every address answers: a value as a page, or the same value as JSON; what went wrong, too."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlencode

from fastapi import Request, Response

from spade_envs.contract.plain import plain
from spade_envs.contract.printable import printable

JSON, PROBLEM_JSON = "application/json", "application/problem+json"


@dataclass(frozen=True, slots=True)
class Problem:
    """What went wrong, as RFC 9457 has it.

    Attributes:
        title: the status in words.
        detail: what was found, and what mends it.
        instance: the path that was asked for.
    """

    title: str
    status: int
    detail: str
    instance: str
    type: str = "about:blank"


def answer(
    request: Request,
    template: str,
    page: Any,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return a value as a page or, where that is asked for, as JSON.

    Args:
        request: what is answered: ``?format=json``, or JSON and no HTML in its header ``Accept``. Of another format
            than these two a question (GET) hears that there is none; what changes something has done so by now.
        template: the page's template; there the value is ``page``.
        page: a dataclass, or any value that :func:`spade_envs.contract.plain.plain` knows. One with a method
            ``as_dict`` says itself what its JSON is.
        status: of HTTP.
        headers: more headers.
    """
    if unknown := _unknown_format(request, page):
        return problem(request, 400, f"there is no format {printable(unknown)!r}; a page is html or json")
    if wants_json(request):
        kind = PROBLEM_JSON if isinstance(page, Problem) else JSON
        data = page.as_dict() if hasattr(page, "as_dict") else page
        return _varied(json.dumps(plain(data)).encode(), kind, status, headers)
    site = request.app.state.site
    html = site.templates.get_template(template).render(
        page=page,
        site=site,
        here=request.url.path,
        twin=_twin(request),
        csrf=request.state.session.csrf,
    )
    return _varied(html.encode("utf-8", "replace"), "text/html; charset=utf-8", status, headers)


def problem(request: Request, status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return what went wrong, as a page or as JSON."""
    title = HTTPStatus(status).phrase
    found = Problem(title, status, detail, printable(request.url.path))
    return answer(request, "error.html", found, status=status, headers=headers)


def sends_json(request: Request) -> bool:
    """Whether the request's body is JSON."""
    return request.headers.get("content-type", "").startswith(JSON)


def wants_json(request: Request) -> bool:
    """Say whether a request asks for JSON: who sends JSON does."""
    chosen = request.query_params.get("format")
    accepted = request.headers.get("accept", "")
    if sends_json(request):
        return chosen != "html"
    return chosen == "json" or (chosen != "html" and "json" in accepted and "html" not in accepted)


def _unknown_format(request: Request, page: Any) -> str | None:
    """Return the format that is asked for, None where there is such a one or the page says already what is wrong."""
    chosen = request.query_params.get("format") or "html"
    known = chosen in ("html", "json") or request.method != "GET" or isinstance(page, Problem)
    return None if known else chosen


def _varied(data: bytes, kind: str, status: int, headers: Mapping[str, str] | None) -> Response:
    own = {"Vary": "Accept", "Cache-Control": "private, no-cache"}
    return Response(data, status, {**own, **(headers or {})}, kind)


def _twin(request: Request) -> str:
    """Return the address of the page's JSON."""
    asked = parse_qsl(request.url.query, keep_blank_values=True)
    rest = [(name, value) for name, value in asked if name != "format"]
    return "?" + urlencode([*rest, ("format", "json")], errors="replace")
