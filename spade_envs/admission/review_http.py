"""A reviewer behind any endpoint that speaks OpenAI's chat completions, with the standard library only."""

from __future__ import annotations

import json
import os
import time
import urllib.request
from dataclasses import dataclass, field
from http.client import HTTPResponse
from typing import Any

from spade_envs.errors import UsageError

REPLY_LIMIT = 1_000_000  # bytes


@dataclass(frozen=True, slots=True)
class HttpReviewer:
    """Asks ``<url>/chat/completions``.

    Attributes:
        url: base address, for example ``http://localhost:8000/v1``.
        name: the model.
        key: sent as a bearer token where it is not empty.
        seconds: the whole time that one reply may take.
    """

    url: str
    name: str
    key: str = field(default="", repr=False)
    seconds: float = 60.0

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise UsageError(
                f"the reviewer's address must begin with http:// or https://, found {self.url!r}"
            )

    def ask(self, prompt: str) -> str:
        """Return the reply to a prompt.

        Raises:
            OSError: no connection, an error status, or too late.
            ValueError: an answer of another form.
        """
        body = {"model": self.name, "messages": [{"role": "user", "content": prompt}], "temperature": 0}
        headers = {"Content-Type": "application/json"}
        headers |= {"Authorization": f"Bearer {self.key}"} if self.key else {}
        request = urllib.request.Request(
            f"{self.url.rstrip('/')}/chat/completions", json.dumps(body).encode(), headers
        )
        deadline = time.monotonic() + self.seconds
        with _OPENER.open(request, timeout=self.seconds) as response:
            return _content(json.loads(_read(response, deadline)))


def from_environment() -> HttpReviewer | None:
    """Return the reviewer that SPADE_REVIEW_URL, _MODEL and _KEY name; None where the first is not set.

    Raises:
        UsageError: an address without a model, or one that is no web address.
    """
    url, model = os.environ.get("SPADE_REVIEW_URL"), os.environ.get("SPADE_REVIEW_MODEL")
    if not url:
        return None
    if not model:
        raise UsageError("SPADE_REVIEW_URL is set, SPADE_REVIEW_MODEL is not; name the model that reviews")
    return HttpReviewer(url, model, os.environ.get("SPADE_REVIEW_KEY", ""))


class _Stay(urllib.request.HTTPRedirectHandler):
    """Follows no redirection: the key would go along to another host."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Return no request, which makes the redirection an error."""


_OPENER = urllib.request.build_opener(_Stay)


def _read(response: HTTPResponse, deadline: float) -> bytes:
    """Read an answer whole; a socket's own timeout would begin anew with every byte."""
    data = b""
    while chunk := response.read1(65_536):
        data += chunk
        if len(data) > REPLY_LIMIT:
            raise ValueError(f"the answer has more than {REPLY_LIMIT} bytes")
        if time.monotonic() > deadline:
            raise TimeoutError("the answer took too long")
    return data


def _content(answer: Any) -> str:
    try:
        content = answer["choices"][0]["message"]["content"]
    except (KeyError, IndexError, TypeError):
        raise ValueError(f"the answer holds no message: {str(answer)[:200]}") from None
    if not isinstance(content, str):
        raise ValueError(f"the message is no text: {str(content)[:200]}")
    return content
