"""The corpus: every line is used or named; draws repeat by seed and never within an epoch."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from spade_train.designer import Corpus, Document
from spade_train.designer.corpus import excerpt


def written(path: Path, *lines: bytes) -> Path:
    path.write_bytes(b"\n".join(lines))
    return path


def corpus(size: int) -> Corpus:
    return Corpus(Document(f"Document {n}.", f"here:{n}") for n in range(size))


def test_lines_are_read_and_broken_ones_are_named(tmp_path: Path) -> None:
    path = written(
        tmp_path / "mixed.jsonl",
        b'{"text": "First.", "license": "MIT"}',
        b'{"text": "cut o',
        b"",
        b'{"orig_doc": "Second."}',
        b'{"text": "\xff"}',
        b'{"text": 7}',
        b'["text"]',
        b'{"text": "  "}',
        b"[" * 100_000,
    )
    read = Corpus.read([path])
    assert read.documents == (
        Document("First.", "mixed.jsonl:1", "MIT"),
        Document("Second.", "mixed.jsonl:4"),
    )
    assert [problem.split(": ")[0] for problem in read.problems] == [
        f"mixed.jsonl:{n}" for n in (2, 5, 6, 7, 8, 9)
    ]


def test_files_that_are_no_text_are_named(tmp_path: Path) -> None:
    empty, binary = written(tmp_path / "empty"), written(tmp_path / "binary", b"\x00\x01")
    read = Corpus.read([empty, binary, tmp_path / "missing", tmp_path])
    assert len(read) == 0
    assert len(read.problems) == 4
    assert all(str(tmp_path) in problem for problem in read.problems)
    assert read.draw(0, 0) is None


def test_the_shipped_corpus_is_sound() -> None:
    shipped = Corpus.read()
    assert shipped.problems == ()
    assert all(document.licence for document in shipped.documents)


@given(st.integers(1, 30), st.integers(0, 9), st.integers(0, 99))
def test_an_epoch_shows_each_document_once(size: int, seed: int, epoch: int) -> None:
    drawn = [corpus(size).draw(seed, epoch * size + place) for place in range(size)]
    assert len({document.source for document in drawn if document}) == size


def test_draws_repeat_by_seed_and_differ_between_epochs() -> None:
    def order(seed: int) -> list[str]:
        return [document.source for n in range(40) if (document := corpus(20).draw(seed, n))]

    assert order(1) == order(1) != order(2)
    assert order(1)[:20] != order(1)[20:]


@given(st.lists(st.integers(1, 12), min_size=1, max_size=12), st.integers(1, 30), st.integers(0, 99))
def test_an_excerpt_is_whole_sentences_within_the_limit(lengths: list[int], words: int, seed: int) -> None:
    sentences = [" ".join([f"s{n}"] * length) + "." for n, length in enumerate(lengths)]
    text = excerpt(" ".join(sentences), words, Random(seed))
    assert 0 < len(text.split()) <= words
    whole = any(
        text == " ".join(sentences[a:b])
        for a in range(len(sentences))
        for b in range(a + 1, len(sentences) + 1)
    )
    assert whole or len(text.split()) == words


def test_a_line_of_json_is_read_as_it_was_written(tmp_path: Path) -> None:
    text = "Zwei Sätze.\u2028Sie bleiben\u0085 ganz."
    path = written(tmp_path / "one.jsonl", json.dumps({"text": text}, ensure_ascii=False).encode())
    assert [document.text for document in Corpus.read([path]).documents] == [text]
