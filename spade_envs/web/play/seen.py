"""What a player sees of a state: a text, numbers by the names of their spaces, and a picture. Pure functions."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium import spaces

PARTS, PART_LENGTH, TEXT_LENGTH = 64, 1_000, 32_768
"""How many parts of an observation are shown, and how many characters of one and of the text."""
PICTURE_BYTES = 60_000
BOARD_WIDTH = 60
_COLOURS = (1, 3, 4)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a numeric observation.

    Attributes:
        name: where it stands: keys and indices of the spaces around it; empty for a whole observation.
        space: its space, in Gymnasium's words.
        value: in digits.
    """

    name: str
    space: str
    value: str


@dataclass(frozen=True, slots=True)
class Seen:
    """What a player has before them.

    Attributes:
        text: what the design renders, or an observation of text; empty where there is neither.
        parts: a numeric observation.
        picture: a PNG of the first part that is an image.
    """

    text: str
    parts: tuple[Part, ...] = ()
    picture: bytes | None = None

    @property
    def is_board(self) -> bool:
        """Whether the text is drawn in short lines, which must not be wrapped."""
        lines = self.text.splitlines()
        return len(lines) > 1 and max(map(len, lines)) <= BOARD_WIDTH


def see(text: str, observation: Any, space: spaces.Space[Any]) -> Seen:
    """Return what a player sees.

    Args:
        text: what an agent reads.
        observation: native.
        space: of the observation.
    """
    if isinstance(space, spaces.Text):
        return Seen(text[:TEXT_LENGTH])
    found = list(_leaves("", observation, space))
    picture = next((made for _, value, kind in found if (made := _picture(value, kind)) is not None), None)
    parts = tuple(_part(name, value, kind) for name, value, kind in found[:PARTS])
    return Seen("" if text == str(observation) else text[:TEXT_LENGTH], parts, picture)


def _leaves(name: str, value: Any, space: spaces.Space[Any]) -> Iterator[tuple[str, Any, spaces.Space[Any]]]:
    if isinstance(space, spaces.Dict):
        inner: Any = space.spaces.items()
    elif isinstance(space, spaces.Tuple):
        inner = enumerate(space.spaces)
    else:
        yield name, value, space
        return
    for key, part in inner:
        yield from _leaves(f"{name}.{key}" if name else str(key), value[key], part)


def _part(name: str, value: Any, space: spaces.Space[Any]) -> Part:
    written = value if isinstance(value, str) else _digits(value)
    return Part(name[:PART_LENGTH], str(space)[:120], written[:PART_LENGTH])


def _digits(value: Any) -> str:
    array = np.asarray(value)
    if array.dtype == bool:
        array = array.astype(np.int8)
    return np.array2string(array, separator=" ", precision=4, suppress_small=True, threshold=400)


def _picture(value: Any, space: spaces.Space[Any]) -> bytes | None:
    """Return a PNG of an array of bytes that has rows, columns and colours."""
    if not isinstance(space, spaces.Box) or space.dtype != np.uint8:
        return None
    if len(space.shape) != 3 or space.shape[2] not in _COLOURS or min(space.shape) < 1:
        return None
    from PIL import Image

    array = np.ascontiguousarray(value)
    image = Image.fromarray(array[..., 0] if array.shape[2] == 1 else array)
    image.thumbnail((1024, 1024))
    written = io.BytesIO()
    image.save(written, "PNG")
    return written.getvalue() if written.tell() <= PICTURE_BYTES else None
