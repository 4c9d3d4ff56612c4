"""What a process can still do after it is locked down, and what each layer stops while no other does."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from locked import (
    ALL,
    CAPABILITIES,
    DEATH,
    DESCRIPTORS,
    IDENTITY,
    LIMITS,
    NAMESPACES,
    SURROUNDINGS,
    locked,
    needs_libseccomp,
    run,
)
from processes import workers, zygote
from small_designs import design

from spade_envs.errors import IsolationError
from spade_envs.isolation import Worker, fork_server, lockdown, namespaces, seccomp

SOMEBODY = 12345
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="only root can take another identity")
STATUS = (
    "dict(line.split(':\\t', 1) for line in os.read(status, 1 << 14).decode().splitlines() if ':\\t' in line)"
)


def only(layers: list[str], *attempts: str, **more: Any) -> list[str]:
    return list(locked(attempts, layers, **more).values())


def test_nothing_of_the_hosts_is_left() -> None:
    found = only([DESCRIPTORS], "os.read(inherited, 1)", "os.read(0, 1)", "len(os.listdir('/proc/self/fd'))")
    assert found == ["EBADF", "b''", str(3 + 2 + 1)]  # with the one that lists them
    assert only([SURROUNDINGS], "dict(os.environ)", "os.getcwd()") == ["{}", "'/'"]
    assert only([], "os.read(inherited, 1)", "'SECRET' in os.environ") == ["b'r'", "True"]


def test_memory_and_files_cannot_grow(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    attempts = ("len(bytearray(100 << 20))", "len(bytearray(30 << 20))", "os.write(secret, b'x')")
    assert only([LIMITS], *attempts, file=str(file)) == ["MemoryError", str(30 << 20), "EFBIG"]
    assert only([], attempts[0], attempts[2], file=str(file)) == [str(100 << 20), "1"]


@root_only
def test_no_process_can_be_started() -> None:
    assert only([LIMITS, IDENTITY], "os.fork()") == ["EAGAIN"]


@root_only
def test_root_becomes_nobody() -> None:
    attempts = ["os.getresuid() + os.getresgid()", "os.getgroups()", "os.setuid(0)", "os.kill(parent, 0)"]
    assert only([IDENTITY], *attempts) == [f"({', '.join(['65534'] * 6)})", "[]", "EPERM", "EPERM"]


@root_only
def test_capabilities_are_gone_even_from_root() -> None:
    attempts = (
        "os.chroot('/')",
        "os.setgroups([])",
        "os.open('/etc/shadow', os.O_WRONLY)",
        f"{STATUS}['CapPrm']",
    )
    assert only([CAPABILITIES], *attempts)[:2] == ["EPERM", "EPERM"]
    assert int(eval(only([CAPABILITIES], *attempts)[3]), 16) == 0
    assert only([], *attempts)[0] == "None"


def test_a_worker_dies_with_its_zygote_and_wins_nothing_back() -> None:
    signal = "(lambda number: libc.prctl(2, ctypes.byref(number)) or number.value)(ctypes.c_int())"
    assert only([DEATH], signal, f"{STATUS}['NoNewPrivs']", "libc.prctl(3)") == ["9", "'1'", "0"]
    assert only([], signal) == ["0"]


@pytest.mark.parametrize("user", [0, pytest.param(SOMEBODY, marks=root_only)])
def test_namespaces_alone_leave_no_file_and_no_network(user: int) -> None:
    attempts = [
        "os.listdir('/')",
        "os.stat('/etc')",
        "os.listdir('/..')",
        "os.mkdir('/x')",
        "socket.socket(type=socket.SOCK_DGRAM).connect(('127.0.0.1', 9))",
        "os.sysconf('SC_PAGESIZE') > 0",
    ]
    status, answers, kinds = run(attempts, [NAMESPACES], user)
    if not kinds:
        pytest.skip("this machine allows no namespaces")
    assert status == 0
    assert kinds == [*(["user"] if user or os.geteuid() else []), "mount", "uts", "ipc", "net"]
    assert list(answers.values()) == ["[]", "ENOENT", "[]", "EROFS", "ENETUNREACH", "True"]
    assert only([], attempts[1], attempts[4])[0].startswith("os.stat_result")


@root_only
def test_somebody_who_is_not_root_keeps_no_capability_of_the_user_namespace() -> None:
    assert only([NAMESPACES, CAPABILITIES], "os.chroot('/')", user=SOMEBODY) == ["EPERM"]
    assert locked(["open('/')"], ALL, SOMEBODY) == {"open('/')": "EPERM"}


def test_the_hosts_own_files_and_network_stay(tmp_path: Path) -> None:
    """The zygote's namespaces are its own: nothing is mounted over the host's folders."""
    before = (sorted(os.listdir("/sys")), os.readlink("/proc/self/ns/net"), os.readlink("/proc/self/ns/mnt"))
    needs_libseccomp()
    Worker.start().close()
    assert before == (
        sorted(os.listdir("/sys")),
        os.readlink("/proc/self/ns/net"),
        os.readlink("/proc/self/ns/mnt"),
    )


def test_without_the_filter_no_worker_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    needs_libseccomp()
    calls = seccomp.build()
    for filter_, says in (
        (seccomp.Filter(b"", calls.call), "refuses them"),
        (seccomp.Filter(bytes.fromhex("060000000000ff7f"), calls.call), "stops nothing"),
    ):
        monkeypatch.setattr(seccomp, "build", lambda found=filter_: found)
        monkeypatch.setattr(namespaces, "enter", namespaces.Namespaces)  # not in this process
        with pytest.raises(IsolationError, match=says):
            lockdown.prepare()


def test_the_hosts_message_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "from spade_envs.isolation import seccomp\nseccomp.LIBRARY = 'libno-such.so.2'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(IsolationError, match=r"libseccomp.*apt-get.*isolation='none'"):
        Worker.start(hash_seed=78)
    assert 78 not in fork_server._zygotes


@pytest.mark.skipif(os.geteuid() != 0, reason="a locked worker's descriptors are for root to see")
def test_a_worker_holds_its_counters_and_nothing_else() -> None:
    worker = Worker.start()
    worker.load(design())
    (process,) = workers()
    names = [os.readlink(f"/proc/{process}/fd/{fd}") for fd in os.listdir(f"/proc/{process}/fd")]
    assert sorted(name.partition(":")[0] for name in names) == ["/dev/null"] * 3 + ["anon_inode"] * 2
    with open(f"/proc/{zygote()}/environ", "rb") as environment:
        variables = {line.partition(b"=")[0] for line in environment.read().split(b"\0") if line}
    known = {b"PYTHONHASHSEED", b"PYTHONPATH", b"OPENBLAS_NUM_THREADS", b"OMP_NUM_THREADS", b"SPADE_REGISTER"}
    assert variables == known
    worker.close()
