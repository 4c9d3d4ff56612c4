"""A folder of replies: requests go out once, answers are read as they come, whatever else lies there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from spade_train.backends import Answer, Ask, Failed, Pending, Price
from spade_train.backends.folder import ReplyFolder
from spade_train.backends.options import Options


def asks(*seeds: int) -> list[Ask]:
    return [Ask(({"role": "user", "content": "Design."},), seed, schema={"type": "object"}) for seed in seeds]


def requests(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]


def answered(request: dict[str, Any], text: str | None = None, **line: Any) -> str:
    body = {
        "choices": [{"message": {"content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3},
    }
    whole = {"id": "x", "custom_id": request["custom_id"], "response": {"status_code": 200, "body": body}}
    return json.dumps({**whole, "error": None, **line}) + "\n"


def test_requests_are_in_the_batch_format_and_written_once(tmp_path: Path) -> None:
    folder = ReplyFolder(tmp_path / "new" / "replies", "gpt")
    first = folder.answer(asks(1, 2))
    assert [type(one) for one in first] == [Pending, Pending]
    folder.answer(asks(2, 3, 3))
    written = requests(folder.folder)
    assert [one["body"]["seed"] for one in written] == [1, 2, 3]
    assert len({one["custom_id"] for one in written}) == 3
    assert written[0]["method"] == "POST"
    assert written[0]["url"] == "/v1/chat/completions"
    assert written[0]["body"]["model"] == "gpt"
    assert written[0]["body"]["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert written[0]["custom_id"] in str(first[0])


def test_answers_are_read_in_any_order_and_the_rest_is_waited_for(tmp_path: Path) -> None:
    folder = ReplyFolder(tmp_path, options=Options(Price(1.0, 0.0)))
    folder.answer(asks(1, 2, 3))
    one, _, three = requests(tmp_path)
    (tmp_path / "answers.jsonl").write_text(answered(three, "third") + answered(one, "first"))
    found = folder.answer(asks(1, 2, 3))
    assert found[0] == Answer("first", 3, 1, cost=3e-6)
    assert isinstance(found[1], Pending)
    assert isinstance(found[2], Answer)
    assert found[2].text == "third"
    assert len(requests(tmp_path)) == 3


def test_a_reply_may_be_a_file_of_its_own(tmp_path: Path) -> None:
    folder = ReplyFolder(tmp_path)
    folder.answer(asks(1, 2))
    one, two = requests(tmp_path)
    (tmp_path / f"{one['custom_id']}.txt").write_bytes(b"```python\n\xff\n```")
    (tmp_path / f"{two['custom_id']}.md").write_text("")
    found = folder.answer(asks(1, 2))
    assert [one.text for one in found if isinstance(one, Answer)] == ["```python\n\ufffd\n```", ""]


def test_broken_lines_are_passed_over_and_errors_are_reasons(tmp_path: Path) -> None:
    folder = ReplyFolder(tmp_path)
    folder.answer(asks(1, 2, 3, 4))
    one, two, three, four = requests(tmp_path)
    lines = [
        "{broken\n\n[]\nnull\n",
        answered(one, response=None, error={"message": "expired\x1b[0m"}),
        answered(two, response={"status_code": 429, "body": {"error": {"message": "too many"}}}),
        answered(three, "first try", response=None, error={"message": "no"}) + answered(three, "mended"),
        answered(four, "cut off in the mid")[:-20],
    ]
    (tmp_path / "answers.jsonl").write_bytes("".join(lines).encode() + b"\xff\xfe\0")
    found = folder.answer(asks(1, 2, 3, 4))
    assert [type(one) for one in found] == [Failed, Failed, Answer, Pending]
    assert r"expired\x1b" in str(found[0].reason) if isinstance(found[0], Failed) else False
    assert "too many" in str(found[1])


def test_a_request_that_a_crash_cut_off_is_written_anew(tmp_path: Path) -> None:
    folder = ReplyFolder(tmp_path)
    folder.answer(asks(1, 2))
    path = tmp_path / "requests.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-30])
    folder.answer(asks(1, 2))
    lines = path.read_bytes().splitlines()
    assert lines[0] == whole.splitlines()[0]
    assert lines[2] == whole.splitlines()[1]


def test_a_folder_that_cannot_be_used_is_a_reason(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (found,) = ReplyFolder(tmp_path / "file" / "below").answer(asks(1))
    assert isinstance(found, Failed)
    assert not isinstance(found, Pending)
    assert "Not a directory" in found.reason


@pytest.mark.parametrize("seed", [1, 2])
def test_the_name_of_an_ask_follows_from_it_alone(seed: int, tmp_path: Path) -> None:
    names = []
    for folder, model in ((tmp_path / "a", "one"), (tmp_path / "b", "other")):
        ReplyFolder(folder, model).answer(asks(seed))
        names.append(requests(folder)[0]["custom_id"])
    assert names[0] == names[1]
