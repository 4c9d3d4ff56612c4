"""What a person sees while a run goes on: on terminals of any width, in pipes, without colours."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console

from spade_train.clock import PHASES
from spade_train.display import Display

ENTRY: dict[str, Any] = {
    "round": 0,
    "designs": 2,
    "compiled": 2,
    "admitted": ["spade/New-v0"],
    "success": 0.25,
    "hinted_success": None,
    "seconds": {"play": 3.0},
}


def played(console: Console, rounds: int = 2) -> tuple[Display, list[str]]:
    """Play one round; return the display and the lines as they were drawn one after the other."""
    with Display(rounds, console) as display:
        display.begin(0)
        for phase in PHASES:
            display.phase(phase)
            display._progress.refresh()
        display.round(ENTRY)
        display._progress.refresh()
        text = console.file.getvalue()  # type: ignore[attr-defined]
    return display, re.split(r"\r?\n|\r", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text))


def terminal(width: int, **options: Any) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, soft_wrap=True, **options)


@pytest.mark.parametrize("width", [120, 80, 60, 40, 30])
def test_the_time_left_is_seen_on_terminals_of_any_width(width: int) -> None:
    _, lines = played(terminal(width))
    bars = [line.rstrip() for line in lines if "left" in line]
    assert len(bars) > 4
    for bar in bars:
        assert re.search(r"left (-|\d+):[-\d]+:[-\d]+$", bar), bar
        assert len(bar) <= width


def test_a_round_that_is_done_counts_whole() -> None:
    display, _ = played(terminal(80))
    (task,) = display._progress.tasks
    assert task.completed * 2 == task.total
    display, _ = played(terminal(80), rounds=1)
    assert display._progress.finished


def test_a_pipe_gets_plain_lines() -> None:
    _, lines = played(Console(file=io.StringIO(), soft_wrap=True))
    assert [line for line in lines if line] == [
        "round 1/2: designing environments",
        "round 1/2: admitting them",
        "round 1/2: playing without and with hints",
        "round 1/2: learning",
        "round 1/2: 2 designs, 2 compiled, 1 admitted; success 0.25, with the hint -; 3 s",
    ]


def test_a_round_that_begins_anew_is_the_same_round() -> None:
    console = Console(file=io.StringIO(), soft_wrap=True)
    with Display(3, console) as display:
        for _ in range(2):
            display.begin(1)
            display.phase("play")
        display.round({**ENTRY, "round": 1, "skipped": "OSError: [gone]"})
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    play = "round 2/3: playing without and with hints"
    assert lines == [play, play, "round 2/3: skipped: OSError: [gone]"]


def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    console = terminal(80)
    played(console)
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", console.file.getvalue())  # type: ignore[attr-defined]
