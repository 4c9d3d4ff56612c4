"""Rows of a local file of questions: JSON lines, a JSON list, CSV, or Parquet."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spade_envs.errors import UsageError


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file, or of all files of a folder in the order of their names.

    Raises:
        UsageError: a file cannot be read, or is of another kind; the message names the line.
    """
    paths = sorted(one for one in path.iterdir() if one.suffix in _READERS) if path.is_dir() else [path]
    return [row for one in paths for row in _read(one)]


def _read(path: Path) -> list[dict[str, Any]]:
    reader = _READERS.get(path.suffix)
    if reader is None:
        raise UsageError(f"{path}: what it holds is not known by its name; use one of {', '.join(_READERS)}.")
    try:
        return list(reader(path))
    except (OSError, UnicodeDecodeError, csv.Error) as problem:
        raise UsageError(f"{path} cannot be read: {problem}") from problem


def _json_lines(path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.strip():
            yield _object(f"{path}:{number}", line)


def _json(path: Path) -> Iterator[dict[str, Any]]:
    text = path.read_text("utf-8")
    if not text.lstrip().startswith("["):
        yield from _json_lines(path)  # many sets call their JSON lines .json
        return
    try:
        rows = json.loads(text)
    except ValueError as problem:
        raise UsageError(f"{path} is not JSON: {problem}") from problem
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict):
            raise UsageError(f"{path}: entry {number} is no object.")
        yield row


def _csv(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    try:
        from pyarrow import parquet
    except ImportError as problem:
        raise UsageError(f"{path}: reading Parquet wants pyarrow: pip install pyarrow") from problem
    yield from parquet.read_table(path).to_pylist()


def _object(place: str, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as problem:
        raise UsageError(f"{place} is not JSON: {problem}") from problem
    if not isinstance(row, dict):
        raise UsageError(f"{place} is no object; write {{...}} on each line.")
    return row


_READERS = {".jsonl": _json_lines, ".json": _json, ".csv": _csv, ".parquet": _parquet}
