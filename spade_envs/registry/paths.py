"""Where registries and seed environments lie on this machine."""

from __future__ import annotations

import os
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]


def shipped_registry() -> Path:
    """Return the folder of the environments that come with this package. It is read-only."""
    return _shipped("registry")


def seeds_folder() -> Path:
    """Return the folder of the hand-written environments' working copies (one file each)."""
    return _shipped("seeds")


def user_registry() -> Path:
    """Return the user's own registry: ``SPADE_REGISTRY``, or a folder under the platform's data folder."""
    chosen = os.environ.get("SPADE_REGISTRY")
    if chosen:
        return Path(chosen).expanduser()
    from platformdirs import user_data_path

    return user_data_path("spade-envs", appauthor=False) / "registry"


def _shipped(name: str) -> Path:
    """An installed wheel carries its data inside the package, a checkout beside it."""
    installed = PACKAGE / "_data" / name
    return installed if installed.is_dir() else PACKAGE.parent / name
