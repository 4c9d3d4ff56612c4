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
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spade_envs.admission.shingles import Sketch, sketch, text_shingles, tree_shingles
from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import parse_header

FINGERPRINT_VERSION = 1
"""Changes with anything that makes new fingerprints and old ones incomparable."""

TREE_SIZE, TEXT_SIZE = 256, 128
LEVELS, STREAMS = 4, 6  # the first levels are played, so many streams each
NO_STREAM = 0  # stands where nothing was played


@dataclass(frozen=True, slots=True)
class Course:
    """What one fixed stream of actions gave back: a checksum of everything, and one of the bare course."""

    whole: int
    bare: int


@dataclass(frozen=True)
class Fingerprint:
    """What stands for a design when it is compared.

    Attributes:
        tree: sketch of the normalised syntax tree.
        tree_size: how many shingles the tree has.
        text: sketch of the title and the rules.
        streams: two rows (whole, bare), one column for each stream of each level.
        success: level -> episodes that random play won, and played.
        steps: level -> how many steps the expert needed on each seed.
    """

    tree: Sketch
    tree_size: int
    text: Sketch
    streams: NDArray[np.uint32]
    success: Mapping[str, tuple[int, int]]
    steps: Mapping[str, tuple[int, ...]]

    @property
    def played(self) -> bool:
        """Whether it holds more than the source alone tells."""
        return bool((self.streams != NO_STREAM).any())

    @cached_property
    def tells(self) -> bool:
        """Whether the streams tell instances apart, so that equal ones mean something."""
        played = self.streams[1][self.streams[1] != NO_STREAM]
        return len(played) >= 2 and 2 * len(set(played.tolist())) >= len(played)

    def as_dict(self) -> dict[str, Any]:
        """Return the fingerprint as JSON-ready data."""
        arrays = {"tree": self.tree, "text": self.text, "streams": self.streams.ravel()}
        packed = {
            name: base64.b64encode(array.astype("<u4").tobytes()).decode() for name, array in arrays.items()
        }
        counts = {"success": {k: list(v) for k, v in self.success.items()}}
        counts |= {"steps": {k: list(v) for k, v in self.steps.items()}}
        return {"version": FINGERPRINT_VERSION, "tree_size": self.tree_size, **packed, **counts}


def of_source(source: str) -> Fingerprint:
    """Return what the source alone tells; nothing is run."""
    shingles = tree_shingles(source)
    text = text_shingles(_title_and_rules(source))
    return Fingerprint(
        sketch(shingles, TREE_SIZE), len(shingles), sketch(text, TEXT_SIZE), no_streams(), {}, {}
    )


def no_streams() -> NDArray[np.uint32]:
    """Return the streams of a design that was not played."""
    return np.full((2, LEVELS * STREAMS), NO_STREAM, dtype=np.uint32)


def from_dict(data: Any) -> Fingerprint | None:
    """Read a stored fingerprint; None where it is of another version or damaged."""
    try:
        if data["version"] != FINGERPRINT_VERSION:
            return None
        tree, text, streams = (_unpacked(data[name]) for name in ("tree", "text", "streams"))
        if (tree.size, text.size, streams.size) != (TREE_SIZE, TEXT_SIZE, 2 * LEVELS * STREAMS):
            return None
        success = {str(k): (int(won), int(played)) for k, (won, played) in data["success"].items()}
        steps = {str(k): tuple(int(n) for n in v) for k, v in data["steps"].items()}
        return Fingerprint(tree, int(data["tree_size"]), text, streams.reshape(2, -1), success, steps)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None


def _unpacked(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(base64.b64decode(text, validate=True), dtype="<u4").astype(np.uint32)


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
