"""What tests of the registry's commands share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from life import lived

from spade_envs.registry import Registry

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def user(run: Run, tmp_path: Path) -> Registry:
    """The user's registry, in which things happened, to a shipped environment, too."""
    return lived(tmp_path / "user", "spade/LampRow-v0")
