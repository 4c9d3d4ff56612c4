"""Designs from a folder: requests are written in OpenAI's batch format, answers are read as they come back.

``requests.jsonl``    one line an ask; ``custom_id`` is a hash of it, so that an equal ask finds its answer again
``answers.jsonl``     what a batch returns: one line an answer, in any order, perhaps not all of them yet
``<custom_id>.*``     a reply alone in a file of its own, as plain text

Any service or program that takes such batches can answer them (OpenAI's and others' batch API, ``vllm run-batch``).
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from spade_train.backends.completions import answers, body, quoted
from spade_train.backends.interface import Answer, Ask, Failed, Pending
from spade_train.backends.options import Options
from spade_train.backends.secret import Secret

REQUESTS, ANSWERS = "requests.jsonl", "answers.jsonl"


class ReplyFolder:
    """Answers from files.

    Args:
        folder: made where it is missing.
        model: what the requests name; whoever answers them may take another.
        options: a price, where costs are wanted.
    """

    def __init__(self, folder: Path, model: str = "", options: Options | None = None) -> None:
        self.folder, self.model, self.options = folder, model or "designer", options or Options()

    @property
    def name(self) -> str:
        """Kind and model."""
        return f"folder:{self.model}"

    def answer(self, asks: Sequence[Ask]) -> list[Answer | Failed]:
        """Return what has been answered; whatever has not is asked for in ``requests.jsonl``, once."""
        try:
            return self._answers(asks)
        except OSError as problem:
            place = problem.filename or self.folder
            reason = f"{place}: {problem.strerror or problem}; mend it, or name another folder"
            return [Failed(reason)] * len(asks)

    def _answers(self, asks: Sequence[Ask]) -> list[Answer | Failed]:
        requests = [body([ask], self.model) for ask in asks]
        names = [custom_id(request) for request in requests]
        known = self._known(set(names))
        self._request(
            {name: request for name, request in zip(names, requests, strict=True) if name not in known}
        )
        return [known[name] if name in known else self._pending(name) for name in names]

    def _pending(self, name: str) -> Failed:
        place = f"{self.folder / ANSWERS}, or a file {name}.txt beside it"
        return Pending(
            f"{name} is not answered yet; its request stands in {REQUESTS}, its answer goes to {place}"
        )

    def _known(self, wanted: set[str]) -> dict[str, Answer | Failed]:
        found: dict[str, Answer | Failed] = {}
        for line in _lines(self.folder / ANSWERS):
            name = str(line.get("custom_id"))
            if name in wanted and not isinstance(found.get(name), Answer):  # a later line may mend an error
                found[name] = self._read(line)
        for path in self.folder.glob("*.*") if self.folder.is_dir() else ():
            if path.stem in wanted and path.is_file():
                found[path.stem] = self._plain(path.read_text("utf-8", "replace"))
        return found

    def _read(self, line: dict[str, Any]) -> Answer | Failed:
        """Return the answer that a line of a batch's output holds."""
        response = line.get("response")
        if not isinstance(response, dict) or response.get("status_code", 200) != 200:
            said = quoted(line.get("error") or response, _NO_KEY)
            return Failed(f"{self.folder / ANSWERS}: {line.get('custom_id')} failed: {said}")
        return answers(response.get("body"), 1, self.options, _NO_KEY)[0]

    def _plain(self, text: str) -> Answer:
        return Answer(text, 0, tokens := len(text) // 3, cost=self.options.cost(0, tokens))

    def _request(self, wanted: dict[str, dict[str, Any]]) -> None:
        """Add requests that do not stand there yet; two that write at once write each request once."""
        if not wanted:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / REQUESTS).open("ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            there = {line.get("custom_id") for line in _lines(self.folder / REQUESTS)}
            new = "".join(_line(name, wanted[name]) for name in wanted if name not in there)
            if new and not _ends_whole(file.name):
                new = "\n" + new  # a line that a crash cut off stays alone
            file.write(new.encode())
            file.flush()
            os.fsync(file.fileno())


_NO_KEY = Secret()


def custom_id(request: dict[str, Any]) -> str:
    """Return a request's name: the same for equal requests, whatever the model is called."""
    named = {key: value for key, value in request.items() if key != "model"}
    return sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()[:24]


def _line(name: str, request: dict[str, Any]) -> str:
    whole = {"custom_id": name, "method": "POST", "url": "/v1/chat/completions", "body": request}
    return json.dumps(whole) + "\n"


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a JSONL file; broken lines are passed over, as is a file that is not there."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    for line in data.splitlines():
        try:
            read = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(read, dict):
            yield read


def _ends_whole(path: str) -> bool:
    with open(path, "rb") as file:
        if file.seek(0, os.SEEK_END) == 0:
            return True
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"
