"""Limits that cannot be are refused where they are written down, not by dying workers."""

from __future__ import annotations

import os
import resource
from itertools import count, islice
from typing import Any

import pytest
from processes import descriptors

from spade_envs.errors import IsolationError, UsageError
from spade_envs.isolation import Limits, Worker, channel


@pytest.mark.parametrize("name", ["build_s", "call_s", "memory_mb", "message_mb"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), "5", None, True, 2**45])
def test_a_limit_must_be_a_sensible_number(name: str, value: Any) -> None:
    with pytest.raises(UsageError, match=f"the limit {name} must be above 0"):
        Limits(**{name: value})


def test_megabytes_are_whole() -> None:
    assert Limits(call_s=0.5).call_s == 0.5
    with pytest.raises(UsageError):
        Limits(memory_mb=0.5)  # type: ignore[arg-type]


def started() -> str:
    """Start a worker and return what keeps it from starting."""
    try:
        Worker.start().close()
    except IsolationError as error:
        return str(error)
    return ""


def leaving(room: int) -> int:
    """Return the limit under which so many descriptors can still be opened."""
    used = set(map(int, os.listdir("/proc/self/fd")))
    free = (number for number in count() if number not in used)
    return next(islice(free, room, None))


def test_running_out_of_descriptors_is_named_and_leaks_none() -> None:
    Worker.start().close()
    usual = resource.getrlimit(resource.RLIMIT_NOFILE)
    before = descriptors()
    said = []
    try:
        for room in range(1, 7):
            resource.setrlimit(resource.RLIMIT_NOFILE, (leaving(room), usual[1]))
            said.append(started())
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, usual)
    assert set(said) == {"", "no worker can be started now: Too many open files"}
    assert descriptors() == before


@pytest.mark.parametrize(("number", "name"), [(9, "SIGKILL"), (40, "40"), (127, "127")])
def test_every_signal_has_a_name(number: int, name: str) -> None:
    assert channel.signal_name(number) == name
