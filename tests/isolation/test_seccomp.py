"""The filter of system calls: what it stops while no other layer does, and what it leaves as it was."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from escaped import Escaped, escaped
from locked import CALLS, locked, needs_libseccomp, python, run, run_each

from spade_envs.errors import IsolationError, WorkerFault
from spade_envs.isolation import seccomp

REFUSED = [
    "os.open('/etc/passwd', os.O_RDONLY)",
    "os.open('/', os.O_RDONLY | os.O_PATH)",
    "os.stat('/')",
    "os.listdir('/')",
    "os.mkdir('/tmp/spade')",
    "os.unlink('/tmp/spade')",
    "socket.socket()",
    "socket.socketpair()",
    "os.fork()",
    "os.execv('/bin/true', ['true'])",
    "os.posix_spawn('/bin/true', ['true'], {})",
    "os.kill(parent, 0)",
    "os.kill(os.getpid(), 0)",
    "os.pidfd_open(parent)",
    "os.memfd_create('code')",
    "os.pipe()",
    "os.dup(0)",
    "os.setuid(0)",
    "os.ftruncate(secret, 0)",
    "os.sendfile(1, 0, None, 1)",
    "resource.prlimit(0, resource.RLIMIT_NOFILE, (64, 64))",
    "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)",
    "mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)",
    "call('mprotect', ctypes.c_void_p(id(parent) & ~4095), ctypes.c_size_t(4096), 7)",
    "call('pkey_mprotect', ctypes.c_void_p(id(parent) & ~4095), ctypes.c_size_t(4096), 7, -1)",
    "call('clone3', 0, 0)",
    "call('prctl', 1, 0)",
    "call('seccomp', 1, 0, 0)",
    "call('personality', 0x400000)",
    "call('shmget', 0, 4096, 0o1600)",
    "call('ioctl', 0, 0x5412, b'x')",
    "call('landlock_create_ruleset', 0, 0, 1)",
    "call('sendmsg', secret, 0, 0)",
    "call('name_to_handle_at', 0, 0, 0, 0, 0)",
]


def test_it_alone_refuses_what_a_worker_does_not_need() -> None:
    answers = locked(REFUSED, [CALLS])
    assert {name: answer for name, answer in answers.items() if answer != "EPERM"} == {}


def test_without_it_these_would_work() -> None:
    """Else the test before would prove nothing."""
    harmless = [
        name for name in REFUSED if name.startswith(("os.stat", "os.listdir", "socket", "os.open", "os.dup"))
    ]
    harmless += [name for name in REFUSED if name.startswith(("mmap", "os.memfd", "os.kill", "os.pipe"))]
    assert len(harmless) >= 10
    assert not set(locked(harmless, []).values()) & {"EPERM", "EACCES"}


def test_what_only_an_attack_asks_for_ends_the_process() -> None:
    needs_libseccomp()
    names = [name for name in seccomp.KILLED if seccomp.number(name) >= 0]  # others are not on this machine
    assert len(names) > len(seccomp.KILLED) / 2
    found = run_each([[f"call({name!r}, 0, 0, 0, 0, 0)"] for name in names], [CALLS])
    ends = {name: (status, answers) for name, (status, answers, _) in zip(names, found, strict=True)}
    assert ends == dict.fromkeys(names, (-signal.SIGSYS, ""))


@pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="only there do processes have a second set of numbers"
)
def test_calls_by_other_numbers_end_the_process() -> None:
    assert run(["libc.syscall(0x40000000 + 39)"], [CALLS])[0] == -signal.SIGSYS


@pytest.fixture(scope="module")
def fingerprint() -> str:
    """As an ordinary process computes it."""
    script = "import sys; sys.path.insert(0, sys.argv[1]); import sums; print(repr(sums.fingerprint()))"
    return python(script, os.path.dirname(__file__)).strip()


def test_numpy_computes_the_same_bit_by_bit(fingerprint: str) -> None:
    assert locked(["sums.fingerprint()"]) == {"sums.fingerprint()": fingerprint}


def test_time_randomness_and_memory_work() -> None:
    attempts = [
        "time.sleep(0.001)",
        "len(os.urandom(9))",
        "time.time() > 0 and time.monotonic() > 0 and time.process_time() > 0",
        "len(bytearray(20 << 20))",
        "select.poll().poll(1)",
        "np.random.default_rng().random() < 1",
    ]
    assert list(locked(attempts).values()) == ["None", "9", "True", str(20 << 20), "[]", "True"]


def test_a_missing_library_is_named_with_its_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "LIBRARY", "libno-such.so.2")
    seccomp.library.cache_clear()
    with pytest.raises(IsolationError, match=r"apt-get install libseccomp2.*dnf.*apk add.*pacman.*'none'"):
        seccomp.build()
    seccomp.library.cache_clear()


def test_a_kernel_without_filters_is_named() -> None:
    with pytest.raises(IsolationError, match="CONFIG_SECCOMP_FILTER"):
        seccomp.Filter(b"", seccomp.number("seccomp")).load()


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Escaped]:
    needs_libseccomp()
    with escaped(tmp_path_factory.mktemp("site")) as found:
        yield found


def test_a_denied_call_is_an_error_that_a_worker_survives(worker: Escaped) -> None:
    for attempt in ("open('/etc/passwd')", "__import__('socket').socket()", "os.fork()"):
        with pytest.raises(WorkerFault, match="PermissionError") as caught:
            worker.run(attempt)
        assert caught.value.kind == "raised"
    assert worker.run("6 * 7") == "42"


def test_a_worker_may_write_to_its_own_end_only(worker: Escaped) -> None:
    """A worker that filled the counter that it reads would hold the host's next write up for ever."""
    for attempt in ("os.write(3, (2 ** 64 - 2).to_bytes(8, 'little'))", "os.read(4, 8)", "os.write(1, b'x')"):
        with pytest.raises(WorkerFault, match="PermissionError"):
            worker.run(attempt)


def test_numpy_computes_the_same_in_a_worker(worker: Escaped, fingerprint: str) -> None:
    assert worker.run("sums.fingerprint()") == fingerprint


def test_a_programs_cpu_time_is_limited_in_a_worker(worker: Escaped) -> None:
    said = worker.run("run_program('def f():\\n    while True:\\n        pass', 'f')")
    assert "CPU time" in said
    assert worker.run("run_program('def f():\\n    return 5', 'f')['result']") == "5"


def test_a_call_of_attacks_is_a_dead_worker_and_named(worker: Escaped) -> None:
    with pytest.raises(WorkerFault, match="signal SIGSYS") as caught:
        worker.run("ctypes.CDLL(None).ptrace(0, 0, 0, 0)")
    assert caught.value.kind == "died"
