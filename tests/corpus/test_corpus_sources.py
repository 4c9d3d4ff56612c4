"""Every kind of source is read; what cannot be read is named, counted, and ends nothing."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from spade_envs.errors import UsageError
from spade_train.corpus import Corpus, Document, Source
from spade_train.corpus.source import MOST_NAMED, weighted

LONG = (
    "This text has words enough to be a document that a design can be grounded on, as any reader will agree."
)
ANOTHER = LONG.replace("This", "That")


def written(path: Path, *lines: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(lines))
    return path


def line(text: str, **more: str) -> bytes:
    return json.dumps({"text": text, **more}).encode()


def test_lines_are_read_and_broken_ones_are_named(tmp_path: Path) -> None:
    path = written(
        tmp_path / "mixed.jsonl",
        line(LONG, license="MIT"),
        b'{"text": "cut o',
        b"",
        json.dumps({"orig_doc": ANOTHER}).encode(),
        b'{"text": "\xff"}',
        b'{"text": 7}',
        b'["text"]',
        b'{"text": "  "}',
        b"[" * 100_000,
        line("Too short."),
    )
    (source,) = Corpus.read([path]).sources
    assert source.documents == (
        Document(LONG, "mixed.jsonl:1", "MIT"),
        Document(ANOTHER, "mixed.jsonl:4"),
    )
    assert [one.place for one in source.unread] == [f"mixed.jsonl:{n}" for n in (2, 5, 6, 7, 8, 9)]
    assert source.junk == {"too short": 1}
    told = source.as_dict()
    assert (told["documents"], told["licences"]) == (2, {"MIT": 1, "unknown": 1})
    assert len(told["unread"]) == 6


def test_a_line_of_json_is_read_as_it_was_written(tmp_path: Path) -> None:
    text = f"Zwei Sätze.\u2028Sie bleiben\u0085 ganz. {LONG}"
    path = written(tmp_path / "one.jsonl", json.dumps({"text": text}, ensure_ascii=False).encode())
    assert [document.text for document in Corpus.read([path]).documents] == [text]


def test_what_no_tokenizer_takes_is_taken_out(tmp_path: Path) -> None:
    path = written(tmp_path / "odd.jsonl", line(f"A \ud800 b\x00\x1b[31m {LONG}"))
    assert Corpus.read([path]).documents[0].text == f"A ? b[31m {LONG}"


def test_many_faults_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "bad.jsonl", line(LONG), *[b"{"] * 500)
    unread = Corpus.read([path]).unread
    assert len(unread) == MOST_NAMED + 1
    assert "480 more" in unread[-1].found


def test_rows_of_a_table_are_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    rows = [{"text": LONG, "license": "MIT", "n": 1}, {"text": None, "license": None, "n": 2}]
    pq.write_table(pa.Table.from_pylist(rows), path)
    (source,) = Corpus.read([path]).sources
    assert source.documents == (Document(LONG, "rows.parquet:1", "MIT"),)
    assert [one.place for one in source.unread] == ["rows.parquet:2"]


def test_a_table_without_texts_tells_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"prompt": ["x"], "n": [1]}), path)
    (one,) = Corpus.read([path]).unread
    assert "prompt, n" in one.text()


@pytest.mark.parametrize("at", ["begin", "middle", "end"])
def test_a_damaged_table_is_named(at: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"text": [f"{LONG} {n}" for n in range(5_000)]}), path, row_group_size=500)
    data = bytearray(path.read_bytes())
    place = {"begin": 0, "middle": len(data) // 2, "end": len(data) - 40}[at]
    data[place : place + 40] = b"\0" * len(data[place : place + 40])
    if at == "middle":
        data[len(data) // 4 : len(data) // 2] = bytes(len(data) // 2 - len(data) // 4)
    path.write_bytes(data)
    corpus = Corpus.read([path, "shipped"])
    assert len(corpus) >= 24
    assert at == "begin" or any(one.place == "rows.parquet" for one in corpus.unread)


def test_a_folder_is_read_in_the_order_of_its_paths(tmp_path: Path) -> None:
    root = tmp_path / "docs"
    written(root / "b.md", f"# Title\n\n{LONG}".encode())
    written(root / "a" / "code.py", f'# SPDX-License-Identifier: MIT\n"""{LONG}"""\n'.encode())
    written(root / "c.jsonl", line(LONG), b"{")
    written(root / ".git" / "hidden.txt", LONG.encode())
    written(root / "node_modules" / "lib.js", LONG.encode())
    written(root / "picture.png", b"\x89PNG\0")
    written(root / "binary.txt", b"text\0" + LONG.encode())
    written(root / "latin.txt", ("é" + LONG).encode("latin-1"))
    written(root / "empty.rst")
    os.symlink(root, root / "loop")
    os.mkfifo(root / "pipe.txt")
    (source,) = Corpus.read([root]).sources
    assert [(one.source, one.licence) for one in source.documents] == [
        ("docs/b.md", None),
        ("docs/c.jsonl:1", None),
        ("docs/a/code.py", "MIT"),
    ]
    found = {one.place: one.found for one in source.unread}
    assert found["docs/binary.txt"] == "it is binary"
    assert found["docs/latin.txt"] == "byte 0 is no UTF-8"
    assert found["docs/empty.rst"] == "it is empty"
    assert found["docs/pipe.txt"] == "it is no regular file"
    assert found["docs/c.jsonl:2"].startswith("it is no JSON")
    assert "1 .png" in found[str(root)]


def test_files_that_hold_nothing_are_named(tmp_path: Path) -> None:
    empty, binary = written(tmp_path / "empty.jsonl"), written(tmp_path / "binary.jsonl", b"\x00\x01")
    corpus = Corpus.read([empty, binary])
    assert len(corpus) == 0
    assert [one.text() for one in corpus.unread] == [
        "empty.jsonl: it is empty. Write one JSON object with `text` on each line.",
        "binary.jsonl: it is binary. Name a JSONL file.",
    ]
    assert corpus.draw(0, 0) is None


def test_what_cannot_be_read_leaves_the_rest(tmp_path: Path) -> None:
    corpus = Corpus.read([written(tmp_path / "empty.txt"), "shipped"])
    assert len(corpus) == 24
    assert {corpus.draw(0, n).source for n in range(24)} == {one.source for one in corpus.documents}  # type: ignore[union-attr]


def test_the_shipped_documents_are_sound() -> None:
    shipped = Corpus.read()
    assert len(shipped) == 24
    assert shipped.unread == ()
    assert all(one.licence == "Apache-2.0" for one in shipped.documents)


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("nowhere.jsonl", "it is not there"),
        ("x" * 5_000, "it is not there"),
        ("~nobody/x\0y", "it is not there"),
        ("shipped=0", "weight 0"),
        ("shipped=nan", "weight nan"),
        ("shipped=1e9", "weight"),
        ("installed:nopackage", "no such package"),
        ("installed:numpi", "Did you mean installed:numpy"),
        ("hf:name", "hf:OWNER/NAME"),
    ],
)
def test_a_word_that_names_nothing_is_refused(word: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        Source.read(word)


def test_weights_are_told_from_paths(tmp_path: Path) -> None:
    assert weighted("installed=0.5") == ("installed", 0.5)
    assert weighted("a=b.jsonl") == ("a=b.jsonl", 1.0)
    path = written(tmp_path / "x=0.5", LONG.encode())
    assert weighted(str(path)) == (str(path), 1.0)
    assert weighted(f"{path}=2") == (str(path), 2.0)


def test_equal_documents_have_equal_hashes(tmp_path: Path) -> None:
    first = Source.read(str(written(tmp_path / "a.jsonl", line(LONG))))
    again = Source.read(str(tmp_path / "a.jsonl"))
    other = Source.read(str(written(tmp_path / "a.jsonl", line(ANOTHER))))
    assert first.sha256 == again.sha256 != other.sha256
