"""Docstrings of installed packages: parsed, never imported, in one order, kept until the version changes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spade_train.corpus import cache, installed, packages
from spade_train.corpus.docstrings import docstrings, prose
from spade_train.corpus.installed import read_installed
from spade_train.corpus.packages import Package

PROSE = (
    "Sort the numbers of a list by counting how often each of them comes, which takes no longer than to look at "
    "them once. It wants whole numbers in a known range, and as much memory as that range is long. Equal numbers "
    "keep the order in which they stood."
)
SOURCE = f'''
"""{PROSE}"""
raise SystemExit("it was imported")
if True:
    def sort(x):
        """{PROSE.replace("Sort", "Order")}

        Parameters
        ----------
        x : list
            What to sort.

        Examples
        --------
        >>> sort([2, 1])
        [1, 2]
        """
def _inner():
    """{PROSE.replace("Sort", "Inwardly sort")}"""
class Sorter:
    """Short."""
    def run(self):
        """{PROSE}"""
'''


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "folder", lambda: tmp_path / "cache")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with three installed packages, first on the path."""
    root = tmp_path / "site"
    for name, licence, source in (
        ("sorter", "License: BSD", SOURCE),
        ("nolicence", "Summary: none", SOURCE),
        ("broken", "License-Expression: MIT", "def f(:"),
    ):
        info = root / f"{name}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{licence}\n")
        (root / name).mkdir()
        (root / name / "__init__.py").write_text(source)
        (root / name / "tests").mkdir()
        (root / name / "tests" / "test_it.py").write_text(SOURCE.replace("Sort", "Test"))
        listed = (f"{name}/__init__.py", f"{name}/tests/test_it.py", f"{name}-1.0.dist-info/METADATA")
        (info / "RECORD").write_text("".join(f"{one},,\n" for one in listed))
    monkeypatch.syspath_prepend(str(root))
    return root


def read(name: str) -> list[tuple[str, str | None]]:
    return [
        (one.source, one.licence)
        for one in read_installed(name, print)
        if isinstance(one, installed.Document)
    ]


def test_docstrings_are_parsed_each_once_with_its_licence(site: Path) -> None:
    assert read("sorter") == [
        ("installed:sorter==1.0:sorter", "BSD-3-Clause"),
        ("installed:sorter==1.0:sorter.sort", "BSD-3-Clause"),
    ]
    assert "sorter" not in sys.modules


def test_lists_of_parameters_are_left_out_and_examples_kept() -> None:
    found = dict(docstrings(SOURCE.encode(), "m"))
    assert "What to sort" not in found["m.sort"]
    assert found["m.sort"].endswith(">>> sort([2, 1])\n[1, 2]")
    assert prose("Do it.\n\nArgs:\n    x: one.\n\n        two\n\nIt is done.") == "Do it.\n\nIt is done."
    assert prose("Do it.\n\n:param x: one\n    more\n:returns: two") == "Do it."
    assert prose("Do it.\n\nReturns\n=======\nint\n\nNotes\n=====\nWell.") == "Do it.\n\nNotes\n=====\nWell."


def test_a_package_without_a_licence_is_taken_when_it_is_named(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = [package for package in packages.packages() if package.name in ("sorter", "nolicence")]
    monkeypatch.setattr(installed, "packages", lambda: there)
    told = list(read_installed(None, print))
    assert [one.source for one in told if isinstance(one, installed.Document)] == [
        "installed:sorter==1.0:sorter",
        "installed:sorter==1.0:sorter.sort",
    ]
    assert [one.text() for one in told if isinstance(one, installed.Unread)] == [
        "installed: nolicence is left out: its metadata tell no licence. "
        "Write installed:nolicence to take it all the same."
    ]
    assert {licence for _, licence in read("nolicence")} == {None}


def test_sources_that_are_no_python_are_counted(site: Path) -> None:
    (one,) = read_installed("broken", print)
    assert isinstance(one, installed.Unread)
    assert "1 sources cannot be parsed, the first of them broken" in one.found


def test_what_was_read_is_kept_until_the_version_changes(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = read("sorter")
    (site / "sorter" / "__init__.py").unlink()
    assert read("sorter") == first
    (kept,) = cache.folder().rglob("sorter*.json")
    kept.write_bytes(kept.read_bytes()[:-5])
    assert read("sorter") == []
    (site / "sorter-1.0.dist-info" / "METADATA").write_text("Name: sorter\nVersion: 2.0\nLicense: MIT\n")
    (site / "sorter" / "__init__.py").write_text(SOURCE)
    assert read("sorter")[0] == ("installed:sorter==2.0:sorter", "MIT")


def test_a_cache_that_cannot_be_written_is_no_obstacle(
    site: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(cache, "folder", lambda: tmp_path / "file")
    assert len(read("sorter")) == 2


def test_a_large_package_gives_no_more_than_its_part(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "MOST_OF_A_PACKAGE", 1)
    assert len(read("sorter")) == 1


def test_the_standard_library_is_there_and_read_alike_by_every_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    standard = next(package for package in packages.packages() if package.name == "python")
    assert standard.licence == "PSF-2.0"
    wanted = [
        one for one in standard.sources() if one[0] in ("heapq", "random", "json.decoder", "statistics")
    ]
    assert [name for name, _ in wanted] == ["heapq", "json.decoder", "random", "statistics"]
    monkeypatch.setattr(Package, "sources", lambda _: wanted)
    here = read("python")
    assert ("installed:python==" + standard.version + ":heapq", "PSF-2.0") in here
    program = (
        "from spade_train.corpus import cache, packages; from spade_train.corpus.installed import read_installed\n"
        "import tempfile, pathlib; cache.folder = lambda f=pathlib.Path(tempfile.mkdtemp()): f\n"
        "take = packages.Package.sources\n"
        "names = ('heapq', 'random', 'json.decoder', 'statistics')\n"
        "packages.Package.sources = lambda self: [one for one in take(self) if one[0] in names]\n"
        "print(*(one.source for one in read_installed('python', print)))"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert out.split() == [source for source, _ in here]
