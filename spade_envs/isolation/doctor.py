"""Which layers of isolation hold on this machine: each is tried, from inside of a process locked down like a worker.

Most attempts are made twice: with all layers, where the call filter answers first, and without the call
filter, so that the layer behind it must. What the filter answers by ending the process is tried by a process
each.
"""

from __future__ import annotations

import os
import select
from collections.abc import Iterable
from dataclasses import dataclass, field

import msgspec

from spade_envs.errors import IsolationError
from spade_envs.isolation import fork_server, probe, seccomp
from spade_envs.isolation.channel import signal_name
from spade_envs.isolation.wire import STATUS_BYTES

WAIT_S = 30.0
CALLS, LANDLOCK, NAMESPACES = "seccomp", "Landlock", "namespaces"
LIMITS, IDENTITY, SURROUNDINGS, BOUND = "limits", "identity", "surroundings", "bonds"
SIGNAL = "SIGSYS"
"""What a call ends a worker with."""

_ANSWERS_WITHOUT_FILTER = {
    "EACCES": LANDLOCK,
    "ENOENT": NAMESPACES,
    "ENETUNREACH": NAMESPACES,
    "EAGAIN": LIMITS,
    "MemoryError": LIMITS,
    "EPERM": f"{IDENTITY} or {LANDLOCK}",
    "EINVAL": NAMESPACES,  # a user that the namespace does not know
    "EBADF": SURROUNDINGS,
    "LookupError": SURROUNDINGS,
}
_ANSWERS = _ANSWERS_WITHOUT_FILTER | {"EPERM": CALLS, SIGNAL: CALLS}
_NOT_THE_FILTERS = ("use too much memory", "use others' descriptors", "read the environment")


@dataclass(frozen=True, slots=True)
class Attempt:
    """What became of one attempt.

    Attributes:
        name: what was tried.
        answer: ``"done"``, the name of an error number, of an exception or of the signal that ended it.
        layer: which layer gave that answer; empty where nothing stopped it or that cannot be told.
        filtered: whether all layers were in place, or all but the call filter.
    """

    name: str
    answer: str
    layer: str
    filtered: bool


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer on this machine.

    Attributes:
        name: its name.
        holds: whether every trial of it went as it must.
        required: whether there is no worker without it.
        stops: what it is for.
        seen: what the trials and the layer itself said.
        remedy: how to get it; empty where it holds.
    """

    name: str
    holds: bool
    required: bool
    stops: str
    seen: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All layers, and the attempts that they are judged by.

    Attributes:
        layers: the layers; one alone where no worker can be started.
        attempts: the attempts.
    """

    layers: tuple[Layer, ...]
    attempts: tuple[Attempt, ...] = field(default=())

    @property
    def sound(self) -> bool:
        """Whether every layer holds that is required."""
        return all(layer.holds for layer in self.layers if layer.required)


def diagnose() -> Diagnosis:
    """Try every layer; takes a second. A machine that cannot isolate is a diagnosis, too."""
    try:
        facts = _run((), filtered=False)[0].facts
        attempts = (*_attempts(filtered=True), *_attempts(filtered=False), *_ending_calls())
    except IsolationError as error:
        stops = "all that a design could do to this machine"
        return Diagnosis((Layer("isolated workers", False, True, stops, "none can be started", str(error)),))
    return Diagnosis(tuple(_layers(attempts, facts)), attempts)


def _attempts(filtered: bool) -> Iterable[Attempt]:
    together = tuple(name for name in probe.ATTEMPTS if name not in probe.ALONE)
    answers = _run(together, filtered)[0].answers
    for name in probe.ALONE:
        answers |= _alone(name, filtered)
    known = _ANSWERS if filtered else _ANSWERS_WITHOUT_FILTER
    for name in probe.ATTEMPTS:
        yield Attempt(name, answers[name], known.get(answers[name], ""), filtered)


def _ending_calls() -> Iterable[Attempt]:
    for name in seccomp.KILLED:
        if seccomp.number(name) >= 0:
            answer = _alone(name, filtered=True)[name]
            yield Attempt(name, answer, _ANSWERS.get(answer, ""), True)


def _alone(name: str, filtered: bool) -> dict[str, str]:
    report, status = _run((name,), filtered)
    if os.WIFSIGNALED(status):
        return {name: signal_name(os.WTERMSIG(status))}
    return {name: probe.DONE} | report.answers  # another program does not report


