"""A process that is locked down by the product's own function, with any of its layers switched off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Collection
from typing import Any

import pytest

from spade_envs.errors import IsolationError
from spade_envs.isolation import seccomp

CALLS, LANDLOCK, NAMESPACES = "calls", "landlock", "_leave_files"
DESCRIPTORS, SURROUNDINGS, LIMITS = "_close_descriptors", "_forget_surroundings", "_limit_resources"
IDENTITY, CAPABILITIES, DEATH = "_drop_identity", "_drop_capabilities", "_die_with"
ALL = (*(CALLS, LANDLOCK, NAMESPACES, DESCRIPTORS, SURROUNDINGS, LIMITS, IDENTITY, CAPABILITIES, DEATH),)

SCRIPT = """
import ctypes, errno, json, mmap, os, resource, select, signal, socket, sys, time
import numpy as np
from spade_envs.isolation import landlock, lockdown, namespaces, seccomp

only, groups, user = json.loads(sys.argv[1])
sys.path.insert(0, sys.argv[2])
import sums

os.environ["SECRET"] = "42"
inherited = os.dup2(os.open("/etc/passwd", os.O_RDONLY), 30)
secret = os.open(sys.argv[3], os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
if user:
    os.setgroups([])
    os.setresgid(user, user, user)
    os.setresuid(user, user, user)

def call(name, *arguments):
    if libc.syscall(seccomp.number(name), *arguments) < 0:
        raise OSError(ctypes.get_errno(), name)

spaces = namespaces.enter() if "_leave_files" in only else namespaces.Namespaces()
calls = seccomp.build()
prepared = lockdown.Preparation(calls, spaces)
for name in dir(lockdown):
    if name in sys.argv[4].split() and name not in only:
        setattr(lockdown, name, lambda *_: None)
if "landlock" not in only:
    landlock.restrict = lambda: 0
lock = lockdown.lock_down if "calls" in only else lockdown.give_up_all_but_calls
parent = os.getpid()

def ended(attempts):
    answers, report = os.pipe()
    if os.fork() == 0:
        status = os.open("/proc/self/status", os.O_RDONLY)
        for old, new in ((status, 20), (report, 21), (secret, 22), (20, 3), (21, 4)):
            os.dup2(old, new)
        names = {**globals(), "status": 3, "report": 4, "secret": 22}
        lock(3, 4, 64 << 20, parent, prepared)
        said = {}
        for attempt in attempts:
            try:
                said[attempt] = repr(eval(attempt, names))
            except OSError as error:
                said[attempt] = errno.errorcode[error.errno]
            except BaseException as error:
                said[attempt] = type(error).__name__
        os.write(4, json.dumps(said).encode())
        os._exit(0)
    os.close(report)
    said = os.read(answers, 1 << 16).decode()
    os.close(answers)
    return os.waitstatus_to_exitcode(os.wait()[1]), said and json.loads(said), spaces.kinds

print(json.dumps([ended(attempts) for attempts in groups]))
"""


def locked(
    attempts: Collection[str], only: Collection[str] = ALL, user: int = 0, file: str = os.devnull
) -> dict[str, str]:
    """Return what became of each attempt: an expression's value, or the name of its error.

    Args:
        attempts: expressions, see the names in ``SCRIPT``.
        only: the layers that are put in place.
        user: the user that the process is before it is locked down; 0 for this one's.
        file: a file that is open for writing as ``secret``.
    """
    status, said, _ = run(attempts, only, user, file)
    assert status == 0, f"ended with {status}"
    return said


def run(attempts: Collection[str], only: Collection[str] = ALL, user: int = 0, file: str = os.devnull) -> Any:
    """Return the exit status (negative: the signal), the answers, and the namespaces that were got."""
    (found,) = run_each([attempts], only, user, file)
    return found


def run_each(
    groups: Collection[Collection[str]],
    only: Collection[str] = ALL,
    user: int = 0,
    file: str = os.devnull,
) -> list[Any]:
    """Return the same of several processes, of which each makes a group of attempts."""
    needs_libseccomp()
    asked = json.dumps([list(only), list(map(list, groups)), user])
    arguments = [asked, os.path.dirname(__file__), file, " ".join(name for name in ALL if name[0] == "_")]
    return list(json.loads(python(SCRIPT, *arguments)))


def python(script: str, *arguments: str) -> str:
    """Run a script with NumPy's libraries in one thread, as a zygote does, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def needs_libseccomp() -> None:
    """Skip the test where there is none."""
    try:
        seccomp.library()
    except IsolationError:
        pytest.skip(f"{seccomp.LIBRARY} is not installed")
