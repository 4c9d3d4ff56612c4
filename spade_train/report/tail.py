"""What was appended to a file of lines since it was last read: a run that goes on is never read twice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from spade_train.runs.folder import regular

_SEAM = 64


@dataclass
class Tail:
    """A file of lines, read up to a place.

    Attributes:
        at: where the next line begins, in bytes.
        seam: the last bytes before that: another file in its place, or one that was cut and grew again, has others.
    """

    path: Path
    at: int = 0
    seam: bytes = b""

    def is_cut(self) -> bool:
        """Whether what was read is not there any more, so that all must be read anew."""
        if not self.at:
            return False
        try:
            with regular(self.path).open("rb") as file:
                file.seek(self.at - len(self.seam))
                return file.read(len(self.seam)) != self.seam
        except OSError:
            return True

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """Yield each new whole line with its place; a last one that is not whole waits. Nothing of a missing file."""
        try:
            with regular(self.path).open("rb") as file:
                file.seek(self.at)
                for line in file:
                    if not line.endswith(b"\n"):
                        return
                    place, self.at = self.at, self.at + len(line)
                    self.seam = (self.seam + line)[-_SEAM:]
                    yield place, line
        except OSError:
            return
