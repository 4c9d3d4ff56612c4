"""What all tests share: Hypothesis without deadlines (a machine may be busy); a folder of designs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from spade_envs.isolation import QUARANTINE

settings.register_profile("spade", deadline=None, print_blob=True)
settings.load_profile("spade")


@pytest.fixture(autouse=True)
def amnesty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests kill the workers of the same few designs: what one did is not held against the next."""
    monkeypatch.setattr(QUARANTINE, "_deaths", {})


@pytest.fixture(scope="session")
def shared_designs() -> Path:
    """The folder of labelled designs and replies; the test is skipped where it does not exist."""
    root = os.environ.get("SPADE_SHARED") or Path(__file__).resolve().parents[2] / "shared"
    designs = Path(root) / "designs"
    if not designs.is_dir():
        pytest.skip("no folder of labelled designs (SPADE_SHARED)")
    return designs
