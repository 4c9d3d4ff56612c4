"""Parquet files, a batch of rows at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from spade_train.corpus.document import Entry, Unread
from spade_train.corpus.rows import FIELDS, TEXTS, of_row

_ROWS = 1_000
_NAME_IT = "Name one of them `text`"


def read_parquet(path: Path, name: str) -> Iterator[Entry]:
    """Yield the document of each row; what stops the reading midway is told after those that were read.

    Args:
        name: what places of the documents begin with.
    """
    import pyarrow
    import pyarrow.parquet

    number = 0
    try:
        with pyarrow.parquet.ParquetFile(path) as table:
            columns = [field for field in FIELDS if field in table.schema_arrow.names]
            if not set(columns) & set(TEXTS):
                there = ", ".join(table.schema_arrow.names[:8]) or "none"
                yield Unread(name, f"it has no column of texts (columns: {there})", _NAME_IT)
                return
            for batch in table.iter_batches(_ROWS, columns=columns, use_threads=False):
                for row in batch.to_pylist():
                    number += 1
                    yield of_row(row, f"{name}:{number}")
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        found = " ".join(str(error).split())[:200]
        yield Unread(name, f"it cannot be read after {number} rows ({found})", "Write the file anew")
    if not number:
        yield Unread(name, "it has no rows", "Name a file with documents")
