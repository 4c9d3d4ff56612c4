"""The shipped registry: what stands in `seeds/` is what its newest versions are."""

from __future__ import annotations

from pathlib import Path

import pytest

from spade_envs.contract import Header, parse_header, set_version
from spade_envs.registry import Registry, seeds_folder, shipped_registry

SEEDS = sorted(seeds_folder().glob("*.py"))


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: path.stem)
def test_the_newest_version_is_the_seed_file(path: Path) -> None:
    source = path.read_text()
    header = parse_header(source)
    assert isinstance(header, Header)
    registry = Registry(shipped_registry(), read_only=True)
    versions = [env_id for env_id in registry.ids() if env_id.name == header.id.name]
    publish = f"spade-envs admit {path.name} --registry {registry.root.name}"
    assert versions, f"{path.name} is not published: {publish}"
    newest = max(versions)
    assert registry.source(newest) == set_version(source, newest.version), (
        f"{path.name} has changed: {publish}"
    )
    assert registry.report(newest)["admitted"] is True


def test_eight_seeds_cover_the_domains() -> None:
    headers = [parse_header(path.read_text()) for path in SEEDS]
    domains = [header.domain for header in headers if isinstance(header, Header)]
    assert len(domains) == len(SEEDS) >= 8
    assert set(domains) == {"games", "math", "planning", "language", "code", "science", "tools"}
    assert domains.count("tools") >= 2
