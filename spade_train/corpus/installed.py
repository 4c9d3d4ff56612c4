"""``installed``: the docstrings of the packages that are installed here, which every machine has.

They are read once for each version of a package and kept in the user's cache folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import sha256

from spade_envs.contract import near_matches
from spade_envs.errors import UsageError
from spade_train.corpus.cache import Kept, is_kept, kept
from spade_train.corpus.docstrings import docstrings
from spade_train.corpus.document import Document, Entry, Unread
from spade_train.corpus.junk import why_junk
from spade_train.corpus.packages import PLUMBING, Package, packages

WORD = "installed"
LEAST_WORDS = 40
"""A docstring with fewer, its lists of parameters left out, is no document."""

MOST_OF_A_PACKAGE = 2_000
"""So many documents of one package are taken: a large one shall not be most of the corpus."""

FORMAT = 1
"""Of what is kept: another number reads every package anew."""


def read_installed(name: str | None, say: Callable[[str], object]) -> Iterator[Entry]:
    """Yield the documents of every package whose licence is known but the plumbing, or those of the named one.

    Args:
        say: is told when packages have to be read.

    Raises:
        UsageError: no package has this name.
    """
    there = packages()
    if name is None:
        there = [package for package in there if package.name not in PLUMBING]
        new = [package for package in there if package.licence and not is_kept(_kept_as(package))]
        if new:
            say(f"reading the documentation of {len(new)} installed packages, once (a minute or two) ...")
        for package in there:
            yield from _package(package) if package.licence else _unlicensed(package)
        return
    wanted = name.lower().replace("_", "-").replace(".", "-")
    if wanted not in {package.name for package in there}:
        near = near_matches(wanted, [package.name for package in there])
        mend = (
            f"Did you mean {WORD}:{near[0]}?" if near else f"Install it, or write {WORD} for all there are."
        )
        raise UsageError(f"{WORD}:{name}: there is no such package here. {mend}")
    yield from _package(next(package for package in there if package.name == wanted))


def _unlicensed(package: Package) -> Iterator[Entry]:
    found = f"{package.name} is left out: its metadata tell no licence"
    yield Unread(WORD, found, f"Write {WORD}:{package.name} to take it all the same")


def _package(package: Package) -> Iterator[Entry]:
    place = f"{WORD}:{package.name}=={package.version}"
    found = kept(_kept_as(package), lambda: _read(package, place))
    yield from found.documents
    yield from found.unread


def _kept_as(package: Package) -> str:
    return f"installed/{package.name}-{package.version}-{FORMAT}"


def _read(package: Package, place: str) -> Kept:
    """Parse a package's sources, in an order that mixes its parts, until there are documents enough."""
    documents: list[tuple[int, Document]] = []
    broken: list[str] = []
    seen: set[bytes] = set()
    sources = list(enumerate(package.sources()))
    for number, (module, path) in sorted(sources, key=lambda one: sha256(one[1][0].encode()).digest()):
        if len(documents) >= MOST_OF_A_PACKAGE:
            break
        try:
            texts = list(docstrings(path.read_bytes(), module))
        except (OSError, ValueError):
            broken.append(module)
            continue
        for name, text in texts:
            key = sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).digest()
            if key not in seen and why_junk(text, LEAST_WORDS) is None:
                seen.add(key)
                documents.append((number, Document(text, f"{place}:{name}", package.licence)))
    documents.sort(key=lambda one: one[0])  # stable: those of a module keep their order
    return Kept(
        tuple(document for _, document in documents[:MOST_OF_A_PACKAGE]), tuple(_broken(place, broken))
    )


def _broken(place: str, modules: list[str]) -> Iterator[Unread]:
    if modules:
        found = f"{len(modules)} sources cannot be parsed, the first of them {min(modules)}"
        yield Unread(place, found, "Nothing is to be done: they are passed over")
