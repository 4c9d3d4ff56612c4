"""Errors as answers: which status each has."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from spade_envs.contract.printable import printable
from spade_envs.errors import IsolationError, RegistryError, SpadeError, UnknownEnvironment, UsageError
from spade_envs.web.respond import problem

_STATUS: tuple[tuple[type[SpadeError], int], ...] = (
    (UnknownEnvironment, 404),
    (UsageError, 400),
    (RegistryError, 503),
    (IsolationError, 503),
    (SpadeError, 502),
)
"""The first that fits counts."""


def install(app: FastAPI) -> None:
    """Have an application answer errors by problems."""
    app.add_exception_handler(SpadeError, _of_ours)
    app.add_exception_handler(HTTPException, _of_http)
    app.add_exception_handler(RequestValidationError, _of_a_value)


def _of_ours(request: Request, error: Exception) -> Response:
    status = next(status for kind, status in _STATUS if isinstance(error, kind))
    return problem(request, status, str(error))


def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    said = _MEANINGS.get(error.status_code) if error.detail == _phrase(error) else None
    return problem(request, error.status_code, said or str(error.detail), error.headers)


def _of_a_value(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return problem(request, 400, "; ".join(map(_said, error.errors()[:5])))


def _said(error: dict[str, object]) -> str:
    where = error["loc"]
    assert isinstance(where, tuple)
    name = ".".join(str(part) for part in where[1:]) or str(where[0])
    return printable(f"{name}: {error['msg']}")


def _phrase(error: HTTPException) -> str:
    import http

    return http.HTTPStatus(error.status_code).phrase


_MEANINGS = {
    404: "There is no such page; the navigation shows those that there are.",
    405: "This address cannot be asked in this way.",
}
