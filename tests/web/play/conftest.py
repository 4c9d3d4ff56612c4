"""One server over one registry of designs to play: shipped ones, and hostile ones."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("fastapi", reason="the extra `web` is not installed")

import httpx2
from play_designs import DESIGNS
from servers import serving
from shelf import publish

from spade_envs.registry import Registry
from spade_envs.web import WebSettings


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server; tabs of these tests are tabs of it."""
    registry = Registry(tmp_path_factory.mktemp("play") / "registry")
    for name in ("LampRow", "MazeKey", "WordSorter", "StockRoom"):
        publish(registry, name)
    for name, source in DESIGNS.items():
        registry.add(source.replace("spade/Sample-v0", f"spade/{name}-v0"), {"code_sha256": "", "gates": []})
    with serving(WebSettings(stack=[registry])) as address:
        yield address


@pytest.fixture
def client(site: str) -> Iterator[httpx2.Client]:
    """A visitor without a browser."""
    with httpx2.Client(verify=False, base_url=site, follow_redirects=True) as found:
        yield found
