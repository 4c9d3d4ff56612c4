"""Hypothesis strategies that several rooms use: ids, headers, sources, JSON values."""

from __future__ import annotations

import json
import string
from typing import Any

from hypothesis import strategies as st

from spade_envs.contract import DOMAINS, EnvId

env_names = st.builds(
    str.__add__,
    st.sampled_from(string.ascii_uppercase),
    st.text(string.ascii_letters + string.digits, max_size=30),
)
env_ids = st.builds(EnvId, env_names, st.integers(0, 999_999_999))

tags = st.from_regex(r"[a-z0-9]{1,10}(-[a-z0-9]{1,10}){0,2}", fullmatch=True)
licenses = st.sampled_from(["Apache-2.0", "MIT OR Apache-2.0", "GPL-2.0-only WITH Classpath-exception-2.0"])
_printable = st.characters(exclude_categories=("C", "Z"))


def lines(longest: int) -> st.SearchStrategy[str]:
    """One line of printable text that is not blank."""
    return st.text(_printable | st.just(" "), min_size=1, max_size=longest).filter(str.strip)


@st.composite
def headers(draw: st.DrawFn) -> dict[str, Any]:
    """Header data that obeys the contract, keys in any order."""
    origin = draw(st.sampled_from(["seed", "generated"]))
    needed = {
        "id": str(draw(env_ids)),
        "title": draw(lines(60)),
        "summary": draw(lines(200)),
        "domain": draw(st.sampled_from(DOMAINS)),
        "skills": draw(st.lists(tags, min_size=1, max_size=6)),
        "origin": origin,
        "max_episode_steps": draw(st.integers(1, 1000)),
        "license": draw(licenses),
        "contract": 1,
    }
    optional = {"parent": str(draw(env_ids)), "difficulty_levels": draw(st.integers(1, 5))}
    for key in draw(st.sets(st.sampled_from(sorted(optional)))):
        needed[key] = optional[key]
    if origin == "generated":
        needed["generation_round"] = draw(st.integers(0, 1000))
    return dict(draw(st.permutations(list(needed.items()))))


def source_of(header: dict[str, Any], code: str = "x = 1\n", end: str = "\n") -> str:
    """A file with this header. JSON's strings, lists and numbers are TOML's."""
    shown = [f"# {key} = {json.dumps(value, ensure_ascii=False)}" for key, value in header.items()]
    return end.join(["# /// spade", *shown, "# ///", *code.split("\n")])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
