"""What a person sees while a run goes on, and its table at the end."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from spade_train.clock import PHASES

_DOING = {
    "design": "designing environments",
    "admit": "admitting them",
    "play": "playing without and with hints",
    "train": "learning",
}
_SHARE = {"design": 15.0, "admit": 10.0, "play": 25.0, "train": 50.0}  # of a round's time, roughly


class Display:
    """A progress bar with the time left on a terminal; plain lines elsewhere. ``NO_COLOR`` is honoured."""

    def __init__(self, rounds: int, console: Console | None = None, done: int = 0) -> None:
        self.console = console or Console(highlight=False)
        self._rounds, self._round, self._phase = rounds, done, ""
        self._progress = Progress(
            *_columns(self.console.width),
            console=self.console,
            transient=True,
            disable=not self.console.is_terminal,
            speed_estimate_period=3600,  # phases differ in speed: judge by all that has passed
        )
        self._task = self._progress.add_task(
            "starting", total=rounds * sum(_SHARE.values()), completed=int(done * sum(_SHARE.values()))
        )

    def __enter__(self) -> Display:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        self._progress.stop()

    def begin(self, number: int) -> None:
        """Note that round ``number``, counted from 0, begins, or begins anew."""
        self._round = number + 1

    def phase(self, name: str) -> None:
        """Say what begins."""
        before = sum(_SHARE[phase] for phase in PHASES[: PHASES.index(name)])
        text = f"round {self._round}/{self._rounds}: {_DOING[name]}"
        done = (self._round - 1) * sum(_SHARE.values()) + before
        self._progress.update(self._task, description=_fitting(text, self.console.width), completed=done)
        if not self.console.is_terminal:
            self.console.print(text)

    def advance(self, share: float) -> None:
        """Note that this share of the training phase, in (0, 1], is done."""
        self._progress.advance(self._task, share * _SHARE["train"])

    def round(self, entry: dict[str, Any]) -> None:
        """Print what became of the round, which is done."""
        self._progress.update(self._task, completed=self._round * sum(_SHARE.values()))
        if why := entry.get("skipped"):
            self.console.print(f"round {entry['round'] + 1}/{self._rounds}: skipped: {why}", markup=False)
            return
        self.console.print(
            f"round {entry['round'] + 1}/{self._rounds}: {entry['designs']} designs, "
            f"{entry['compiled']} compiled, {len(entry['admitted'])} admitted; "
            f"success {_number(entry['success'])}, with the hint {_number(entry['hinted_success'])}; "
            f"{_seconds(entry)} s"
        )
        for alarm in entry.get("alarms", ()):
            self.console.print(f"  alarm: {alarm}", markup=False)


_TIMES = len(" 0:00:00 left 0:00:00")
_BAR = 24


def _columns(width: int) -> list[ProgressColumn]:
    """What is shown side by side: where room is short there is no bar, but always the time left."""
    bar = [BarColumn(bar_width=_BAR)] if width >= 80 else []
    return [
        TextColumn("{task.description}"),
        *bar,
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    ]


def _fitting(text: str, width: int) -> str:
    """Cut a text so that the times stay in the line."""
    room = max(1, width - _TIMES)
    return text if len(text) <= room else text[: room - 1] + "…"


def summary(entries: list[dict[str, Any]]) -> Table:
    """Return the run's table, one row a round; it fits into 80 columns."""
    # "gradients": of the designer's and of the agent's rows, at the last hidden state
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    for column in (
        *("#", "designs", "compiled", "admitted", "regret"),
        *("success", "hinted", "loss", "gradients", "s"),
    ):
        table.add_column(column, justify="right", no_wrap=True)
    for entry in entries:
        table.add_row(
            str(entry["round"] + 1),
            str(entry["designs"]),
            str(entry["compiled"]),
            str(len(entry["admitted"])),
            _regret(entry),
            _number(entry["success"]),
            _number(entry["hinted_success"]),
            f"{entry['loss']:.3f}",
            _gradients(entry),
            _seconds(entry),
        )
    return table


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _regret(entry: dict[str, Any]) -> str:
    if entry["regret"] is None:
        return "-"
    error = "" if entry["regret_error"] is None else f"±{entry['regret_error']:.2f}"
    return f"{entry['regret']:+.2f}{error}"


def _seconds(entry: dict[str, Any]) -> str:
    return f"{sum(entry['seconds'].values()):.0f}"


def _gradients(entry: dict[str, Any]) -> str:
    return " / ".join(f"{entry['gradient'].get(role, 0.0):.2g}" for role in ("designer", "agent"))
