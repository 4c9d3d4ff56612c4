"""Designing beside training: it waits for nobody, stops when the stock is full, and tells what went wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from spade_envs.errors import IsolationError
from spade_train.ahead import Ahead
from spade_train.ahead.studio import UNJUDGED
from spade_train.backends import Answer, Ask, Failed, Meter, Pending
from spade_train.designer import DesignContext
from spade_train.rounds import Design, Stock
from spade_train.workshop.outside import Outside


class Way:
    """Asks for the context's round."""

    def prompt(self, context: DesignContext) -> list[dict[str, str]]:
        return [{"role": "user", "content": f"{context.round}/{context.digest}"}]

    def schema(self) -> None:
        return None


@dataclass
class Backend:
    """Answers with what it was asked, when it is let."""

    name: str = "openai:test"
    free: threading.Event = field(default_factory=threading.Event)
    asked: list[str] = field(default_factory=list)
    say: Callable[[Ask], Answer | Failed] = lambda ask: Answer(ask.messages[0]["content"], 1, 2)

    def answer(self, asks: Sequence[Ask]) -> list[Answer | Failed]:
        self.asked += [ask.messages[0]["content"] for ask in asks]
        self.free.wait(20)
        return [self.say(ask) for ask in asks]


@dataclass
class Workshop:
    """Judges at once, settles in whoever's thread asks."""

    designer: Any = field(default_factory=Way)
    problems: list[Exception] = field(default_factory=list)
    deadly: str | None = None
    settled: list[str] = field(default_factory=list)

    def prepared(self, policy: None, context: DesignContext) -> DesignContext:
        return context

    def judge(self, designs: Sequence[Design], context: DesignContext) -> Any:
        if self.problems:
            raise self.problems.pop(0)
        if any(one.reply == self.deadly and not one.refusal for one in designs):
            raise IsolationError("its judge died")
        return tuple(designs)

    def settle(self, judged: Any) -> list[Design]:
        assert threading.current_thread() is threading.main_thread()
        self.settled += [one.reply for one in judged]
        return [replace(one, env_id="spade/X-v0") if not one.refusal else one for one in judged]


