"""What is remembered is what was looked up, never more than there is room for."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from spade_envs.registry.remembered import Remembered


@given(st.lists(st.integers(0, 9), max_size=40), st.integers(0, 12))
def test_each_key_has_its_value_and_all_have_room(keys: list[int], room: int) -> None:
    remembered: Remembered[int, str] = Remembered(room, len)
    for key in keys:
        assert remembered.get(key, lambda key=key: "x" * key) == "x" * key  # type: ignore[misc]
        kept = remembered.known(range(10))
        assert all(value == "x" * key for key, value in kept.items())
        assert sum(map(len, kept.values())) <= room


def test_the_longest_unused_is_forgotten_first() -> None:
    remembered: Remembered[str, int] = Remembered(2)
    for key in "aba":
        remembered.get(key, lambda: 1)
    remembered.keep({"c": 2})
    assert remembered.known("abc") == {"a": 1, "c": 2}
    assert len(remembered) == 2


def test_what_is_remembered_is_not_looked_up() -> None:
    remembered: Remembered[str, int] = Remembered(2)
    looked_up = [remembered.get("a", lambda number=number: number) for number in range(3)]  # type: ignore[misc]
    assert looked_up == [0, 0, 0]


def test_threads_share_it() -> None:
    remembered: Remembered[int, int] = Remembered(50)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda n: remembered.get(n % 80, lambda: n % 80), range(4_000)))
    assert found == [n % 80 for n in range(4_000)]
    assert len(remembered) <= 50
