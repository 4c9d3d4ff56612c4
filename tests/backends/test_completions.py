"""An ask as a request's body, a body as answers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from spade_train.backends import Answer, Ask, Failed, Options, Patience
from spade_train.backends.completions import answers, batches, body, shares
from spade_train.backends.secret import Secret
from spade_train.backends.trouble import Trouble, retry_after, wait

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
ANYTHING = JSON | st.fixed_dictionaries(
    {
        "choices": JSON
        | st.lists(
            JSON | st.fixed_dictionaries({"message": JSON | st.fixed_dictionaries({"content": JSON})})
        ),
        "usage": JSON | st.fixed_dictionaries({"prompt_tokens": JSON, "completion_tokens": JSON}),
    }
)


@given(ANYTHING, st.integers(1, 4))
def test_whatever_a_server_says_there_are_as_many_answers_as_asks(data: Any, count: int) -> None:
    found = answers(data, count, Options(), Secret())
    assert len(found) == count
    for one in found:
        if isinstance(one, Answer):
            one.text.encode()
            assert one.prompt_tokens >= 0
            assert one.completion_tokens >= 0
        else:
            assert isinstance(one, Failed)
            assert one.reason.isprintable()


@given(st.integers(0, 10_000), st.lists(st.integers(0, 500), min_size=1, max_size=9))
def test_shares_add_up_and_follow_the_weights(total: int, weights: list[int]) -> None:
    found = shares(total, weights)
    assert sum(found) == total
    assert min(found) >= 0
    if any(weights):
        for share, weight in zip(found, weights, strict=True):
            assert abs(share - total * weight / sum(weights)) < 1


def test_the_tokens_of_a_request_for_several_are_counted_once() -> None:
    choices = [{"message": {"content": text}} for text in ("aa", "aaaa")]
    data = {"choices": choices, "usage": {"prompt_tokens": 100, "completion_tokens": 9}}
    found = answers(data, 2, Options(), Secret())
    assert [(one.prompt_tokens, one.completion_tokens) for one in found if isinstance(one, Answer)] == [
        (100, 3),
        (0, 6),
    ]


ASK = Ask(({"role": "user", "content": "a"},), 0)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 9))), st.integers(1, 4))
def test_batches_hold_every_ask_in_order_and_nothing_unlike(
    said: list[tuple[str, int]], together: int
) -> None:
    asks = [replace(ASK, messages=({"role": "user", "content": text},), seed=seed) for text, seed in said]
    found = batches(asks, together)
    assert [ask for group in found for ask in group] == asks
    for group in found:
        assert 1 <= len(group) <= together
        assert len({ask.messages[0]["content"] for ask in group}) == 1


def test_openai_itself_is_told_the_limit_by_its_newer_name() -> None:
    assert body([ASK], "m", modern=True)["max_completion_tokens"] == ASK.max_tokens
    assert "max_tokens" not in body([ASK], "m", modern=True)


@given(st.integers(1, 12), st.none() | st.floats(0, 100))
def test_waits_grow_within_bounds_and_are_never_shorter_than_the_server_wants(
    tried: int, after: float | None
) -> None:
    from random import Random

    patience = Patience(first=0.5, longest=8.0, tries=9)
    found = wait(Trouble("", True, after), tried, patience, Random(tried))
    assert (found is None) is (tried >= 9)
    if found is not None:
        assert (after or 0.0) <= found <= (after or 0.0) + min(8.0, 0.5 * 2 ** (tried - 1))
    assert wait(Trouble("", False, after), tried, patience, Random(0)) is None


def test_retry_after_is_seconds_or_a_date_or_nothing() -> None:
    assert retry_after("7", 0.0) == 7
    assert retry_after("Thu, 01 Jan 1970 00:01:40 GMT", 90.0) == 10
    assert retry_after("Thu, 01 Jan 1970 00:01:40 GMT", 900.0) == 0
    for wrong in (None, "soon", "", "nan", "inf", "-3", "1e999"):
        assert not retry_after(wrong, 0.0)
