"""Documents that designs are grounded on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from spade_envs import seeds_folder
from spade_train.designer.context import Document

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n")


class Corpus:
    """Documents in a fixed order, drawn by seed without repeats within an epoch.

    Attributes:
        documents: all that could be read.
        problems: what was skipped, each with its place, what was found and the mend.
    """

    def __init__(self, documents: Iterable[Document], problems: Iterable[str] = ()) -> None:
        self.documents, self.problems = tuple(documents), tuple(problems)

    @classmethod
    def read(cls, paths: Iterable[Path] | None = None) -> Corpus:
        """Read JSONL files (``text`` or ``orig_doc``, perhaps ``license``); without paths, the shipped ones.

        A file or line that cannot be read is skipped and stands in ``problems``.
        """
        found = sorted((seeds_folder() / "corpus").glob("*.jsonl")) if paths is None else paths
        entries = [entry for path in found for entry in _entries(path)]
        return cls(
            (entry for entry in entries if isinstance(entry, Document)),
            (entry for entry in entries if isinstance(entry, str)),
        )

    def __len__(self) -> int:
        return len(self.documents)

    def draw(self, seed: int, index: int, words: int = 300) -> Document | None:
        """Return a piece of the ``index``-th document of the run with this seed; None when there are none.

        The draw has no state: equal arguments give the equal piece, and the documents of one epoch
        (``len(self)`` draws) all differ.

        Args:
            seed: the run's seed.
            index: how many draws came before.
            words: the most words of the piece; it begins and, where it can, ends with a sentence.
        """
        if not self.documents:
            return None
        epoch, place = divmod(index, len(self))
        order = Random(f"{seed}/{epoch}").sample(self.documents, len(self))
        document = order[place]
        return Document(
            excerpt(document.text, words, Random(f"{seed}/{index}")), document.source, document.licence
        )


def excerpt(text: str, words: int, rng: Random) -> str:
    """Return whole sentences from a random place, together at most ``words`` long (a longer one is cut)."""
    sentences = [sentence.split() for sentence in _SENTENCE_END.split(text) if sentence.strip()]
    lengths = [len(sentence) for sentence in sentences]
    starts = [i for i in range(len(sentences)) if sum(lengths[i:]) >= words] or [0]
    start = rng.choice(starts)
    chosen = sentences[start][:words]
    for sentence in sentences[start + 1 :]:
        if len(chosen) + len(sentence) > words:
            break
        chosen += sentence
    return " ".join(chosen)


def _entries(path: Path) -> Iterator[Document | str]:
    try:
        data = path.read_bytes()
    except OSError as error:
        yield f"{path}: it cannot be read ({error.strerror}). Name a JSONL file."
        return
    if b"\0" in data:
        yield f"{path}: it is binary. Name a JSONL file."
        return
    if not data.strip():
        yield f"{path}: it is empty. Write one JSON object with `text` on each line."
    for number, line in enumerate(data.splitlines(), 1):
        if line.strip():
            yield _entry(line, f"{path.name}:{number}")


def _entry(line: bytes, place: str) -> Document | str:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"{place}: it is no JSON ({error}). Write one JSON object on each line."
    texts = [record.get(key) for key in ("text", "orig_doc")] if isinstance(record, dict) else []
    text = next((text for text in texts if isinstance(text, str) and text.strip()), None)
    if text is None:
        return f"{place}: it has no text. Write an object with a string `text` or `orig_doc`."
    licence = record.get("license")
    return Document(text, place, licence if isinstance(licence, str) else None)
