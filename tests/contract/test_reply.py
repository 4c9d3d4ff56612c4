from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spade_envs.contract import Rejection, read_reply

SOURCE = '# /// spade\n# id = "spade/A-v0"\n# ///\nimport math\n\n\nclass A:\n    """Rules."""\n'
OTHER = SOURCE.replace("spade/A", "spade/B")


def block(source: str, fence: str = "```", word: str = "python") -> str:
    return f"{fence}{word}\n{source}{fence}\n"


def rule(reply: str) -> str:
    verdict = read_reply(reply)
    assert isinstance(verdict, Rejection), verdict
    assert all(finding.found and finding.remedy for finding in verdict.findings)
    return verdict.findings[0].rule


@settings(max_examples=60)
@given(
    st.sampled_from(["```", "````", "~~~", "~~~~~"]),
    st.sampled_from(["", "python", "py title=a.py", "text"]),
    st.sampled_from(
        ["", "Sure:\n\n", "<think>\nhm\n```python\nx\n</think>\n", "```\nx = 1\n```\n", block(OTHER)]
    ),
    st.sampled_from(["", "\nDone.\n", "\n~~~\nanother\n~~~\n", "\n```python\n# unfinished"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
)
def test_the_last_complete_block_with_a_header_is_the_source(
    fence: str, word: str, before: str, after: str, end: str, mark: str
) -> None:
    reply = mark + (before + block(SOURCE, fence, word) + after).replace("\n", end)
    assert read_reply(reply) == SOURCE


@given(st.text(st.sampled_from("`~ \n#/spadethink<>'\"\u201c"), max_size=120))
def test_any_reply_gets_a_verdict(reply: str) -> None:
    assert isinstance(read_reply(reply), str | Rejection)


@pytest.mark.parametrize(
    "reply", [SOURCE, "\ufeff\n\n" + SOURCE, "<think>hm</think>\n" + SOURCE, "hm</think>\n" + SOURCE]
)
def test_a_reply_that_is_source_needs_no_fence(reply: str) -> None:
    assert read_reply(reply) == SOURCE


def test_fences_inside_the_source_do_not_end_it() -> None:
    inner = SOURCE + '    x = """\n    ```\n    code\n    ```\n    """\n'
    assert read_reply(block(inner)) == inner
    longer = SOURCE + 'X = """\n```\n"""\n'
    assert read_reply(block(longer, "````")) == longer


def test_a_block_in_a_list_loses_its_indentation() -> None:
    indented = "".join(f"  {line}\n" for line in block(SOURCE).splitlines())
    assert read_reply("- Here:\n" + indented) == SOURCE


@pytest.mark.parametrize("tag", ["think", "thinking", "Reasoning", "thought"])
def test_thoughts_are_not_read(tag: str) -> None:
    thought = f"<{tag}>\n{block(OTHER)}</{tag}>\n"
    assert read_reply(thought + block(SOURCE)) == SOURCE
    assert read_reply(block(SOURCE) + thought) == SOURCE
    assert rule(thought) == "reply.empty"
    assert rule(thought + "No idea.") == "reply.no-block"


def test_a_thought_whose_opening_tag_stood_in_the_prompt() -> None:
    assert read_reply(f"So:\n{block(OTHER)}\nDone.</think>\n\n{block(SOURCE)}") == SOURCE


def test_a_tag_inside_the_source_is_text() -> None:
    source = SOURCE + '    x = """\n<think>\n"""\n'
    assert read_reply(block(source)) == source


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("", "reply.empty"),
        (" \r\n", "reply.empty"),
        ("<think>\n" + block(SOURCE), "reply.cut-off"),
        ("```python\n" + SOURCE, "reply.cut-off"),
        (block(SOURCE, "````").replace("````\n", "```\n"), "reply.cut-off"),
        ("```python", "reply.cut-off"),
        (SOURCE + "```\n", "reply.cut-off"),
        ("I cannot do that.", "reply.no-block"),
        ("Here it is:\n" + SOURCE, "reply.no-block"),
        (block("x = 1\n"), "reply.no-header"),
        (block("import math\n" + SOURCE), "reply.no-header"),
        (block(block(SOURCE), "````", "markdown"), "reply.no-header"),
    ],
)
def test_what_is_unclear_is_refused_with_the_reason(reply: str, expected: str) -> None:
    assert rule(reply) == expected


def test_typographic_quotes_around_strings_are_refused_with_their_lines() -> None:
    source = (
        SOURCE.replace('"spade/A-v0"', "\u201cspade/A-v0\u201d") + "    x = \u2018a\u2019 + \u201cb\u201d\n"
    )
    verdict = read_reply(block(source))
    assert isinstance(verdict, Rejection)
    assert [(f.rule, f.line) for f in verdict.findings] == [
        ("reply.typographic-quote", 2),
        ("reply.typographic-quote", 9),
    ]


def test_typographic_quotes_inside_strings_and_comments_are_text() -> None:
    source = SOURCE.replace("Rules.", "It\u2019s \u201cthis\u201d.") + (
        '    # \u201cnote\u201d\n    x = \'say \u201chi\u201d\', "it\u2019s\\"\u2019"\n'
        "    y = '''\n\u201c\n'''\n"
    )
    source = source.replace('"spade/A-v0"\n', '"spade/A-v0"\n# title = "A \u201cgame\u201d"\n')
    assert read_reply(block(source)) == source


def test_labelled_replies(shared_designs: Path) -> None:
    folder = shared_designs / "replies"
    for name, expected in json.loads((folder / "expected.json").read_text(encoding="utf-8")).items():
        source = read_reply((folder / name).read_bytes().decode())
        assert isinstance(source, str) == expected["extractable"], name
        if isinstance(source, str):
            assert hashlib.sha256(source.strip().encode()).hexdigest() == expected["sha256_lf_stripped"]


def test_replies_of_real_models(shared_designs: Path) -> None:
    for path in (shared_designs / "real").glob("*.txt"):
        reply = path.read_bytes().decode()
        source = read_reply(reply)
        assert isinstance(source, str) == ("```python\n# /// spade\n" in reply), path
        assert isinstance(source, Rejection) or source.strip() in reply
