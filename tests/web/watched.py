"""A tab under observation."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page, Request


class Watched:
    """What a page did besides showing itself.

    Attributes:
        outside: addresses that it asked of other servers.
        complaints: errors of scripts, and what the content-security policy forbade.
    """

    def __init__(self, page: Page, address: str) -> None:
        self.outside: list[str] = []
        self.complaints: list[str] = []
        self._address = address
        page.on("request", self._requested)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.on(
            "dialog", lambda dialog: (self.complaints.append(f"dialog {dialog.message}"), dialog.dismiss())
        )

    def _requested(self, request: Request) -> None:
        if not request.url.startswith((self._address, "data:")):
            self.outside.append(request.url)
