"""``hf:owner/name``: a data set of the Hugging Face hub, streamed, its first documents kept in the cache folder.

Whether the hub answers is asked first, once and briefly: the client's own patience is minutes.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from spade_envs.errors import UsageError
from spade_train.corpus.cache import Kept, folder, keep, recall
from spade_train.corpus.document import Document, Entry, Unread
from spade_train.corpus.rows import TEXTS, of_row

MOST_DOCUMENTS = 20_000
"""So many rows of a data set are read."""

PATIENCE = 10.0
"""Seconds for the hub's first answer."""

_MEND = (
    "Set HF_ENDPOINT to a mirror; or bring its files from a machine with a network (hf download --repo-type dataset) "
    "and name their folder"
)

_NAME = re.compile(
    r"(?P<name>[\w.-]+/[\w.-]+)(?:/(?P<config>[\w.-]+))?(?:@(?P<revision>[\w./-]+))?(?::(?P<split>[\w.-]+))?"
)


@dataclass(frozen=True, slots=True)
class DataSet:
    """Which rows: ``owner/name[/config][@revision][:split]``."""

    name: str
    config: str | None = None
    revision: str | None = None
    split: str = "train"

    @classmethod
    def parse(cls, word: str) -> DataSet:
        """Read it as it stands after ``hf:``. Raises UsageError."""
        match = _NAME.fullmatch(word)
        if match is None:
            raise UsageError(
                f"hf:{word}: it is no data set. Write hf:OWNER/NAME[/CONFIG][@REVISION][:SPLIT]."
            )
        return cls(match["name"], match["config"], match["revision"], match["split"] or "train")

    def file(self, commit: str) -> str:
        """Return the name under which the rows of a commit, or of all (``*``), are kept."""
        parts = (self.name, self.config or "", self.split, commit)
        return "-".join(re.sub(r"[^\w.*]", "_", part) for part in parts)


@dataclass(frozen=True, slots=True)
class Answer:
    """What the hub says of a data set."""

    commit: str
    licence: str | None = None


def read_hub(word: str, say: Callable[[str], object]) -> Iterator[Entry]:
    """Yield the documents of a data set's first rows; what was read before is read from the cache.

    Raises:
        UsageError: the hub is out of reach and nothing is kept, or it has no such rows.
    """
    wanted = DataSet.parse(word)
    told = _asked(wanted)
    if isinstance(told, Answer):
        found = recall(f"hub/{wanted.file(told.commit)}")
        if found is None:
            say(f"reading the first rows of {wanted.name} from the hub, once ...")
            found = _streamed(wanted, told)
    else:
        found = _kept_before(wanted, told)
    yield from found.documents
    yield from found.unread


def _asked(wanted: DataSet) -> Answer | Unread:
    """Return what the hub says, or why it cannot be asked. Raises UsageError where it knows no such data set."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    try:
        told = HfApi(endpoint=os.environ.get("HF_ENDPOINT")).dataset_info(
            wanted.name, revision=wanted.revision, timeout=PATIENCE
        )
    except RevisionNotFoundError:
        raise UsageError(
            f"hf:{wanted.name}: it has no revision {wanted.revision}. Leave it out for the newest."
        ) from None
    except RepositoryNotFoundError:
        raise UsageError(
            f"hf:{wanted.name}: the hub shows no such data set. Look at its spelling; a private one wants HF_TOKEN."
        ) from None
    except Exception as error:  # of whichever HTTP client its version has
        found = " ".join(str(error).split())[:150] or type(error).__name__
        return Unread(f"hf:{wanted.name}", f"the hub is out of reach ({found})", _MEND)
    licence = (told.card_data or {}).get("license")
    return Answer(str(told.sha), licence if isinstance(licence, str) else None)


def _kept_before(wanted: DataSet, why: Unread) -> Kept:
    """Return the newest copy of these rows. Raises UsageError where there is none."""
    paths = sorted(
        (folder() / "hub").glob(f"{wanted.file(wanted.revision or '*')}.json"),
        key=lambda path: path.stat().st_mtime,
    )
    for path in reversed(paths):
        if (found := recall(f"hub/{path.stem}")) is not None:
            said = Unread(why.place, f"{why.found}; the copy {path.stem} of an earlier day is used", why.mend)
            return Kept(found.documents, (*found.unread, said))
    raise UsageError(why.text())


def _streamed(wanted: DataSet, told: Answer) -> Kept:
    """Read the first rows and keep them; one without a licence has its data set's.

    Raises:
        UsageError: there is not one document.
    """
    place = f"hf:{wanted.name}:{wanted.split}"
    documents: list[Document] = []
    unread: list[Unread] = []
    try:
        for number, row in enumerate(_rows(wanted, told.commit), 1):
            one = of_row({"license": told.licence, **row}, f"{place}:{number}")
            documents.append(one) if isinstance(one, Document) else unread.append(one)
            if number >= MOST_DOCUMENTS:
                break
    except Exception as error:  # whatever the client and the loaders of many formats raise
        found = " ".join(str(error).split())[:200] or type(error).__name__
        if not documents:
            raise UsageError(
                f"{place}: its rows cannot be read ({found}). Look at its splits and formats."
            ) from error
        unread.append(
            Unread(place, f"the stream ended after {len(documents)} documents ({found})", "Begin again")
        )
        return Kept(tuple(documents), tuple(unread))
    if not documents:
        raise UsageError(f"{place}: no row has a string {' or '.join(TEXTS)}. Name a data set of texts.")
    whole = Kept(tuple(documents), tuple(unread))
    with contextlib.suppress(OSError):
        keep(f"hub/{wanted.file(told.commit)}", whole)
    return whole


def _rows(wanted: DataSet, commit: str) -> Iterator[dict[str, Any]]:
    """Stream the rows."""
    import datasets

    datasets.config.STREAMING_READ_MAX_RETRIES = 2  # of 20, five seconds each
    datasets.config.STREAMING_READ_RETRY_INTERVAL = 1
    yield from datasets.load_dataset(
        wanted.name, wanted.config, revision=commit, split=wanted.split, streaming=True
    )
