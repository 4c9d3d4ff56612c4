"""What is evaluated: a run's trained model, one of its checkpoints, or any model; and what it is compared with."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spade_envs.errors import UsageError
from spade_train.evaluation.forgetting import run_of
from spade_train.models.model import resolve_model
from spade_train.playing.play import Limits
from spade_train.runs.checkpoints import checkpoint_at
from spade_train.runs.folder import RunFolder
from spade_train.runs.views import settings


@dataclass(frozen=True)
class Subject:
    """A model and the manner in which it plays.

    Attributes:
        name: what it is called in results.
        model: what ``from_pretrained`` loads.
        run: the folder of the run that made it; None for another model.
        base: the model that the run began with.
        selfplay, grpo: settings of the run; empty for another model.
    """

    name: str
    model: str
    run: Path | None = None
    base: str | None = None
    selfplay: dict[str, Any] = field(default_factory=dict)
    grpo: dict[str, Any] = field(default_factory=dict)

    @property
    def limits(self) -> Limits:
        """Return the tokens that the run's own episodes had; usual ones for another model."""
        return Limits(
            int(self.selfplay.get("prompt_tokens", 2048)),
            int(self.selfplay.get("turn_tokens", 128)),
            int(self.grpo.get("max_completion_length", 1024)),
        )

    @property
    def temperature(self) -> float:
        """Return the run's own temperature; 0.6 for another model, as SPADE samples."""
        return float(self.grpo.get("temperature", 0.6))


def find_subject(word: str) -> Subject:
    """Return what a word names: a run's folder, a checkpoint's, or a model.

    Raises:
        UsageError: there is no such run, checkpoint or model, or the run has saved nothing yet.
    """
    path = Path(word).expanduser()
    run = run_of(path) if path.is_dir() else None
    if run is None:
        return Subject(word, resolve_model(word, setting="MODEL"))
    config = settings(RunFolder(run))
    base = config.get("model")
    return Subject(
        str(path),
        str(_newest(run) if path.samefile(run) else path),
        run,
        base if isinstance(base, str) else None,
        *(config.get(part) or {} for part in ("selfplay", "grpo")),
    )


def _newest(run: Path) -> Path:
    folder = RunFolder(run)
    if folder.checkpoint.is_dir():
        return folder.checkpoint
    if (checkpoint := checkpoint_at(folder)) is not None:
        return checkpoint.path
    raise UsageError(f"{run} has saved no model yet. Evaluate it after a round, or name its model.")
