"""A text space that holds any Unicode text: what ``Text`` means in an environment that names no charset."""

from __future__ import annotations

import string
from typing import Any, cast

import numpy as np
from gymnasium import spaces

_SAMPLED = string.ascii_letters + string.digits + string.punctuation + " "


class _EveryCharacter(frozenset[str]):
    """All code points, as the set and as the sequence that Gymnasium's helpers use; nothing is stored."""

    def __contains__(self, character: object) -> bool:
        return isinstance(character, str) and len(character) == 1

    def __len__(self) -> int:
        return 0x110000

    def __getitem__(self, index: int) -> str:
        return chr(index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _EveryCharacter)

    def __hash__(self) -> int:
        return len(self)


class UnicodeText(spaces.Text):
    """Any text that UTF-8 can carry, the empty one included, up to ``max_length`` characters.

    Samples consist of printable ASCII. Gymnasium's vector environments, which number characters, take it too.
    """

    def __init__(
        self, max_length: int, *, min_length: int = 0, seed: int | np.random.Generator | None = None
    ) -> None:
        super().__init__(max_length, min_length=min_length, charset=_SAMPLED, seed=seed)
        self._char_set = _EveryCharacter()

    def contains(self, x: Any) -> bool:
        """Say whether ``x`` is a text of allowed length without lone surrogates."""
        if not isinstance(x, str) or not self.min_length <= len(x) <= self.max_length:
            return False
        try:
            x.encode()
        except UnicodeEncodeError:
            return False
        return True

    def sample(self, mask: Any = None, probability: Any = None) -> str:
        """Return a text of uniformly drawn length and characters.

        Raises:
            ValueError: a mask or probabilities are given; they would have to number every character.
        """
        if mask is not None or probability is not None:
            raise ValueError(
                "UnicodeText takes no mask. Use spaces.Text(..., charset=...) for masked sampling."
            )
        length = self.np_random.integers(self.min_length, self.max_length + 1)
        return "".join(self.np_random.choice(list(_SAMPLED), size=length))

    @property
    def character_list(self) -> tuple[str, ...]:
        """All characters, by code point; only indexing and ``len`` work."""
        return cast("tuple[str, ...]", self._char_set)

    def character_index(self, char: str) -> np.int32:
        """Return the character's code point."""
        return np.int32(ord(char))

    def __repr__(self) -> str:
        return f"UnicodeText({self.min_length}, {self.max_length})"
