"""Reading a design's file, whatever it holds."""

from __future__ import annotations

import stat
from pathlib import Path

from spade_envs.contract import Finding, Rejection
from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_envs.registry.integrity import SOURCE_LIMIT

_KINDS = (
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def read_design(path: Path) -> str | Rejection:
    """Read a design's file, or say why it cannot be one.

    Raises:
        UsageError: there is no such file, or it is no regular one.
    """
    _check_regular(path)
    with path.open("rb") as file:
        data = file.read(SOURCE_LIMIT + 1)
    if len(data) > SOURCE_LIMIT:
        return _unreadable(
            "size", f"the file has more than {SOURCE_LIMIT} bytes", "Write a smaller environment."
        )
    if not data.strip():
        return _unreadable("empty", "the file is empty", "Write a header and one environment class.")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        found = f"byte {error.start} is no UTF-8; this is no text file"
        return _unreadable("encoding", found, "Write the source as UTF-8 text.")


def _check_regular(path: Path) -> None:
    """What is no regular file might never come to its end, or never begin."""
    name = printable(str(path))
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise UsageError(f"{name} does not exist; check the spelling") from None
    if stat.S_ISDIR(mode):
        example = printable(str(path / "*.py"))
        raise UsageError(f"{name} is a folder; name the files in it, for example {example}")
    if not stat.S_ISREG(mode):
        kind = next((word for is_one, word in _KINDS if is_one(mode)), "something else")
        raise UsageError(f"{name} is no regular file but {kind}; write the design into a file and name that")


def _unreadable(rule: str, found: str, remedy: str) -> Rejection:
    return Rejection((Finding(f"form.{rule}", found, remedy),))
