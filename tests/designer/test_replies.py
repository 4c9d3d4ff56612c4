"""Replies as models give them: each is read, or refused for the right reason, in every way; none raises."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spade_envs import Rejection
from spade_train.designer import (
    DesignContext,
    Designer,
    Draft,
    FreeDesigner,
    Refused,
    read_repair,
    repair_prompt,
)
from spade_train.designer.ways import WAYS, make_way

FOLDER = Path(__file__).parent / "replies"
REPLIES = {path.stem: path.read_bytes().decode("utf-8") for path in sorted(FOLDER.glob("*.txt"))}
SOUND = REPLIES["r01_thinking_then_block"]
CONTEXT = DesignContext(2, 3)
EXPECTED = {
    "0.5b_short_32": ("header",),
    "0.5b_short_34": "reply.no-header",
    "1.5b_short_02": ("header",),
    "1.5b_short_04": ("generator-calls", "header"),
    "1.5b_short_08": ("header",),
    "r01_thinking_then_block": ("header",),
    "r03_truncated": "reply.cut-off",
    "r05_crlf_tilde": ("header",),
    "r09_empty": "reply.empty",
}
MORE = {
    "without code": "I am sorry, but I cannot write that.",
    "several blocks": f"A sketch:\n```python\nclass A:\n    pass\n```\nThe file.\n{SOUND}\n```text\nDone.\n```\n",
    "cut in a thought": "<think>\n```python\nprint(1)\n```\n",
    "200 kB of text": "word " * 40_000,
    "200 kB of code": "```python\n" + "x = 1\n" * 33_000 + "```",
    "200 kB of fences": "```\n" * 50_000,
    "deep brackets": "```python\n" + "(" * 100_000 + "\n```",
    "nul bytes": "```python\n# /// spade\x00\n```",
    "lone surrogate": "```python\n# /// spade\n# title = '\ud800'\n# ///\n```",
}


@pytest.mark.parametrize("name", sorted(REPLIES))
def test_real_replies_are_read_or_refused_as_known(name: str) -> None:
    read = FreeDesigner().read(REPLIES[name], CONTEXT)
    found = read.findings[0].rule if isinstance(read, Rejection) else read.mends
    assert found == EXPECTED[name]


def test_of_several_blocks_the_file_is_taken() -> None:
    alone, among = (FreeDesigner().read(text, CONTEXT) for text in (SOUND, MORE["several blocks"]))
    assert isinstance(among, Draft)
    assert among == alone


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("text", [*REPLIES.values(), *MORE.values()], ids=[*REPLIES, *MORE])
def test_no_reply_raises_in_any_way_nor_does_its_repair(way: str, text: str) -> None:
    designer = make_way(way)  # type: ignore[arg-type]
    context = designer.prepare(CONTEXT)
    read = designer.read(text, context)
    findings = read.findings if isinstance(read, Rejection) else ()
    draft = None if isinstance(read, Rejection) else read
    for stuck in (False, True):
        refused = Refused(text, draft, findings, stuck)
        asked, chat = repair_prompt(designer, context, designer.prompt(context), refused, 1)
        assert chat[-1]["role"] == "user"
        assert isinstance(read_repair(designer, text, asked, refused), (Draft, Rejection))


@given(st.text(max_size=400))
@settings(max_examples=25, deadline=None)
def test_no_text_raises(text: str) -> None:
    for designer in (FreeDesigner(), EDIT):
        for reply in (
            text,
            f"```python\n{text}\n```",
            f"```python\n# /// spade\n# {text}\n# ///\n{text}\n```",
        ):
            assert isinstance(designer.read(reply, READY), (Draft, Rejection))


EDIT: Designer = make_way("edit")
READY = EDIT.prepare(CONTEXT)
