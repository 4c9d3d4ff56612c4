"""The command lines of the container runtimes, and which of the runtimes is chosen."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from spade_envs.errors import IsolationError
from spade_envs.isolation import Limits
from spade_envs.isolation.container_commands import (
    RUNTIMES,
    Container,
    bubblewrap,
    docker,
    find_runtime,
    podman,
)

PROGRAM = ("-P", "-m", "spade_envs.isolation.contained", "{}")
CONTAINER = Container(
    program=PROGRAM,
    python="/home/ann/venv/bin/python",
    prefixes=("/home/ann/venv", "/usr"),
    packages=("/home/ann/venv/lib/python3.11/site-packages", "/home/ann/spade/spade_envs"),
    import_path=("/home/ann/spade", "/home/ann/venv/lib/python3.11/site-packages"),
    hash_seed=7,
    limits=Limits(memory_mb=512),
    name="spade-1-ab",
    image="python:3.11-slim",
    as_root=False,
)
IMPORT_PATH = "/home/ann/spade:/home/ann/venv/lib/python3.11/site-packages"
DOCKER = f"""
docker run --rm --interactive --name spade-1-ab --log-driver none --network none --ipc none --read-only
--cap-drop ALL --security-opt no-new-privileges --user 65534:65534
--pids-limit 8 --memory 768m --memory-swap 768m --workdir /
--env PYTHONHASHSEED=7 --env PYTHONPATH={IMPORT_PATH} --env PYTHONDONTWRITEBYTECODE=1
--env OPENBLAS_NUM_THREADS=1 --env OMP_NUM_THREADS=1 --env SPADE_REGISTER=0
--volume /home/ann/spade/spade_envs:/home/ann/spade/spade_envs:ro
--volume /home/ann/venv/lib/python3.11/site-packages:/home/ann/venv/lib/python3.11/site-packages:ro
--entrypoint python3 python:3.11-slim -P -m spade_envs.isolation.contained {{}}
"""
BUBBLEWRAP = f"""
bwrap --unshare-all --uid 65534 --gid 65534 --cap-drop ALL
--die-with-parent --new-session --as-pid-1 --clearenv
--setenv PYTHONHASHSEED 7 --setenv PYTHONPATH {IMPORT_PATH} --setenv PYTHONDONTWRITEBYTECODE 1
--setenv OPENBLAS_NUM_THREADS 1 --setenv OMP_NUM_THREADS 1 --setenv SPADE_REGISTER 0
--ro-bind-try /usr /usr --ro-bind-try /lib /lib --ro-bind-try /lib32 /lib32 --ro-bind-try /lib64 /lib64
--ro-bind-try /bin /bin --ro-bind-try /etc/ld.so.cache /etc/ld.so.cache
--ro-bind /home/ann/spade/spade_envs /home/ann/spade/spade_envs --ro-bind /home/ann/venv /home/ann/venv
--proc /proc --dev /dev --tmpfs /proc/sys --remount-ro /proc/sys --remount-ro /dev --remount-ro /
--chdir / -- /home/ann/venv/bin/python -P -m spade_envs.isolation.contained {{}}
"""


def test_bubblewraps_command_line() -> None:
    assert bubblewrap(CONTAINER) == BUBBLEWRAP.split()


def test_root_needs_no_user_namespace_and_can_become_nobody() -> None:
    command = " ".join(bubblewrap(replace(CONTAINER, as_root=True)))
    unshared = "--unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup-try"
    kept = "--cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID"
    assert command.startswith(f"bwrap {unshared} {kept} --die-with-parent")


def test_dockers_command_line() -> None:
    assert docker(CONTAINER) == DOCKER.split()


def test_podmans_command_line() -> None:
    extra = "--read-only --read-only-tmpfs=false --security-opt label=disable "
    assert podman(CONTAINER) == DOCKER.replace("docker", "podman").replace("--read-only\n", extra).split()


def test_a_workers_container_shows_what_it_imports_and_no_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), *sys.path])
    monkeypatch.setenv("SPADE_CONTAINER_IMAGE", "mine:1")
    container = Container.of_worker(Limits(), 3)
    project = Path(__file__).parents[2]
    assert str(tmp_path) not in container.packages + container.import_path
    assert str(project / "spade_envs") in container.packages
    assert str(project) not in container.packages
    assert str(project) in container.import_path
    assert (container.hash_seed, container.image) == (3, "mine:1")
    assert container.name != Container.of_worker(Limits(), 3).name


def installed(folder: Path, *names: str) -> str:
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return str(folder)


def test_a_runtime_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SPADE_CONTAINER", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        IsolationError, match=r"needs bwrap, podman or docker on the search path\..*apt install"
    ):
        find_runtime()
    for name in reversed(RUNTIMES):
        installed(tmp_path, name)
        assert find_runtime() == name
    monkeypatch.setenv("SPADE_CONTAINER", "docker")
    assert find_runtime() == "docker"
    (tmp_path / "docker").unlink()
    with pytest.raises(IsolationError, match="needs docker on"):
        find_runtime()
    monkeypatch.setenv("SPADE_CONTAINER", "lxc")
    with pytest.raises(IsolationError, match="one of bwrap, podman, docker, found 'lxc'"):
        find_runtime()
