"""What pages of recorded episodes show, as values; their JSON, too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from spade_envs.web.play.data import data_uri, seen_data, start_data, turn_data
from spade_envs.web.play.game import Turn
from spade_envs.web.play.recordings import Recording
from spade_envs.web.play.seen import Seen


@dataclass(frozen=True, slots=True)
class ReplayPage:
    """One step of an episode.

    Attributes:
        recording: the episode.
        at: the step that is shown, from 0.
        query: the address without the step: it ends with ``step=``.
        title: of the version.
        play: where the game can be taken up from its moves; empty where it cannot.
    """

    recording: Recording
    at: int
    query: str
    title: str
    play: str = ""

    @property
    def last(self) -> int:
        """The number of the last step."""
        return len(self.recording.frames) - 1

    @property
    def turn(self) -> Turn:
        """The step."""
        return self.recording.frames[self.at].turn

    @property
    def seen(self) -> Seen:
        """What was seen."""
        return self.recording.frames[self.at].seen

    @property
    def picture(self) -> str:
        """The address of what was seen as a picture; empty where there is none."""
        return data_uri(self.seen.picture)

    @property
    def fields(self) -> list[tuple[str, str]]:
        """The parts of the address without the step."""
        return [
            (name, value)
            for name, value in parse_qsl(self.query.partition("?")[2], keep_blank_values=True)
            if name != "step"
        ]

    @property
    def total(self) -> float:
        """The return up to here."""
        return self.recording.total(self.at)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        recording = self.recording
        return {
            **start_data(recording.start),
            "title": self.title,
            "by": recording.by,
            "note": recording.note,
            "stopped": recording.stopped,
            "step": self.at,
            "steps": [
                {**turn_data(frame.turn), "observation": seen_data(frame.seen)} for frame in recording.frames
            ],
        }
