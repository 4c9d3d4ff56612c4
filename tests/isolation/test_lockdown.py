"""What a process can still do after it is locked down."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from processes import children, workers
from small_designs import design

from spade_envs.isolation import Worker

PROBE = """
import json, os, socket, sys
from spade_envs.isolation import lockdown

os.environ["SECRET"] = "42"
inherited = os.open("/etc/passwd", os.O_RDONLY)
report, replies = os.pipe()
parent = os.getpid()
if os.fork() == 0:
    lockdown.lock_down([replies], 64 << 20, parent)

    def attempt(action):
        try:
            return repr(action())
        except BaseException as error:
            return type(error).__name__

    with open("/proc/self/status") as lines:
        status = dict(line.rstrip("\\n").split(":\\t", 1) for line in lines if ":\\t" in line)
    found = {
        "descriptors": sorted(map(int, os.listdir("/proc/self/fd"))),
        "standard": [os.readlink(f"/proc/self/fd/{fd}") for fd in range(3)],
        "environment": dict(os.environ),
        "folder": os.getcwd(),
        "user": os.getresuid() + os.getresgid() + tuple(os.getgroups()),
        "no_new_privs": status["NoNewPrivs"],
        "fork": attempt(os.fork),
        "memory": attempt(lambda: len(bytearray(100 << 20))),
        "less memory": attempt(lambda: len(bytearray(30 << 20))),
        "root": attempt(lambda: os.setuid(0)),
        "write": attempt(lambda: os.write(os.open(sys.argv[1], os.O_CREAT | os.O_RDWR), b"x")),
    }
    os.write(replies, json.dumps(found).encode())
    os._exit(0)
os.close(replies)
print(os.read(report, 1 << 16).decode())
"""


@pytest.fixture(scope="module")
def locked() -> Any:
    target = f"/dev/shm/spade-probe-{os.getpid()}"
    done = subprocess.run([sys.executable, "-c", PROBE, target], capture_output=True, text=True, check=True)
    if os.path.exists(target):
        os.unlink(target)
    return json.loads(done.stdout)


def test_nothing_of_the_hosts_is_left(locked: Any) -> None:
    assert locked["standard"] == ["/dev/null"] * 3
    # The report's pipe, and the descriptor that lists the folder.
    assert len(locked["descriptors"]) == 5
    assert locked["environment"] == {}
    assert locked["folder"] == "/"


def test_nothing_can_be_started_written_or_won_back(locked: Any) -> None:
    assert locked["fork"] in ("BlockingIOError", "PermissionError")
    assert locked["write"] == "OSError"
    assert locked["memory"] == "MemoryError"
    assert locked["less memory"] == str(30 << 20)
    assert locked["no_new_privs"] == "1"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has an identity to give up")
def test_root_becomes_nobody(locked: Any) -> None:
    assert locked["user"] == [65534] * 6
    assert locked["root"] == "PermissionError"


@pytest.mark.skipif(os.geteuid() != 0, reason="a locked worker's descriptors are for root to see")
def test_a_worker_holds_its_counters_and_nothing_else() -> None:
    worker = Worker.start()
    worker.load(design())
    (process,) = workers()
    names = [os.readlink(f"/proc/{process}/fd/{fd}") for fd in os.listdir(f"/proc/{process}/fd")]
    assert sorted(name.partition(":")[0] for name in names) == ["/dev/null"] * 3 + ["anon_inode"] * 2
    zygote = children()[0]
    with open(f"/proc/{zygote}/environ", "rb") as environment:
        variables = {line.partition(b"=")[0] for line in environment.read().split(b"\0") if line}
    known = {b"PYTHONHASHSEED", b"PYTHONPATH", b"OPENBLAS_NUM_THREADS", b"OMP_NUM_THREADS", b"SPADE_REGISTER"}
    assert variables == known
    worker.close()
