"""Runs as their folders tell, whatever state those are in: light, and never a traceback for a broken file."""

from __future__ import annotations

import contextlib
import fcntl
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from spade_train.runs.checkpoints import checkpoint_at
from spade_train.runs.folder import RunFolder, regular

State = Literal["finished", "running", "interrupted"]

_TABLE = (
    "designs",
    "compiled",
    "admitted",
    "regret",
    "success",
    "hinted_success",
    "loss",
    "gradient",
    "seconds",
)
"""What the table of rounds shows: an entry that lacks one of these was not written by a whole round."""


@dataclass(frozen=True)
class RunView:
    """A run at a glance.

    Attributes:
        done: rounds that are on record.
        planned: rounds that were asked for; None where the settings cannot be read.
        model: the last part of its name.
        success: the agent's, in the last round.
        regret: of the last round's new environments.
        environments: how many were admitted.
        state: finished, training now in some process, or neither.
        megabytes: what the folder holds.
    """

    name: str
    path: str
    done: int
    planned: int | None
    model: str
    success: float | None
    regret: float | None
    environments: int
    state: State
    megabytes: float

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return asdict(self)


def find_runs(folder: Path) -> list[RunView]:
    """Return the runs below a folder, by name; whatever else lies there is passed over."""
    paths = sorted(path.parent for path in folder.glob("*/config.json"))
    return [view_run(RunFolder(path)) for path in paths if is_run(path)]


def view_run(run: RunFolder, entries: Sequence[Mapping[str, Any]] | None = None) -> RunView:
    """Return a run at a glance; ``entries`` are its rounds, where they are known already."""
    entries = rounds(run) if entries is None else entries
    config = settings(run)
    last = entries[-1] if entries else {}
    planned = _part(config, "selfplay").get("rounds")
    newest = checkpoint_at(run)  # its weights may have been rolled back, and the records not
    goes_on = newest.round if newest else len(entries)
    spent = is_spent(_part(config, "selfplay").get("token_budget"), entries)
    ended = planned is not None and (spent or min(goes_on, len(entries)) >= planned)
    return RunView(
        name=run.path.name,
        path=str(run.path),
        done=len(entries),
        planned=planned,
        model=Path(str(config.get("model", "?"))).name,
        success=last.get("success"),
        regret=last.get("regret"),
        environments=len(admitted(run, entries)),
        state="running"
        if is_locked(run)
        else "finished"
        if ended and run.checkpoint.is_dir()
        else "interrupted",
        megabytes=round(_size(run.path) / 1e6, 1),
    )


def rounds(run: RunFolder) -> list[dict[str, Any]]:
    """Return the whole entries of ``rounds.jsonl``."""
    return [entry for entry in records(run, "rounds") if is_round(entry)]


def sampled(entries: Iterable[Mapping[str, Any]]) -> int:
    """Return how many tokens rounds have sampled: both roles', and what was only measured."""
    spent = (entry.get("tokens") for entry in entries)
    return sum(n for one in spent if isinstance(one, dict) for n in one.values() if isinstance(n, int))


def is_spent(budget: object, entries: Iterable[Mapping[str, Any]]) -> bool:
    """Whether rounds have sampled as many tokens as a run may; 0, or what is no number in a file, is no bound."""
    return isinstance(budget, int) and 0 < budget <= sampled(entries)


def is_round(entry: Mapping[str, Any]) -> bool:
    """Whether a whole round wrote this line."""
    if any(name not in entry for name in ("round", *_TABLE)) or not isinstance(entry["admitted"], list):
        return False
    numbers = (entry[name] for name in ("success", "hinted_success", "regret"))
    return all(
        one is None or isinstance(one, float) or (isinstance(one, int) and abs(one) < sys.float_info.max)
        for one in numbers
    )


def records(run: RunFolder, name: str) -> list[dict[str, Any]]:
    """Return the readable lines of a file of records, which a machine that stopped may have left half-written."""
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return [entry for entry in run.read(f"{name}.jsonl") if isinstance(entry, dict)]
    return []


