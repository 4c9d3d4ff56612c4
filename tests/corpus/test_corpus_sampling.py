"""Draws repeat by seed and never within an epoch, keep shares, follow a focus, and are disjoint between processes."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spade_train.corpus import Corpus, Document, Source
from spade_train.corpus.sampling import permuted, shuffled, turn

FILLER = " ".join(f"plain{n}" for n in range(30))


def documents(name: str, size: int, about: str = "") -> tuple[Document, ...]:
    return tuple(Document(f"{about} {FILLER} {name}{n}.", f"{name}:{n}", "MIT") for n in range(size))


def drawn(corpus: Corpus, seed: int, numbers: range, focus: str | None = None) -> list[str]:
    pieces = [corpus.draw(seed, n, focus=focus) for n in numbers]
    return [piece.source for piece in pieces if piece is not None]


@given(st.integers(1, 300), st.text(max_size=5))
def test_a_permutation_is_one(size: int, key: str) -> None:
    assert sorted(permuted(place, size, key) for place in range(size)) == list(range(size))


def test_permutations_of_different_keys_differ() -> None:
    orders = {tuple(permuted(place, 50, f"{key}") for place in range(50)) for key in range(100)}
    assert len(orders) == 100
    firsts = Counter(permuted(0, 5, f"{key}") for key in range(2_000))
    assert all(300 < count < 500 for count in firsts.values())


@given(st.lists(st.floats(0.001, 1000), min_size=1, max_size=5), st.integers(0, 3_000))
def test_turns_count_the_draws_of_each_source(weights: list[float], start: int) -> None:
    seen: dict[int, list[int]] = {}
    for index in range(start, start + 100):
        which, count = turn(weights, index, "k")
        seen.setdefault(which, []).append(count)
    assert all(len(set(counts)) == len(counts) for counts in seen.values())


def test_shares_are_kept_in_every_cycle() -> None:
    draws = [turn([0.7, 0.3], index, "k") for index in range(200)]
    for cycle in range(20):
        assert Counter(which for which, _ in draws[10 * cycle : 10 * cycle + 10]) == {0: 7, 1: 3}
    assert sorted(count for which, count in draws if which == 1) == list(range(60))


@given(st.lists(st.integers(0, 12), min_size=1, max_size=4), st.integers(0, 99), st.integers(0, 3))
def test_no_document_comes_twice_in_an_epoch(sizes: list[int], seed: int, epoch: int) -> None:
    corpus = Corpus(tuple(Source(f"s{n}", documents(f"s{n}-", size)) for n, size in enumerate(sizes)))
    alike = [size for size in sizes if size]
    if not alike:
        assert corpus.draw(seed, 0) is None
        return
    each = drawn(corpus, seed, range(4 * max(alike) * len(alike)))
    for number, size in enumerate(sizes):
        own = [source for source in each if source.startswith(f"s{number}-")]
        part = own[epoch * size : (epoch + 1) * size]
        assert size == 0 or len(own) == 4 * max(alike)
        assert len(set(part)) == len(part)


@given(st.integers(1, 40), st.integers(0, 99), st.integers(1, 4), st.integers(0, 20))
def test_processes_draw_what_no_other_one_does(size: int, seed: int, processes: int, number: int) -> None:
    """Of one epoch: as many as there are documents."""
    corpus = Corpus.of(documents("d", size))
    rounds = range(number * size, number * size + size)
    parts = [drawn(corpus, seed, range(rank, size, processes)) for rank in range(processes)]
    together = [source for part in parts for source in part]
    assert len(set(together)) == len(together) == size
    assert set(drawn(corpus, seed, rounds)) == set(together)


def test_draws_go_on_where_they_stopped_and_differ_by_seed_and_epoch() -> None:
    corpus = Corpus.of(documents("d", 20))
    whole = drawn(corpus, 1, range(40))
    assert whole[:13] + drawn(Corpus.of(documents("d", 20)), 1, range(13, 40)) == whole
    assert whole != drawn(corpus, 2, range(40))
    assert whole[:20] != whole[20:]


def test_each_epoch_takes_another_piece_until_all_were_drawn() -> None:
    text = "\n\n".join(f"{' '.join(f'w{n}x{k}' for k in range(30))}." for n in range(6))
    corpus = Corpus.of([Document(text, "long:1", "MIT")])
    pieces = [corpus.draw(3, index, words=30) for index in range(6)]
    assert len({piece.text for piece in pieces if piece}) == 6
    assert all(piece and piece.text in text and piece.licence == "MIT" for piece in pieces)
    assert corpus.draw(3, 6, words=30) in pieces


def test_a_focus_draws_what_is_about_it_and_whole_epochs_of_that() -> None:
    primes = documents("prime", 7, "The prime divisor of an integer.")
    corpus = Corpus((Source("a", (*documents("x", 20), *primes)), Source("b", documents("y", 20))))
    for focus in ("number theory", "parity", "Modular-Arithmetic"):
        assert set(drawn(corpus, 0, range(7), focus)) == {one.source for one in primes}
    assert set(drawn(corpus, 0, range(7), "math")) == {one.source for one in primes}


def test_a_focus_that_no_rule_has_is_looked_for_by_its_words() -> None:
    kites = documents("kite", 3, "Flying kites in the wind.")
    corpus = Corpus.of((*documents("x", 9), *kites))
    assert set(drawn(corpus, 0, range(3), "kite-flying")) == {one.source for one in kites}


def test_a_focus_without_a_document_draws_from_all() -> None:
    assert len(set(drawn(Corpus.of(documents("x", 9)), 0, range(9), "strategy"))) == 9


@pytest.mark.parametrize("index", [0, 10**6, 10**12])
def test_draws_far_away_cost_no_more(index: int) -> None:
    assert shuffled(index, 17, "k") in range(17)
    assert Corpus.of(documents("d", 3)).draw(0, index) is not None
