"""What a room adds to the site, be it one of this package or of another one."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

from fastapi import APIRouter, FastAPI

from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_envs.web.settings import WebSettings

_LOG = logging.getLogger(__name__)
GROUP = "spade_envs.web"
"""The entry point group: each value is a callable like :data:`Maker`."""


@dataclass(frozen=True, slots=True)
class Link:
    """One entry of the navigation.

    Attributes:
        below: how the paths begin of the pages that belong to it; by default as its own with a slash.
    """

    text: str
    path: str
    below: str = ""

    def current(self, here: str) -> str:
        """Return what ``aria-current`` says of it on a page: "page", "true" below it, else nothing."""
        if here == self.path:
            return "page"
        return "true" if here.startswith(self.below or f"{self.path}/") else ""


@dataclass(frozen=True, slots=True)
class Pages:
    """What a room adds.

    Attributes:
        router: its addresses. Each answers by :func:`spade_envs.web.answer`, so that it has a JSON twin.
        links: what the navigation shows of it.
        templates: a folder of templates, each in a folder of the room's own name; None: beside this package's.
        static: a folder of files that are served below ``/static/``; None: beside this package's.
        open: called in a thread when the server begins, to make ready what the first page needs.
        close: called when the server ends.
    """

    router: APIRouter
    links: tuple[Link, ...] = ()
    templates: Path | None = None
    static: Path | None = None
    open: Callable[[], None] | None = None
    close: Callable[[], None] | None = None


Maker = Callable[[FastAPI, WebSettings], Pages]


def of_other_packages() -> Iterator[Maker]:
    """Yield what makes the pages of other packages, by name; those that need what is not installed are left out.

    Raises:
        UsageError: one cannot be loaded for another reason.
    """
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            yield point.load()
        except ImportError as error:
            _LOG.warning("the pages %r are left out: %s", point.name, printable(str(error)))
        except Exception as error:
            raise UsageError(
                f"the pages {point.name!r} ({point.value}) cannot be loaded ({error}); mend or uninstall the package "
                "that offers them"
            ) from error
