"""What tests of the pages share: one registry, one real server over it, one real browser."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("fastapi", reason="the extra `web` is not installed")

from servers import UNLIMITED, serving
from shelf import filled
from watched import Watched

from spade_envs.registry import Registry
from spade_envs.web import WebSettings

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("SPADE_CHROMIUM") or shutil.which("chromium")
_FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="session")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    """A registry that tests only read."""
    return filled(tmp_path_factory.mktemp("shelf") / "registry")


@pytest.fixture(scope="session")
def site(shelf: Registry) -> Iterator[str]:
    """The address of a server over that registry."""
    with serving(WebSettings(stack=[shelf], sign_in_rate=UNLIMITED)) as address:
        yield address


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    """Start another server, which ends with the test; returns its address."""
    with ExitStack() as stack:

        def start(*, hurried: bool = True, **settings: Any) -> str:
            return stack.enter_context(serving(WebSettings(**settings), hurried=hurried))

        yield start


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A Chromium."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine (apt install chromium, or SPADE_CHROMIUM=/path)")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=CHROMIUM, headless=True, args=list(_FLAGS))
        yield running
        running.close()


@pytest.fixture
def tab(browser: Browser, site: str) -> Iterator[Page]:
    """A new tab, relative to the server's address; the test fails where a page asked elsewhere or a script failed."""
    with browser.new_context(base_url=site) as context:
        page = context.new_page()
        watched = Watched(page, site)
        yield page
        assert watched.outside == []
        assert watched.complaints == []


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which looks for what keeps people from using a page."""
    return (Path(__file__).parent / "axe" / "axe.min.js").read_text()
