"""Every answer counts once, whoever asked for it."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Thread

from spade_train.backends import Answer, Ask, Failed, Meter, Pending, Spent


class Backend:
    name = "openai:m"

    def answer(self, asks: Sequence[Ask]) -> list[Answer | Failed]:
        kinds = [Answer("", 3, 5, cost=0.5), Failed("no"), Pending("later"), Answer("", 1, 2)]
        return [kinds[ask.seed] for ask in asks]


def ask(*seeds: int) -> list[Ask]:
    return [Ask(({"role": "user", "content": "-"},), seed) for seed in seeds]


def test_replies_are_counted_and_what_is_waited_for_is_not() -> None:
    meter = Meter(Backend())
    assert meter.name == "openai:m"
    assert len(meter.answer(ask(0, 1, 2))) == 3
    meter.answer(ask(3))
    assert meter.take() == Spent(3, 1, 4, 7, 0.5)
    assert meter.take() == Spent()


def test_without_a_price_there_is_no_cost() -> None:
    meter = Meter(Backend())
    meter.answer(ask(3, 1))
    assert meter.take() == Spent(2, 1, 1, 2, None)


def test_threads_lose_nothing() -> None:
    meter = Meter(Backend())
    threads = [Thread(target=lambda: [meter.answer(ask(0)) for _ in range(500)]) for _ in range(4)]
    taken = []
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        taken.append(meter.take())
    total = sum([*taken, meter.take()], Spent())
    assert (total.asks, total.completion_tokens, total.cost) == (2000, 10_000, 1000.0)