def _run(attempts: tuple[str, ...], filtered: bool) -> tuple[probe.Report, int]:
    """Run a probe and return its report, which is empty where it ended early, and its wait status."""
    request = msgspec.msgpack.encode(probe.Request(attempts, filtered))
    descriptor, lease = fork_server.open_probe(request)
    with lease, open(descriptor, "rb") as file:
        if not select.select([file], [], [], WAIT_S)[0]:
            raise IsolationError(f"a probe did not answer within {WAIT_S:g} s ({', '.join(attempts)})")
        data = file.read()
        lease.settimeout(WAIT_S)
        status = int.from_bytes(lease.recv(STATUS_BYTES), "little")
    if not data:
        return probe.Report({}, {}), status
    return msgspec.msgpack.decode(data, type=probe.Report), status


def _layers(attempts: tuple[Attempt, ...], facts: dict[str, str]) -> Iterable[Layer]:
    locked = {a.name: a.answer for a in attempts if a.filtered}
    behind = {a.name: a.answer for a in attempts if not a.filtered}
    yield _calls(locked, facts)
    yield _landlock(behind, facts)
    yield _namespaces(behind, facts)
    yield _required(
        LIMITS,
        behind["use too much memory"] == "MemoryError" and behind["start a process"] == "EAGAIN",
        "memory above the limit, new processes and threads, files that grow",
        f"memory: {behind['use too much memory']}, a new process: {behind['start a process']}",
    )
    yield _required(
        IDENTITY,
        facts["user"] != "0" and not int(facts["capabilities"], 16) and behind["become root"] != probe.DONE,
        "what root, its capabilities and set-uid programs may do",
        f"user {facts['user']}, capabilities {facts['capabilities']}, becoming root: {behind['become root']}",
    )
    yield _required(
        SURROUNDINGS,
        locked["use others' descriptors"] == "EBADF" and locked["read the environment"] == "LookupError",
        "the host's open files and sockets, and secrets in its environment variables",
        "no descriptors but its own, no environment variables",
    )
    yield _required(
        BOUND,
        facts["dies_with_parent"] == "True" and facts["no_new_privs"] == "1",
        "workers that outlive their host; programs that win rights back",
        f"dies with it: {facts['dies_with_parent']}, no_new_privs {facts['no_new_privs']}",
    )


def _calls(locked: dict[str, str], facts: dict[str, str]) -> Layer:
    ending = [name for name in (*seccomp.KILLED, "trace its parent") if name in locked]
    refused = [name for name in probe.ATTEMPTS if name not in (*_NOT_THE_FILTERS, *ending)]
    wrong = [f"{name}: {locked[name]}" for name in refused if locked[name] != "EPERM"]
    wrong += [f"{name}: {locked[name]}" for name in ending if locked[name] != SIGNAL]
    good = f"{len(refused)} attempts refused, {len(ending)} calls end the worker"
    return _required(
        CALLS,
        not wrong,
        "files, network, processes, signals, new machine code, most of the kernel",
        f"{', '.join(wrong) or good}; libseccomp {facts['libseccomp']}",
    )


def _landlock(behind: dict[str, str], facts: dict[str, str]) -> Layer:
    holds = behind["open a folder"] == "EACCES"
    return Layer(
        LANDLOCK,
        holds,
        False,
        "files; TCP from version 4 on, signals and abstract sockets from 6 on",
        f"version {facts['landlock']}, opening a folder: {behind['open a folder']}, "
        f"TCP: {behind['connect by TCP']}",
        ""
        if holds
        else "Linux 5.13 or newer (TCP 6.7, signals 6.12) with `landlock` in /sys/kernel/security/lsm; if it is "
        "not there, add it to the kernel's `lsm=` parameter. In a container its runtime must allow the calls.",
    )


def _namespaces(behind: dict[str, str], facts: dict[str, str]) -> Layer:
    names, network, file = facts["namespaces"], behind["reach the network"], behind["find a file"]
    holds = bool(names) and (network, file) == ("ENETUNREACH", "ENOENT")
    return Layer(
        NAMESPACES,
        holds,
        False,
        "network of every kind, even the names of files",
        f"{names or 'none'}; network: {network}, a file: {file}",
        ""
        if holds
        else "run as root, or allow user namespaces: sysctl user.max_user_namespaces above 0, on Debian "
        "kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0. "
        "In a container they take CAP_SYS_ADMIN, which is the larger risk: leave them.",
    )


def _required(name: str, holds: bool, stops: str, seen: str) -> Layer:
    remedy = "" if holds else "this must hold on every Linux 4.14 or newer: please report what was seen"
    return Layer(name, holds, True, stops, seen, remedy)
