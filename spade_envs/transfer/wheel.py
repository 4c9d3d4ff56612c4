"""A wheel: a package that registers its environments with Gymnasium when it is imported.

Written by the specification (packaging.python.org, "Binary distribution format"): no library with a public
interface writes one. It is read as the zip that it is, and never imported.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import keyword
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_envs.registry.versions import READ_ONLY_FILE, Entry
from spade_envs.transfer import archive, folder

_TAG = "py3-none-any"
_MODULE = '''"""Environments for Gymnasium, run in worker processes by spade-envs. Importing this registers them."""

from pathlib import Path

import spade_envs

__version__ = "{version}"

registry = spade_envs.add_registry(Path(__file__).parent / "registry")
'''
_WHEEL = """Wheel-Version: 1.0
Generator: spade-envs {own}
Root-Is-Purelib: true
Tag: {tag}
"""
_METADATA = """Metadata-Version: 2.4
Name: {name}
Version: {version}
Summary: {count} environments for Gymnasium, each run in a worker process by spade-envs
{license}Requires-Python: >=3.11
Requires-Dist: spade-envs>={own}
Description-Content-Type: text/markdown

# {name}

`import {module}` registers these environments with Gymnasium:

{environments}
"""


@dataclass(frozen=True, slots=True)
class Package:
    """A package as its wheel's file name says it.

    Attributes:
        name: for `pip install`.
        version: of the package, not of its environments.
    """

    name: str
    version: str

    @property
    def module(self) -> str:
        """What is imported."""
        return self.name.replace("-", "_")


def package(file_name: str) -> Package:
    """Read name and version off a wheel's file name.

    Raises:
        UsageError: it is no wheel's name, or what would be imported cannot be, or is something else here already.
    """
    try:
        name, number, build, tags = parse_wheel_filename(file_name)
    except InvalidWheelFilename:
        raise _misnamed(file_name, _like(file_name), "1.0") from None
    found = Package(str(name), str(number))
    if build or [str(tag) for tag in tags] != [_TAG] or _file_name(found) != file_name:
        raise _misnamed(file_name, found.module, found.version)
    if not found.module.isidentifier() or keyword.iskeyword(found.module) or _taken(found):
        raise UsageError(
            f"a package {found.module!r} cannot be imported, or is something else on this machine; choose another name"
        )
    return found


def write(versions: Sequence[Entry], file: IO[bytes], target: Package) -> None:
    """Write versions as a wheel."""
    archive.pack(_recorded(_members(versions, target), target), file)


def _members(versions: Sequence[Entry], target: Package) -> Iterator[tuple[str, bytes]]:
    yield f"{target.module}/__init__.py", _MODULE.format(version=target.version).encode()
    yield f"{target.module}/registry/{READ_ONLY_FILE}", b""  # what a package brought is not written to
    for name, data in folder.files(versions):
        yield f"{target.module}/registry/{name}", data
    yield f"{_info(target)}/METADATA", _metadata(versions, target).encode()
    yield f"{_info(target)}/WHEEL", _WHEEL.format(own=version("spade-envs"), tag=_TAG).encode()


def _recorded(members: Iterator[tuple[str, bytes]], target: Package) -> Iterator[tuple[str, bytes]]:
    """Yield members and last their record: name, hash and size of each."""
    record, name = io.StringIO(), f"{_info(target)}/RECORD"
    rows = csv.writer(record, lineterminator="\n")
    for member, data in members:
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.writerow((member, f"sha256={digest}", len(data)))
        yield member, data
    rows.writerow((name, "", ""))
    yield name, record.getvalue().encode()


def _metadata(versions: Sequence[Entry], target: Package) -> str:
    return _METADATA.format(
        name=target.name,
        version=target.version,
        module=target.module,
        count=len(versions),
        license=_license({entry.header.license for entry in versions}),
        own=version("spade-envs"),
        environments="\n".join(f"- `{entry.header.id}`: {entry.header.title}" for entry in versions),
    )


def _license(used: set[str]) -> str:
    """Return the line that names all licences; none where one is not on SPDX's list, which headers need not keep to."""
    several = " AND ".join(f"({text})" if " " in text else text for text in sorted(used))
    try:
        whole = canonicalize_license_expression(several)
    except InvalidLicenseExpression:
        return ""
    return f"License-Expression: {whole}\n"


def _info(target: Package) -> str:
    return f"{target.module}-{target.version}.dist-info"


def _file_name(target: Package) -> str:
    return f"{target.module}-{target.version}-{_TAG}.whl"


def _like(file_name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", Path(file_name).stem.lower()).strip("_") or "my_envs"


def _misnamed(file_name: str, module: str, number: str) -> UsageError:
    example = _file_name(Package(module, number))
    return UsageError(
        f"{printable(file_name)} is no name of a wheel: that has the package's name, its version and {_TAG};"
        f" write for example {example}"
    )


def _taken(target: Package) -> bool:
    """Whether something else is imported under this name; an earlier wheel of the same name is not something else."""
    if target.module in sys.stdlib_module_names:
        return True
    spec = find_spec(target.module)
    if spec is None or spec.origin is None:  # a folder without code, as any folder beside may be
        return False
    try:
        needs = distribution(target.name).requires or []
    except PackageNotFoundError:
        return True
    return not any(need.startswith("spade-envs") for need in needs)
