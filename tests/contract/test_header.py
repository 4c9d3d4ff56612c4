from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import headers, source_of

from spade_envs.contract import (
    EnvId,
    Header,
    Rejection,
    body,
    code_sha256,
    file_sha256,
    has_header,
    parse_header,
    set_parent,
    set_version,
)

GOOD: dict[str, Any] = {
    "id": "spade/VaultKeypad-v0",
    "title": "Vault keypad",
    "summary": "Find a hidden code from higher/lower feedback.",
    "domain": "games",
    "skills": ["bisection", "memory"],
    "origin": "generated",
    "generation_round": 7,
    "max_episode_steps": 12,
    "license": "Apache-2.0",
    "contract": 1,
}


def problems(source: str) -> dict[tuple[str, int | None], str]:
    """Map (rule, line) to the whole message."""
    rejection = parse_header(source)
    assert isinstance(rejection, Rejection), rejection
    assert all(finding.found and finding.remedy for finding in rejection.findings)
    return {(f.rule, f.line): f"{f.found} {f.remedy}" for f in rejection.findings}


def changed(**changes: Any) -> str:
    header = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    return source_of(header)


@settings(max_examples=30)
@given(headers(), st.sampled_from(["\n", "\r\n", "\r"]), st.sampled_from(["", "\ufeff"]))
def test_every_allowed_header_reads_back(header: dict[str, Any], end: str, mark: str) -> None:
    parsed = parse_header(mark + source_of(header, end=end))
    assert isinstance(parsed, Header), parsed.text()
    for key, value in header.items():
        got = getattr(parsed, key)
        assert (list(got) if key == "skills" else str(got) if key in ("id", "parent") else got) == value
    assert (parsed.generation_round is None) == (header["origin"] == "seed")


@settings(max_examples=30)
@given(headers(), st.integers(0, 10**8), st.sampled_from(["\n", "\r\n"]), st.text(max_size=30))
def test_set_version_changes_the_id_line_alone(
    header: dict[str, Any], version: int, end: str, code: str
) -> None:
    source = "\ufeff" + source_of(header, code=code, end=end)
    new = set_version(source, version)
    parsed = parse_header(new)
    assert isinstance(parsed, Header)
    assert parsed.id == EnvId(EnvId.parse(header["id"]).name, version)  # type: ignore[union-attr]
    assert set_version(new, EnvId.parse(header["id"]).version) == source  # type: ignore[union-attr]
    assert code_sha256(new) == code_sha256(source)


@given(
    st.text(max_size=300)
    | st.builds(lambda text: "# /// spade\n# " + text + "\n# ///\n", st.text(max_size=200))
)
def test_any_text_gets_a_verdict(source: str) -> None:
    verdict = parse_header(source)
    assert isinstance(verdict, Header | Rejection)
    body(source), code_sha256(source), file_sha256(source)


def test_all_problems_come_at_once_each_with_its_line() -> None:
    source = source_of(
        {
            "id": "spade/vault-v0",
            "titel": "Vault keypad",
            "summary": "x" * 201,
            "domain": "game",
            "skills": [],
            "origin": "generated",
            "max_episode_steps": 0,
            "license": "MIT License",
            "contract": 2,
        }
    )
    assert set(problems(source)) == {
        ("header.missing-key", 1),
        ("header.generation_round", 1),
        ("header.id", 2),
        ("header.unknown-key", 3),
        ("header.summary", 4),
        ("header.domain", 5),
        ("header.skills", 6),
        ("header.max_episode_steps", 8),
        ("header.license", 9),
        ("header.contract", 10),
    }
    assert "Did you mean `title`?" in problems(source)["header.unknown-key", 3]


def test_faults_of_syntax_and_of_values_come_together() -> None:
    lines = source_of(GOOD).split("\n")
    lines[2] = "# title = \u201cVault\u201d"
    lines[5] = '# skills = ["search"'
    lines[8] = "# max_episode_steps = 5000"
    lines[9:9] = ["# max_episode_steps = 20", "# just words"]
    assert set(problems("\n".join(lines))) == {
        ("header.toml", 3),
        ("header.toml", 6),
        ("header.max_episode_steps", 9),
        ("header.duplicate-key", 10),
        ("header.toml", 11),
    }


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("id", "VaultKeypad-v0"),
        ("id", 3),
        ("title", ""),
        ("title", "   "),
        ("title", "x" * 61),
        ("title", "two\nlines"),
        ("title", "right\u202eto left"),
        ("summary", ["a"]),
        ("domain", "Games"),
        ("domain", ["games"]),
        ("skills", "search"),
        ("skills", []),
        ("skills", ["a"] * 7),
        ("skills", ["Search"]),
        ("skills", ["a", 1]),
        ("skills", ["-"]),
        ("origin", "person"),
        ("parent", "VaultKeypad"),
        ("generation_round", -1),
        ("generation_round", True),
        ("max_episode_steps", 1001),
        ("max_episode_steps", 12.0),
        ("max_episode_steps", "12"),
        ("difficulty_levels", 0),
        ("license", ""),
        ("license", "MIT Apache-2.0"),
        ("license", "MIT OR"),
        ("license", "(MIT"),
        ("license", "M\u00cfT"),
        ("contract", 2),
        ("contract", True),
    ],
)
def test_a_value_that_is_not_allowed_is_named_with_what_is(key: str, value: Any) -> None:
    source = changed(**{key: value})
    line = (
        source.split("\n").index(next(text for text in source.split("\n") if text.startswith(f"# {key} ")))
        + 1
    )
    assert list(problems(source)) == [(f"header.{key}", line)]


@pytest.mark.parametrize(
    "license_", ["MIT", "GPL-2.0+", "(MIT OR Apache-2.0) AND LicenseRef-own", "MIT or ISC", "A WITH b AND c"]
)
def test_licence_expressions(license_: str) -> None:
    assert isinstance(parse_header(changed(license=license_)), Header)


