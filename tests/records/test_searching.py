"""How well words fit: the quick way says what the plain one says."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from spade_envs.records.query import WEIGHTS
from spade_envs.records.searching import _fit

TEXTS = st.lists(st.none() | st.text("ab_ .ßéİ1", max_size=12), min_size=4, max_size=4)


def plainly(asked: list[str], texts: list[str | None]) -> int:
    """Each word weighs as the first text does in which a word begins so, or as the rules do."""
    found = 0
    for word in asked:
        begins = [re.search(rf"(?<!\w){re.escape(word)}", (text or "").casefold()) for text in texts]
        found += next((w for w, at in zip(WEIGHTS.values(), begins, strict=False) if at), WEIGHTS["rules"])
    return found


@given(st.lists(st.from_regex(r"[ab_é1]{1,3}", fullmatch=True), max_size=3), TEXTS)
def test_words_fit_where_one_begins_so(asked: list[str], texts: list[str | None]) -> None:
    assert _fit(asked, texts) == plainly(asked, texts)
