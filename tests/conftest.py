"""What all tests share: Hypothesis without deadlines (a machine may be busy); a folder of designs."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from spade_envs.cli import app as cli
from spade_envs.isolation import QUARANTINE
from spade_envs.registry import stack

EXAMPLES = int(os.environ.get("SPADE_EXAMPLES", "30"))
"""Of each property that does not say its own: more where there is time."""
settings.register_profile("spade", deadline=None, print_blob=True, max_examples=EXAMPLES)
settings.load_profile("spade")


LONGEST = [
    *("test_wheel", "test_docs", "test_resume", "test_trl_flags", "test_round", "test_judging_cli"),
    *("test_container", "test_admission_novelty", "test_cli_output"),
    *("test_evaluation", "test_bad_input", "test_vector_hostile", "test_lockdown"),
]
"""Files that take longest are begun first: else one process ends long after the others. Those with a browser are not:
its event loop stays in their process."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the longest files first, and leave the others in their order."""
    place = {name: at for at, name in enumerate(LONGEST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(LONGEST)))


def pytest_collection_finish() -> None:
    """Keep what was imported (torch alone: a million objects) out of every later collection of garbage."""
    gc.freeze()


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


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run the command in an empty folder with an empty user registry; returns exit code, stdout, stderr."""
    monkeypatch.setenv("SPADE_REGISTRY", str(tmp_path / "user"))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv(stack.ADDED, "")
    monkeypatch.chdir(tmp_path)

    def command(*arguments: object) -> tuple[int, str, str]:
        code = cli.run([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in out + err
        return code, out, err

    return command