@pytest.mark.parametrize("key", [key for key in GOOD if key != "generation_round"])
def test_a_needed_key_that_is_missing_is_named(key: str) -> None:
    found = problems(changed(**{key: None}))
    assert list(found) == [("header.missing-key", 1)]
    assert f"`{key}`" in found["header.missing-key", 1]


def test_a_round_belongs_to_generated_environments_always_and_only() -> None:
    assert list(problems(changed(generation_round=None))) == [("header.generation_round", 1)]
    assert list(problems(changed(origin="seed"))) == [("header.generation_round", 8)]
    assert isinstance(parse_header(changed(origin="seed", generation_round=None)), Header)
    assert isinstance(parse_header(changed(generation_round=0)), Header)


def test_comments_and_blank_lines_may_stand_before_it_and_nothing_else() -> None:
    source = source_of(GOOD)
    assert isinstance(parse_header("#!/usr/bin/env python\n\n# hello\n" + source), Header)
    assert list(problems('"""Docstring."""\n' + source)) == [("header.missing", 2)]
    assert not has_header("import math\n" + source)


@pytest.mark.parametrize("opening", ["#/// spade", "/// spade", "# // spade", "# /// Spade"])
def test_a_misspelt_opening_is_pointed_at(opening: str) -> None:
    source = "\n" + source_of(GOOD).replace("# /// spade", opening)
    assert list(problems(source)) == [("header.missing", 2)]
    assert list(problems("x = 1\n")) == [("header.missing", 1)]
    assert list(problems("")) == [("header.missing", 1)]


@pytest.mark.parametrize("closing", ["///", "", "#///", "x = 2", "# //"])
def test_a_missing_end_is_reported_beside_other_faults(closing: str) -> None:
    lines = changed(domain="game").split("\n")
    end = lines.index("# ///")
    lines[end] = closing
    assert list(problems("\n".join(lines))) == [("header.domain", 5), ("header.unclosed", end + 1)]


def test_a_header_that_ends_with_the_file_is_unclosed() -> None:
    source = source_of(GOOD)
    cut = source[: source.index("\n# ///\n")]
    assert list(problems(cut)) == [("header.unclosed", len(cut.split("\n")) + 1)]


def test_size_nesting_and_long_numbers_do_not_break_the_reader() -> None:
    assert list(problems(changed(summary="x" * 9000))) == [("header.size", 1)]
    for value in ("[" * 7000, "9" * 5000, "0x" + "f" * 6000):
        source = source_of(GOOD).replace("# max_episode_steps = 12", f"# max_episode_steps = {value}")
        assert [line for _, line in problems(source)] == [9]


def test_a_string_over_several_lines_cannot_hide_a_second_id() -> None:
    trick = 'summary = """a \\\n# id = "spade/VaultKeypad-v0" # b"""'
    source = source_of({"summary": "here", **{k: v for k, v in GOOD.items() if k != "summary"}})
    source = source.replace('summary = "here"', trick)
    assert ("header.toml", 2) in problems(source)
    assert ("header.id", 2) in problems(source_of(GOOD).replace("spade/V", "spade\\u002fV"))


def test_lists_may_span_lines_and_values_may_have_comments() -> None:
    source = source_of(GOOD).replace('["bisection", "memory"]', '[\n#   "bisection",\n# ]  # one')
    source = source.replace('-v0"', '-v0"  # the id')
    parsed = parse_header(source)
    assert isinstance(parsed, Header)
    assert parsed.skills == ("bisection",)
    assert '-v3"  # the id' in set_version(source, 3)


@pytest.mark.parametrize("line", ['"spade/Old-v1"  # its source', "'spade/Old-v1'", '"spade/\\u004fld-v1"'])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_set_parent_changes_the_parents_line_alone(line: str, end: str) -> None:
    source = changed(parent="spade/Old-v1").replace('"spade/Old-v1"', line).replace("\n", end)
    new = set_parent(source, EnvId("Other", 12))
    parsed = parse_header(new)
    assert isinstance(parsed, Header)
    assert parsed.parent == EnvId("Other", 12)
    differ = [
        old for old, now in zip(source.splitlines(True), new.splitlines(True), strict=True) if old != now
    ]
    assert differ == [one for one in source.splitlines(True) if line in one]


def test_set_parent_needs_one() -> None:
    with pytest.raises(ValueError, match="names no parent"):
        set_parent(source_of(GOOD), EnvId("Other", 12))
    with pytest.raises(ValueError, match="no header"):
        set_parent("x = 1\n", EnvId("Other", 12))


def test_set_version_refuses_what_has_no_header() -> None:
    with pytest.raises(ValueError, match="no header"):
        set_version("x = 1\n", 1)
    with pytest.raises(ValueError, match="spade/<Name>"):
        set_version(source_of(GOOD), -1)


def test_code_hash_sees_the_code_and_nothing_else() -> None:
    source = source_of(GOOD, code="x = 1\n")
    assert body(source) == "x = 1"
    assert code_sha256(source) == hashlib.sha256(b"x = 1").hexdigest()
    assert code_sha256(
        "# before\n" + source_of({**GOOD, "title": "Other"}, "\nx = 1\n\n", "\r\n")
    ) == code_sha256(source)
    assert code_sha256(source_of(GOOD, code="x = 2\n")) != code_sha256(source)
    assert file_sha256(source) == hashlib.sha256(source.encode()).hexdigest()


def test_labelled_designs_have_good_headers(shared_designs: Path) -> None:
    for path in shared_designs.glob("honest/*.py"):
        assert isinstance(parse_header(path.read_text(encoding="utf-8")), Header), path
