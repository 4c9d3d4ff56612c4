"""A zip of a registry's folder. It is written so that the same versions give the same bytes, on every machine.

Nothing is ever unpacked: members are read one by one, up to the size that a file of a version may have, and what
their names say is only compared.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from spade_envs.contract.ids import EnvId
from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_envs.registry.integrity import (
    REPORT_LIMIT,
    SOURCE_LIMIT,
    Missing,
    examined,
    version_of,
)
from spade_envs.registry.versions import Entry
from spade_envs.transfer import folder
from spade_envs.transfer.arrival import Arrival, arrived, broken

MOST_VERSIONS = 250_000
MOST_BYTES = 2 * 1024**3
"""What the versions of an archive may come to, unpacked."""
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip can name
_AGAIN = "Have the archive made again with `spade-envs export`."
# What Python's reader raises for bytes that are no zip, or one of another kind; RuntimeError: for a password.
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    ValueError,
    OverflowError,
    struct.error,
)
_Members = dict[str, zipfile.ZipInfo]  # by ending


def write(versions: Iterable[Entry], file: IO[bytes]) -> None:
    """Write versions as a zip."""
    pack(folder.files(versions), file)


def pack(members: Iterable[tuple[str, bytes]], file: IO[bytes]) -> None:
    """Write members as a zip. They are stored, not compressed: bytes would depend on the machine's zlib."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in members:
            member = zipfile.ZipInfo(name, _EPOCH)
            member.create_system, member.external_attr = 3, 0o100644 << 16
            archive.writestr(member, data)


def read(path: Path) -> Iterator[Arrival]:
    """Yield the versions in a zip or a wheel, whatever folder of it they lie in.

    Raises:
        UsageError: it is no zip, or too large.
    """
    try:
        archive = zipfile.ZipFile(path)
    except _UNREADABLE as error:
        raise UsageError(f"{printable(str(path))} is no zip that can be read ({error}). {_AGAIN}") from None
    with archive:
        found, strays = _sorted_out(archive.infolist())
        _check_size(path, found)
        for name in strays:
            yield broken(f"{path}:{name}", "its name leads out of the archive, or stands in it twice", _AGAIN)
        for (place, env_id), members in sorted(found.items()):
            source = _member(archive, members.get(".py"), SOURCE_LIMIT)
            report = _member(archive, members.get(".json"), REPORT_LIMIT)
            yield arrived(f"{path}:{place}", examined(env_id, source, report))


def _sorted_out(members: list[zipfile.ZipInfo]) -> tuple[dict[tuple[str, EnvId], _Members], list[str]]:
    """Return the files of each version, and the names that are none to be trusted."""
    found: dict[tuple[str, EnvId], _Members] = {}
    strays: list[str] = []
    for member in members:
        path = PurePosixPath(member.filename.replace("\\", "/"))
        env_id = version_of(path.parent.name, path.name)
        if env_id is None:
            continue
        of_version = found.setdefault((str(path.with_suffix(".py")), env_id), {})
        if path.is_absolute() or ".." in path.parts or path.suffix in of_version:
            strays.append(member.filename)
        else:
            of_version[path.suffix] = member
    return {key: of_version for key, of_version in found.items() if of_version}, strays


def _check_size(path: Path, found: dict[tuple[str, EnvId], _Members]) -> None:
    sizes = [
        min(member.file_size, SOURCE_LIMIT if suffix == ".py" else REPORT_LIMIT)
        for members in found.values()
        for suffix, member in members.items()
    ]
    if len(found) > MOST_VERSIONS or sum(sizes) > MOST_BYTES:
        raise UsageError(
            f"{printable(str(path))} holds {len(found):,} versions that unpack to {sum(sizes):,} bytes;"
            f" at most {MOST_VERSIONS:,} and {MOST_BYTES:,} are read at once: split it"
        )


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo | None, limit: int) -> bytes | Missing:
    """Return a member's bytes, at most one more than the limit, or why there are none."""
    if member is None:
        return Missing("is missing")
    try:
        with archive.open(member) as file:
            return file.read(limit + 1)
    except (*_UNREADABLE, OSError) as error:
        return Missing(f"cannot be unpacked: {error}")
