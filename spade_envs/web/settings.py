"""What a server of pages is told when it starts."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path

from spade_envs.errors import UsageError
from spade_envs.registry.stack import Stack, registries

TOKEN_LENGTH = 16
"""The least length of a token, in characters."""


@dataclass(frozen=True, slots=True)
class Rate:
    """How many requests one address may make.

    Attributes:
        per_second: for as long as it likes.
        burst: at once.
    """

    per_second: float
    burst: int


@dataclass(frozen=True, slots=True)
class WebSettings:
    """What a server of pages is told.

    Attributes:
        host: the address it listens on: a loopback one, or any with a token.
        port: its port; 0 for a free one.
        token: a secret that visitors have to know; None where whoever reaches the loopback address may look.
        stack: the registries that are shown; None for those in force at each question.
        runs: the folder of the training runs that are shown; None for ``runs`` where the server was started.
        body_limit: the most bytes of a request's body.
        target_limit: the most bytes of a request's path and query.
        rate: of all requests.
        sign_in_rate: of attempts to sign in.

    Raises:
        UsageError: an address that others can reach without a token, or a token that is too short.
    """

    host: str = "127.0.0.1"
    port: int = 8400
    token: str | None = field(default=None, repr=False)
    stack: Stack | None = None
    runs: Path | None = None
    body_limit: int = 256_000
    target_limit: int = 8_000
    rate: Rate = Rate(per_second=100, burst=500)
    sign_in_rate: Rate = Rate(per_second=0.2, burst=5)

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            raise UsageError(
                f"{self.host} can be reached from other machines, so a token is needed: put a secret of at least "
                f"{TOKEN_LENGTH} characters into SPADE_WEB_TOKEN or a file (--token-file), or leave out --host"
            )
        if self.token is not None and len(self.token) < TOKEN_LENGTH:
            raise UsageError(
                f"the token is too short to be a secret: take at least {TOKEN_LENGTH} characters, for example from "
                "`python -c 'import secrets; print(secrets.token_urlsafe())'`"
            )

    @property
    def registries(self) -> Stack:
        """The registries to ask, the topmost last."""
        return registries() if self.stack is None else self.stack


def is_loopback(host: str) -> bool:
    """Say whether a host's name or address can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
