"""Each test counts its own processes."""

from __future__ import annotations

import processes
import pytest


@pytest.fixture(autouse=True)
def older(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "OLDER", set(processes.all_workers()))
