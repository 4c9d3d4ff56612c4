"""Whether it is the disk that a run has failed by."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

LITTLE = 16 * 2**20
"""Bytes: with less, the disk is full."""


def is_full(folder: Path, problem: BaseException) -> bool:
    """Whether the disk of this folder is full, by what an exception says or by what is left."""
    return getattr(problem, "errno", None) == errno.ENOSPC or shutil.disk_usage(folder).free < LITTLE