def settings(run: RunFolder) -> dict[str, Any]:
    """Return ``config.json``; nothing where it is broken, nested without an end, too."""
    with contextlib.suppress(OSError, ValueError, RecursionError):
        read = json.loads(regular(run.path / "config.json").read_text())
        return read if isinstance(read, dict) else {}
    return {}


def changed(run: RunFolder) -> dict[str, tuple[Any, Any]]:
    """Return name -> (value, the preset's value or None), of every setting that a flag changed."""
    config = settings(run)
    values = _part(config, "grpo") | _part(config, "model_config") | _part(config, "selfplay")
    preset = _part(config, "preset_settings")
    said = config.get("flags")
    words = said if isinstance(said, list) else []
    flags = [word for word in words if isinstance(word, str) and word.startswith("--")]
    names = [flag[2:].partition("=")[0].replace("-", "_") for flag in flags]
    names = [name if name in values else name.removeprefix("no_") for name in names]
    found = {name: (values.get(name), preset.get(name)) for name in names}
    return {name: pair for name, pair in found.items() if name not in preset or pair[0] != pair[1]}


def contexts(run: RunFolder, round_: int | None = None) -> list[dict[str, Any]]:
    """Return what designers were told: of one round, counted from 0, or of the last one that designed."""
    known = [one for one in records(run, "contexts") if _is_context(one)]
    wanted = max((one["round"] for one in known), default=None) if round_ is None else round_
    return [one for one in known if one["round"] == wanted]


def _is_context(entry: dict[str, Any]) -> bool:
    reasons = entry.get("reasons")
    return (
        isinstance(entry.get("round"), int)
        and isinstance(reasons, list)
        and all(isinstance(one, dict) and {"piece", "what", "why"} <= one.keys() for one in reasons)
    )


def drawn_documents(run: RunFolder) -> list[str]:
    """Return the sources of the documents that designers were told, in the order in which they were."""
    told = [one.get("reasons") for one in records(run, "contexts")]
    reasons = [one for some in told if isinstance(some, list) for one in some if isinstance(one, dict)]
    return [str(one.get("what")) for one in reasons if one.get("piece") == "document"]


def admitted(run: RunFolder, entries: Sequence[Mapping[str, Any]] | None = None) -> list[str]:
    """Return the ids of the environments that the run has admitted and still holds, the oldest first."""
    known = rounds(run) if entries is None else entries
    ids = [str(env_id) for entry in known for env_id in entry["admitted"]]
    return [env_id for env_id in dict.fromkeys(ids) if _version_file(run, env_id).is_file()]


def sample(run: RunFolder, env_id: str | None = None) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return pairs of an unhinted and a hinted episode of one environment and seed, the newest first."""
    wanted = [one for one in records(run, "episodes") if env_id in (None, one.get("env_id"))]
    pairs: dict[tuple[Any, ...], dict[bool, dict[str, Any]]] = {}
    for one in wanted:
        place = (one.get("round"), one.get("env_id"), one.get("seed"))
        pairs.setdefault(place, {})[bool(one.get("hinted"))] = one
    whole = [(pair[False], pair[True]) for pair in pairs.values() if len(pair) == 2]
    return whole[::-1]


def _version_file(run: RunFolder, env_id: str) -> Path:
    name, _, version = env_id.removeprefix("spade/").rpartition("-")
    return run.registry / name / f"{version}.py"


def is_run(path: Path) -> bool:
    """Whether a folder is a run's; a name that no folder can have is none."""
    with contextlib.suppress(OSError):  # a name may be longer than the machine's names are
        return "selfplay" in settings(RunFolder(path)) or (path / "rounds.jsonl").is_file()
    return False


def _part(config: dict[str, Any], name: str) -> dict[str, Any]:
    part = config.get(name)
    return part if isinstance(part, dict) else {}


def is_locked(run: RunFolder) -> bool:
    """Whether a process trains in it: it holds the lock as long as it lives."""
    with contextlib.suppress(OSError), regular(run.path / ".lock").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def _size(folder: Path) -> int:
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # a run that goes on may have moved it
            total += path.stat().st_size if path.is_file() and not path.is_symlink() else 0
    return total
