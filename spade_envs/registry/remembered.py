"""What was looked up before: as much of it as there is room for, the longest unused forgotten first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Remembered(Generic[Key, Value]):
    """Values by key; threads may share it. What a key stands for may never change: else remember it elsewhere.

    Args:
        room: how much is remembered in all.
        weight: how much of it one value takes.
    """

    def __init__(self, room: int, weight: Callable[[Value], int] = lambda _: 1) -> None:
        self._room, self._weight, self._taken = room, weight, 0
        self._lock = threading.Lock()
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def known(self, keys: Iterable[Key]) -> dict[Key, Value]:
        """Return the values of these keys, as far as they are remembered."""
        with self._lock:
            found = {key: self._values[key] for key in keys if key in self._values}
            for key in found:
                self._values.move_to_end(key)
        return found

    def keep(self, values: Mapping[Key, Value]) -> None:
        """Remember these values, as long as there is room."""
        with self._lock:
            for key, value in values.items():
                if key not in self._values:
                    self._values[key] = value
                    self._taken += self._weight(value)
            while self._taken > self._room:
                _, value = self._values.popitem(last=False)
                self._taken -= self._weight(value)

    def get(self, key: Key, look_up: Callable[[], Value]) -> Value:
        """Return the value of a key, looked up where it is not remembered: by two threads at once, if need be."""
        for value in self.known((key,)).values():
            return value
        value = look_up()
        self.keep({key: value})
        return value
