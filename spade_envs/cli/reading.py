"""Reading a design's file, whatever it holds."""

from __future__ import annotations

from pathlib import Path

from spade_envs.contract import Finding, Rejection
from spade_envs.errors import UsageError

SOURCE_LIMIT = 64 * 1024  # bytes, contract section 3


def read_design(path: Path) -> str | Rejection:
    """Read a design's file, or say why it cannot be one.

    Raises:
        UsageError: there is no such file.
    """
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name the files in it, for example {path / '*.py'}")
    if not path.exists():
        raise UsageError(f"{path} does not exist; check the spelling")
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


def _unreadable(rule: str, found: str, remedy: str) -> Rejection:
    return Rejection((Finding(f"form.{rule}", found, remedy),))
