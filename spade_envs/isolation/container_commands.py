"""The command lines that start a worker in a container, as pure functions of what it shall be.

Bubblewrap gives the host's own Python, seen through an otherwise empty file system. Podman and Docker give an
image's Python of the same version, into which this project and its installed dependencies are mounted. In all
of them nothing can be written, there is no network, and nothing of the host's environment is seen.
"""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec

from spade_envs.errors import IsolationError
from spade_envs.isolation.limits import Limits

NOBODY = "65534"
OVERHEAD_MB = 256
"""What an image's interpreter takes beyond the limit on a design's memory, which the worker sets itself."""
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/etc/ld.so.cache")
_DEPENDENCIES = ("gymnasium", "numpy", "msgspec", "RestrictedPython")


@dataclass(frozen=True, slots=True)
class Container:
    """What a worker's container shall be.

    Attributes:
        program: arguments of Python.
        python: the host's Python.
        prefixes: folders of the host's Python: its virtual environment and what that was made from.
        packages: folders with the worker's code, at which they stand in the container, too.
        import_path: ``PYTHONPATH``.
        hash_seed: ``PYTHONHASHSEED``.
        limits: the worker's limits.
        name: of the container, where it has one.
        image: with a Python of the host's version.
        as_root: whether the host is root: Bubblewrap then needs no user namespace, and the worker gives root up.
    """

    program: tuple[str, ...]
    python: str
    prefixes: tuple[str, ...]
    packages: tuple[str, ...]
    import_path: tuple[str, ...]
    hash_seed: int
    limits: Limits
    name: str
    image: str
    as_root: bool

    @classmethod
    def of_worker(cls, limits: Limits, hash_seed: int) -> Self:
        """Return the container of a worker of this process's Python."""
        roots = [
            entry for entry in map(os.path.abspath, filter(None, sys.path)) if _holds_dependencies(entry)
        ]
        project = Path(__file__).parents[1]
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return cls(
            program=("-P", "-m", "spade_envs.isolation.contained", msgspec.json.encode(limits).decode()),
            python=sys.executable,
            prefixes=(sys.prefix, sys.base_prefix),
            packages=(*roots, str(project)),
            import_path=tuple(dict.fromkeys((str(project.parent), *roots))),
            hash_seed=hash_seed,
            limits=limits,
            name=f"spade-{os.getpid()}-{secrets.token_hex(4)}",
            image=os.environ.get("SPADE_CONTAINER_IMAGE") or f"python:{version}-slim",
            as_root=os.geteuid() == 0,
        )

    @property
    def variables(self) -> dict[str, str]:
        """All environment variables of the worker's interpreter that this project sets."""
        return {
            "PYTHONHASHSEED": str(self.hash_seed),
            "PYTHONPATH": os.pathsep.join(self.import_path),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
            "OMP_NUM_THREADS": "1",
            "SPADE_REGISTER": "0",  # a worker needs no registry
        }


def bubblewrap(container: Container) -> list[str]:
    """Return the command that runs the worker under Bubblewrap, as the first process of its own namespaces."""
    command = ["bwrap", *_namespaces(container.as_root)]
    command += ["--die-with-parent", "--new-session", "--as-pid-1", "--clearenv"]
    for name, value in container.variables.items():
        command += ["--setenv", name, value]
    for path in _SYSTEM:
        command += ["--ro-bind-try", path, path]
    for path in _outermost((*container.prefixes, *container.packages)):
        command += ["--ro-bind", path, path]
    command += ["--proc", "/proc", "--dev", "/dev"]
    command += [
        "--tmpfs",
        "/proc/sys",
    ]  # where the host is root, settings of its kernel could be written there
    for path in ("/proc/sys", "/dev", "/"):
        command += ["--remount-ro", path]
    return [*command, "--chdir", "/", "--", container.python, *container.program]


def _namespaces(as_root: bool) -> list[str]:
    if not as_root:
        return ["--unshare-all", "--uid", NOBODY, "--gid", NOBODY, "--cap-drop", "ALL"]
    # In a user namespace root would stay root to the host's files. Without one it can become nobody.
    names = ("ipc", "pid", "net", "uts", "cgroup-try")
    return [
        *(f"--unshare-{name}" for name in names),
        *("--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"),
    ]


def docker(container: Container) -> list[str]:
    """Return the command that runs the worker under Docker."""
    return ["docker", *_run(container, [])]


def podman(container: Container) -> list[str]:
    """Return the command that runs the worker under Podman."""
    # Labels would keep the container from reading what is mounted; relabelling the host's folders is worse.
    extra = ["--read-only-tmpfs=false", "--security-opt", "label=disable"]
    return ["podman", *_run(container, extra)]


def _run(container: Container, extra: list[str]) -> list[str]:
    memory = f"{container.limits.memory_mb + OVERHEAD_MB}m"
    command = ["run", "--rm", "--interactive", "--name", container.name]
    command += ["--log-driver", "none"]  # else all that the worker says would be kept on disk
    command += ["--network", "none", "--ipc", "none", "--read-only", *extra]
    command += ["--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--user", f"{NOBODY}:{NOBODY}"]
    command += ["--pids-limit", "8", "--memory", memory, "--memory-swap", memory, "--workdir", "/"]
    for name, value in container.variables.items():
        command += ["--env", f"{name}={value}"]
    for path in _outermost(container.packages):
        command += ["--volume", f"{path}:{path}:ro"]
    return [*command, "--entrypoint", "python3", container.image, *container.program]


RUNTIMES: Mapping[str, Callable[[Container], list[str]]] = {
    "bwrap": bubblewrap,
    "podman": podman,
    "docker": docker,
}
"""The command of each runtime, in the order of preference."""


def find_runtime() -> str:
    """Return the name of the runtime to use: what ``SPADE_CONTAINER`` says, or the first on the search path.

    Raises:
        IsolationError: there is none.
    """
    wanted = os.environ.get("SPADE_CONTAINER")
    if wanted and wanted not in RUNTIMES:
        raise IsolationError(f"SPADE_CONTAINER must be one of {', '.join(RUNTIMES)}, found {wanted!r}")
    for name in [wanted] if wanted else RUNTIMES:
        if shutil.which(name):
            return name
    raise IsolationError(
        f"isolation='container' needs {wanted or 'bwrap, podman or docker'} on the search path. The smallest is "
        "Bubblewrap: apt install bubblewrap, or dnf install bubblewrap."
    )


def _holds_dependencies(entry: str) -> bool:
    """Say whether the worker imports from here. The rest of the import path, perhaps a home, is not shown to it."""
    return any(Path(entry, name).is_dir() for name in _DEPENDENCIES)


def _outermost(paths: tuple[str, ...]) -> list[str]:
    """Return the paths that lie in none of the others and are not the system's."""
    kept: list[str] = []
    for path in sorted(set(paths)):  # a folder comes before what lies in it
        if not any(Path(path).is_relative_to(other) for other in (*_SYSTEM, *kept)):
            kept.append(path)
    return kept
