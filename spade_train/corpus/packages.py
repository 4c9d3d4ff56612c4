"""Which packages are installed here, with version, licence and sources. None of them is imported."""

from __future__ import annotations

import platform
import re
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.metadata import Distribution, PackageMetadata, distributions
from pathlib import Path

STANDARD = "python"
"""The standard library's name."""

PLUMBING = {
    *("pip", "setuptools", "wheel", "distribute", "build", "hatchling", "virtualenv", "spade-envs"),
    *(
        "transformers",
        "trl",
        "peft",
        "accelerate",
        "datasets",
        "huggingface-hub",
        "tokenizers",
        "safetensors",
    ),
}
"""Installers, and what loads and trains models: their documentation tells of options and not of ideas."""

_PASSED_OVER = {
    *(
        "test",
        "tests",
        "testing",
        "_vendor",
        "vendor",
        "vendored",
        "_vendored",
        "site-packages",
        "dist-packages",
    ),
    *(
        "idlelib",
        "lib2to3",
        "turtledemo",
        "ensurepip",
        "pydoc_data",
        "encodings",
        "migrations",
        "__pycache__",
    ),
}
_SPDX = {
    "apache": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "mit": "MIT",
    "isc": "ISC",
    "mozilla": "MPL-2.0",
    "mpl": "MPL-2.0",
    "python software": "PSF-2.0",
    "psf": "PSF-2.0",
    "zope": "ZPL-2.1",
    "unlicense": "Unlicense",
    "public domain": "Unlicense",
}
"""Word of a licence as metadata without an SPDX expression tell it -> the SPDX id that it usually means."""


@dataclass(frozen=True, slots=True)
class Package:
    """One package.

    Attributes:
        name: normalised: lower case, hyphens.
        licence: an SPDX expression; None where its metadata tell none.
    """

    name: str
    version: str
    licence: str | None
    _distribution: Distribution | None = field(default=None, repr=False, compare=False)

    def sources(self) -> list[tuple[str, Path]]:
        """Return the dotted name and the path of each module's source, in order, without tests."""
        found = self._listed() if self._distribution is not None else _standard()
        return sorted((_module(part), path) for part, path in found if _is_wanted(part))

    def _listed(self) -> Iterator[tuple[Path, Path]]:
        for part in (self._distribution and self._distribution.files) or ():
            if part.suffix == ".py" and ".." not in part.parts:
                yield Path(part), Path(str(part.locate()))


def packages() -> list[Package]:
    """Return the standard library and every installed package, by name."""
    found = {STANDARD: Package(STANDARD, platform.python_version(), "PSF-2.0")}
    for one in distributions():
        told = one.metadata  # read once: it is parsed anew each time
        name = re.sub(r"[-_.]+", "-", _told(told, "Name")).lower()
        if name and name not in found:
            found[name] = Package(name, _told(told, "Version"), licence(told), one)
    return sorted(found.values(), key=lambda package: package.name)


def licence(metadata: PackageMetadata) -> str | None:
    """Return a package's licence as an SPDX expression, as far as its metadata tell it."""
    if expression := _told(metadata, "License-Expression"):
        return expression
    classifiers = [str(one) for one in metadata.get_all("Classifier") or []]
    licences = [one for one in classifiers if one.startswith("License :: ")]
    for told in (_told(metadata, "License"), *licences):
        line = (told.strip().splitlines() or [""])[0]
        if re.fullmatch(r"[A-Za-z][\w.+-]*-\d[\w.+-]*", line):  # BSD-3-Clause, Apache-2.0
            return line
        if match := next((spdx for word, spdx in _SPDX.items() if word in line.lower()[:80]), None):
            return match
    return None


def _told(metadata: PackageMetadata, key: str) -> str:
    return str(metadata[key]) if key in metadata else ""


def _standard() -> Iterator[tuple[Path, Path]]:
    root = Path(sysconfig.get_path("stdlib"))
    for path in root.rglob("*.py"):
        yield path.relative_to(root), path


def _is_wanted(part: Path) -> bool:
    name = part.name
    return not (_PASSED_OVER & set(part.parts) or name == "conftest.py" or name.startswith("test_"))


def _module(part: Path) -> str:
    parts = part.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)
