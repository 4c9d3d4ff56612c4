"""A design's fingerprint: a few kilobytes by which it is compared with any number of others at once.

It has three parts: the syntax tree, the rules as text, and the behaviour, which is what fixed streams of actions
give back. The first two come from the source alone. Of every stream there are two checksums: one of all that came
back, and one of its bare course (numbers, how many items a text lists, rewards, ends), which is left as it is
where things only have other names.
"""

from __future__ import annotations

import ast
import base64
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spade_envs.admission.shingles import sketch, text_shingles, tree_shingles
from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import parse_header

FINGERPRINT_VERSION = 1
"""Changes with anything that makes new fingerprints and old ones incomparable."""

TREE_SIZE, TEXT_SIZE = 256, 128
LEVELS, STREAMS = 4, 6  # the first levels are played, so many streams each
NO_STREAM = 0  # stands where nothing was played
TREE_COLUMNS = slice(0, TREE_SIZE)
TEXT_COLUMNS = slice(TREE_SIZE, TREE_SIZE + TEXT_SIZE)
STREAM_COLUMNS = slice(TREE_SIZE + TEXT_SIZE, TREE_SIZE + TEXT_SIZE + 2 * LEVELS * STREAMS)


@dataclass(frozen=True, slots=True)
class Course:
    """What one fixed stream of actions gave back: a checksum of everything, and one of the bare course."""

    whole: int
    bare: int


@dataclass(frozen=True)
class Fingerprint:
    """What stands for a design when it is compared.

    Attributes:
        row: sketch of the tree, sketch of title and rules, streams: one array, so that thousands are one table.
        tree_size: how many shingles the tree has.
        success: level -> episodes that random play won, and played.
        steps: level -> how many steps the expert needed on each seed.
    """

    row: NDArray[np.uint32]
    tree_size: int
    success: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    steps: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def streams(self) -> NDArray[np.uint32]:
        """Two rows (whole, bare), with one column for each stream of each level."""
        return self.row[STREAM_COLUMNS].reshape(2, -1)

    @property
    def played(self) -> bool:
        """Whether it holds more than the source alone tells."""
        return bool((self.streams != NO_STREAM).any())

    def as_dict(self) -> dict[str, Any]:
        """Return the fingerprint as JSON-ready data."""
        packed = base64.b64encode(self.row.astype("<u4").tobytes()).decode()
        success, steps = ({k: list(v) for k, v in part.items()} for part in (self.success, self.steps))
        data = {"version": FINGERPRINT_VERSION, "row": packed, "tree_size": self.tree_size}
        return {**data, "success": success, "steps": steps}


def of_source(source: str) -> Fingerprint:
    """Return what the source alone tells; nothing is run."""
    tree, text = tree_shingles(source), text_shingles(_title_and_rules(source))
    row = np.concatenate([sketch(tree, TREE_SIZE), sketch(text, TEXT_SIZE), no_streams().ravel()])
    return Fingerprint(row, len(tree))


def with_streams(one: Fingerprint, streams: NDArray[np.uint32]) -> Fingerprint:
    """Return the fingerprint with what its streams gave back."""
    return replace(one, row=np.concatenate([one.row[: STREAM_COLUMNS.start], streams.ravel()]))


def no_streams() -> NDArray[np.uint32]:
    """Return the streams of a design that was not played."""
    return np.full((2, LEVELS * STREAMS), NO_STREAM, dtype=np.uint32)


def telling(streams: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Say which streams of designs tell their instance from the others of the level: only there equal ones count.

    None of a design's row does where fewer than half of it do: where a random call mostly ends the episode at
    once, say, the rest is chance.
    """
    levels = streams.reshape(-1, 2, LEVELS, STREAMS)
    alone = (levels[..., None] == levels[..., None, :]).sum(axis=-1) == 1
    tell: NDArray[np.bool_] = (alone & (levels != NO_STREAM)).reshape(-1, 2, LEVELS * STREAMS)
    played = (levels != NO_STREAM).sum(axis=(2, 3))
    tell &= (2 * tell.sum(axis=2) >= played)[..., None]
    return tell


def from_dict(data: Any) -> Fingerprint | None:
    """Read a stored fingerprint; None where it is of another version or damaged."""
    try:
        row = np.frombuffer(base64.b64decode(data["row"], validate=True), dtype="<u4").astype(np.uint32)
        if data["version"] != FINGERPRINT_VERSION or row.size != STREAM_COLUMNS.stop:
            return None
        success = {str(k): (int(won), int(played)) for k, (won, played) in data["success"].items()}
        steps = {str(k): tuple(int(n) for n in v) for k, v in data["steps"].items()}
        return Fingerprint(row, int(data["tree_size"]), success, steps)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _title_and_rules(source: str) -> str:
    """Return the title and every class's docstring, which are what an agent reads."""
    header = parse_header(source)
    title = "" if isinstance(header, Rejection) else header.title
    try:
        nodes = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return title
    docstrings = [ast.get_docstring(node) or "" for node in nodes if isinstance(node, ast.ClassDef)]
    return "\n".join([title, *docstrings])
