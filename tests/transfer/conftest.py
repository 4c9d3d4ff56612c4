"""Each test has a stack and a Gymnasium registry of its own, and an admission that plays nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import pytest

from spade_envs.admission import GateResult, Report, many
from spade_envs.contract import Finding, code_sha256, parse_header
from spade_envs.contract.header import Header
from spade_envs.registry import stack
from spade_envs.registry.gym_registration import LiveSpecs


@pytest.fixture(autouse=True)
def own_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPADE_REGISTRY", str(tmp_path / "user"))
    monkeypatch.setenv(stack.ADDED, "")
    monkeypatch.setattr(gymnasium.envs.registration, "registry", registry := LiveSpecs(gymnasium.registry))
    monkeypatch.setattr(gymnasium, "registry", registry)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Let designs be judged at once: all pass but those whose text holds a word. Returns what was judged, in order."""

    def prepare(refuse: str = "REFUSE", stop: str = "STOP") -> list[str]:
        seen: list[str] = []

        def judge(source: str, **_: Any) -> Report:
            if stop in source:
                raise KeyboardInterrupt
            header = parse_header(source)
            assert isinstance(header, Header)
            seen.append(str(header.id))
            findings = (Finding("made.up", "it is bad", "Mend it."),) if refuse in source else ()
            result = GateResult("made up", not findings, {}, findings)
            return Report(str(header.id), code_sha256(source), (result,), 0.0)

        monkeypatch.setattr(many, "judge", judge)
        return seen

    return prepare
