"""A run's folder, read as it grows: what was appended is read once, and a run that was taken back is read anew."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, TypeVar

from spade_train.report.gathering import BROKEN, FILES, Beginning, Gathered, Line, Plays
from spade_train.report.rounds import asked_for, evaluated, finished, going
from spade_train.report.tail import Tail
from spade_train.report.values import Designs, Evaluated, RoundFacts, RunFacts
from spade_train.runs.folder import RunFolder, regular
from spade_train.runs.views import changed, settings, view_run

_Made = TypeVar("_Made")


class RunReader:
    """Reads one run; each :meth:`read` costs as much as was written since the last one."""

    def __init__(self, run: RunFolder) -> None:
        self.run = run
        self._begin()

    def read(self) -> RunFacts:
        """Return the run as it is now; of a folder that is gone, a run of nothing."""
        if any(tail.is_cut() for tail in self._tails.values()):
            self._begin()
        for name, tail in self._tails.items():
            for place, line in tail.lines():
                self._take(name, place, line)
        return self._facts()

    def episodes(self) -> list[Beginning]:
        """Return what was played both without and with the hint, the newest first."""
        shown = self._known.shown
        pairs = [key for number in sorted(shown) for key, places in shown[number].items() if len(places) == 2]
        return pairs[::-1]

    def episode(self, beginning: Beginning) -> tuple[Line, Line] | None:
        """Return the lines of an unhinted and a hinted episode; None where they are not there."""
        places = self._known.shown.get(beginning[0], {}).get(beginning, {})
        plain, hinted = (self._line("episodes", places.get(hint)) for hint in (False, True))
        return (plain, hinted) if plain is not None and hinted is not None else None

    def lines(self, name: Literal["designs", "contexts"], number: int) -> list[Line]:
        """Return a round's lines of a file."""
        places = self._places(name).get(number, [])
        return [line for place in places if (line := self._line(name, place)) is not None]

    def rounds_of(self, name: Literal["designs", "contexts"]) -> list[int]:
        """Return the rounds that have lines in a file, ascending."""
        return sorted(self._places(name))

    def _places(self, name: Literal["designs", "contexts"]) -> dict[int, list[int]]:
        return self._known.design_places if name == "designs" else self._known.context_places

    def _begin(self) -> None:
        self._known = Gathered()
        self._tails = {name: Tail(self.run.path / f"{name}.jsonl") for name in FILES}
        self._rounds: dict[int, tuple[tuple[int, int, int], RoundFacts]] = {}
        self._broken = 0

    def _take(self, name: str, place: int, line: bytes) -> None:
        try:
            self._known.add(name, place, json.loads(line))
        except BROKEN:
            self._broken += 1

    def _line(self, name: str, place: int | None) -> Line | None:
        if place is None:
            return None
        with contextlib.suppress(OSError, ValueError), (self.run.path / f"{name}.jsonl").open("rb") as file:
            file.seek(place)
            found = json.loads(file.readline())
            return found if isinstance(found, dict) else None
        return None

    def _facts(self) -> RunFacts:
        known, config = self._known, settings(self.run)
        given = config.get("curriculum")
        return RunFacts(
            view=view_run(self.run, [known.rounds[number] for number in sorted(known.rounds)]),
            preset=Path(str(config.get("preset", "?"))).stem,
            changed=changed(self.run),
            settings=_settings(config),
            given=tuple(map(str, given)) if isinstance(given, dict) else (),
            rounds=self._all_rounds(),
            evaluations=(*_made(evaluated, known.evaluations), *_by_hand(self.run)),
            faults=tuple(_fault(one) for one in known.faults),
            broken=self._broken,
            age=self._age(),
        )

    def _all_rounds(self) -> tuple[RoundFacts, ...]:
        known = self._known
        last = max(known.rounds, default=-1)
        done = [self._finished(number) for number in sorted(known.rounds)]
        begun = sorted(number for number in {*known.designs, *known.plays} if number > last)
        return (*done, *(going(number, *self._parts(number)) for number in begun))

    def _finished(self, number: int) -> RoundFacts:
        """Return a round that is done; it is made once, unless more of it is read later."""
        line, (designs, plays) = self._known.rounds[number], self._parts(number)
        key = (id(line), designs.asked, plays.lines)
        if number not in self._rounds or self._rounds[number][0] != key:
            self._rounds[number] = key, finished(line, designs, plays)
        return self._rounds[number][1]

    def _parts(self, number: int) -> tuple[Designs, Plays]:
        return self._known.designs.get(number, Designs()), self._known.plays.get(number, Plays())

    def _age(self) -> float | None:
        times = []
        for tail in self._tails.values():
            with contextlib.suppress(OSError):
                times.append(tail.path.stat().st_mtime)
        return max(0.0, time.time() - max(times)) if times else None


def read_run(run: RunFolder) -> RunFacts:
    """Return a run as it is now."""
    return RunReader(run).read()


def _settings(config: Line) -> dict[str, Any]:
    """Return every setting of self-play and of the trainer by its name, and the model."""
    parts = [config.get(name) for name in ("grpo", "model_config", "selfplay")]
    joined = {name: value for part in parts if isinstance(part, dict) for name, value in part.items()}
    return {"model": config.get("model"), **joined}


def _by_hand(run: RunFolder) -> list[Evaluated]:
    """Return what was evaluated by hand since, the newest of each suite."""
    found: dict[str, Evaluated] = {}
    for path in sorted(run.evaluations.glob("*.json")):
        with contextlib.suppress(OSError, *BROKEN):
            found |= {one.suite: one for one in asked_for(json.loads(regular(path).read_text()))}
    return list(found.values())


def _made(make: Callable[[Line], _Made], lines: Iterable[Line]) -> list[_Made]:
    found = []
    for line in lines:
        with contextlib.suppress(*BROKEN):
            found.append(make(line))
    return found


def _fault(line: Line) -> str:
    return f"round {int(line['round']) + 1}: {line.get('kind')}: {line.get('error')}"
