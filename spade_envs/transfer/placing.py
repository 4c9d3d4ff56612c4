"""New files and folders that take their place whole, or leave no trace; what is there is not overwritten unasked."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_envs.registry.files import link
from spade_envs.registry.integrity import version_of


@contextlib.contextmanager
def new_file(target: Path, force: bool) -> Iterator[IO[bytes]]:
    """Yield a file that takes its place when the block has ended well.

    Raises:
        UsageError: something is there, or it has nowhere to lie.
        OSError: it cannot be written.
    """
    check_free(target, force)
    descriptor, name = tempfile.mkstemp(prefix=".new-", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        if force:
            os.replace(name, target)
        elif not _linked(Path(name), target):
            raise _there_already(target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)


@contextlib.contextmanager
def new_folder(target: Path, force: bool) -> Iterator[Path]:
    """Yield an empty folder that takes its place when the block has ended well. Raises as :func:`new_file`."""
    check_free(target, force)
    new = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
    try:
        yield new
        os.sync()  # a rename that is on disk before what it names would leave empty files after a crash
        new.chmod(0o755)
        _take_place(new, target, force)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def check_free(target: Path, force: bool) -> None:
    """Look whether something may be written there.

    Raises:
        UsageError: it has nowhere to lie, or something is there that is not to be overwritten.
    """
    if not target.parent.is_dir():
        raise UsageError(f"the folder {printable(str(target.parent))} does not exist; make it first")
    if not target.exists() or _is_empty_folder(target):
        return
    if not force:
        raise _there_already(target)
    if target.is_dir() and (other := _other_than_versions(target)):
        raise UsageError(
            f"{printable(str(target))} holds more than versions ({printable(other)}): it is not overwritten;"
            " remove it yourself, or name another place"
        )


def _there_already(target: Path) -> UsageError:
    return UsageError(
        f"{printable(str(target))} is there already; name another place, or overwrite it with --force"
    )


def _is_empty_folder(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _other_than_versions(folder: Path) -> str | None:
    """Return the first thing in a folder that no export has written."""
    for path in sorted(folder.iterdir()):
        if not path.is_dir():
            return path.name
        strange = (part for part in path.iterdir() if version_of(path.name, part.name) is None)
        if (part := next(strange, None)) is not None:
            return f"{path.name}/{part.name}"
    return None


def _linked(new: Path, target: Path) -> bool:
    """Give a file its name if that is free."""
    try:
        return link(new, target)
    except OSError:
        if target.exists():
            return False
        os.rename(new, target)  # a file system without links
        return True


def _take_place(new: Path, target: Path, force: bool) -> None:
    """Put a folder in its place; what is there and may go is kept until the new one is there."""
    if not force or not target.exists():
        try:
            return os.rename(new, target)  # an empty folder gives way
        except OSError:
            if target.exists():
                raise _there_already(target) from None
            raise
    aside = Path(tempfile.mkdtemp(prefix=".old-", dir=target.parent))
    try:
        os.rename(target, aside / target.name)
        try:
            os.rename(new, target)
        except BaseException:
            os.rename(aside / target.name, target)
            raise
    finally:
        shutil.rmtree(aside, ignore_errors=True)