def wait_for(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@dataclass
class Run:
    """A run's part that designs ahead; a new one on the same folder is the run resumed."""

    folder: Path
    backend: Backend = field(default_factory=Backend)
    workshop: Workshop = field(default_factory=Workshop)
    limit: int = 2
    rounds: int = 100

    def __post_init__(self) -> None:
        outside = Outside(Meter(self.backend), 10, 1.0)
        self.ahead = Ahead(self.workshop, outside, self.folder, self.limit, self.rounds, poll=0.02)  # type: ignore[arg-type]

    def round(self, number: int) -> tuple[list[str], Stock]:
        designs, stock = self.ahead.round(
            number, 2, lambda serial: DesignContext(number, 0, digest=f"{serial}")
        )
        return [design.reply for design in designs], stock

    def ready(self, orders: int) -> None:
        queue, studio = self.ahead._queue, self.ahead._studio
        assert queue is not None
        assert studio is not None
        wait_for(lambda: sum(o.serial in studio._judged for o in queue.open()) == orders)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    run = Run(tmp_path / "ahead")
    yield run
    run.backend.free.set()
    run.ahead.close()


def test_a_round_waits_for_nobody_and_takes_what_is_ready_in_order(run: Run) -> None:
    began = time.monotonic()
    assert run.round(0) == ([], Stock(0, 0, 4))
    assert run.round(1) == ([], Stock(0, 0, 4))
    assert time.monotonic() - began < 2  # the backend answers nothing yet
    run.backend.free.set()
    run.ready(2)
    assert run.round(2)[0] == ["0/0", "0/0"]
    assert run.round(3)[0] == ["0/1", "0/1"]
    run.ready(2)
    assert run.round(4)[0] == ["2/2", "2/2"]
    assert run.workshop.settled == ["0/0", "0/0", "0/1", "0/1", "2/2", "2/2"]


def test_the_stock_is_bounded(run: Run) -> None:
    run.backend.free.set()
    for number in range(3):
        run.round(number)
        run.ready(2 if number == 0 else run.limit)
        assert len(list(run.folder.glob("*.json"))) <= run.limit + number
    time.sleep(0.1)
    assert len(run.backend.asked) == 2 * len(list(run.folder.glob("*.json")))


def test_nothing_is_ordered_that_no_round_would_play(tmp_path: Path) -> None:
    run = Run(tmp_path, limit=3, rounds=3)
    run.backend.free.set()
    stock = run.round(0)[1]
    assert stock.asked + stock.ready == 4  # two rounds follow
    run.ready(2)
    assert run.round(1)[0]
    assert run.round(2) == (["0/1", "0/1"], Stock(2, 0, 0))
    run.ahead.close()


def test_a_round_that_is_tried_again_plays_the_same_designs(run: Run) -> None:
    run.backend.free.set()
    run.round(0)
    run.ready(2)
    assert run.round(1)[0] == run.round(1)[0] == ["0/0", "0/0"]


def test_a_run_that_goes_on_asks_for_nothing_twice_and_plays_each_once(tmp_path: Path) -> None:
    first = Run(tmp_path)
    first.backend.free.set()
    first.round(0)
    first.ready(2)
    assert first.round(1)[0] == ["0/0", "0/0"]
    first.ready(2)
    assert first.round(2)[0] == ["0/1", "0/1"]  # and here it is killed: round 2 was not finished
    first.ready(2)
    first.ahead.close()
    asked = list(first.backend.asked)
    second = Run(tmp_path)
    second.backend.free.set()
    played = second.round(2)[0]  # nothing is judged yet
    while len(played) < 6:
        time.sleep(0.01)
        played += second.round(2 + len(played) // 2)[0]
    assert played[:6] == ["0/1", "0/1", "1/2", "1/2", "2/3", "2/3"]
    second.ahead.close()
    assert not set(asked) & set(second.backend.asked)


def test_what_was_asked_and_not_answered_is_asked_again_after_a_kill(tmp_path: Path) -> None:
    first = Run(tmp_path, limit=1)
    first.round(0)
    wait_for(lambda: first.backend.asked)
    first.ahead.close()  # it hangs in its server
    second = Run(tmp_path, limit=1)
    second.backend.free.set()
    second.round(1)
    second.ready(1)
    assert second.backend.asked[:2] == first.backend.asked == ["0/0", "0/0"]  # it may be at the next already
    first.backend.free.set()
    second.ahead.close()


def test_answers_that_come_as_files_are_waited_for(run: Run) -> None:
    run.backend.free.set()
    run.backend.say = lambda ask: Pending("not yet")
    run.round(0)
    wait_for(lambda: len(run.backend.asked) > 4)
    assert run.round(1)[0] == []
    run.backend.say = Backend.say
    run.ready(2)
    assert run.round(2)[0] == ["0/0", "0/0"]


def test_designs_that_got_no_reply_reach_a_round_with_their_reason(run: Run) -> None:
    run.backend.free.set()
    run.backend.say = lambda ask: Failed("the server is down")
    run.round(0)
    run.ready(2)
    designs, _ = run.ahead.round(1, 2, lambda serial: DesignContext(1, 0))
    assert [one.refusal for one in designs] == ["no reply: the server is down"] * 2


@pytest.mark.parametrize("problem", [IsolationError("no workers here"), OSError(28, "No space left")])
def test_a_failure_of_the_machine_is_raised_in_a_round_and_then_tried_again(
    run: Run, problem: Exception
) -> None:
    run.backend.free.set()
    run.workshop.problems = [problem]
    run.round(0)
    studio = run.ahead._studio
    assert studio is not None
    wait_for(lambda: studio._problem)
    with pytest.raises(type(problem)):
        run.round(1)
    run.ready(2)
    assert run.round(1)[0] == ["0/0", "0/0"]


def test_designs_that_kill_their_judge_are_refused_in_the_end_and_hold_up_nobody(run: Run) -> None:
    run.backend.free.set()
    run.workshop.deadly = "0/0"
    run.round(0)
    run.ready(1)  # the second order is judged though the first cannot be
    run.ready(2)
    with pytest.raises(IsolationError):
        run.round(1)
    designs, _ = run.ahead.round(1, 2, lambda serial: DesignContext(1, 0))
    assert [(one.reply, one.refusal) for one in designs] == [("0/0", UNJUDGED)] * 2


def test_a_fault_of_the_programs_is_not_swallowed(run: Run) -> None:
    run.backend.free.set()
    run.backend.say = lambda ask: 1 // 0  # type: ignore[return-value]
    run.round(0)
    studio = run.ahead._studio
    assert studio is not None
    studio._thread.join(20)
    with pytest.raises(ZeroDivisionError):
        run.round(1)
