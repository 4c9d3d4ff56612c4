"""Orders on disk: whatever happens to the process, each is played once."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from spade_train.ahead import Queue
from spade_train.ahead.orders import read_order
from spade_train.designer import DesignContext, Document
from spade_train.rounds import Design

CONTEXT = DesignContext(3, 7, Document("A text.", "a.jsonl:1", "MIT"), "digest", "counting", ("spade/A-v0",))
DESIGN = Design("reply \ud83d", (), (), (), refusal=None, prompt_tokens=3, completion_tokens=4, cost=0.5)


def test_an_order_comes_back_as_it_was(tmp_path: Path) -> None:
    queue = Queue(tmp_path / "ahead", 0)
    queue.add(CONTEXT, (1, 2))
    queue.written(0, [DESIGN, replace(DESIGN, report={"gates": [1.5, None]})])
    (found,) = Queue(tmp_path / "ahead", 0).open()
    assert found == queue.open()[0]
    assert found.context == CONTEXT
    assert found.designs is not None
    assert found.designs[1].report == {"gates": [1.5, None]}


def test_what_an_unfinished_round_has_taken_comes_back_and_what_was_played_does_not(tmp_path: Path) -> None:
    queue = Queue(tmp_path, 0)
    for _ in range(4):
        queue.add(CONTEXT, (1,))
    for serial in range(3):
        queue.take(serial, serial)  # played in the round of its number
    assert [one.serial for one in Queue(tmp_path, 2).open()] == [2, 3]  # two rounds are done
    assert [one.serial for one in Queue(tmp_path, 2).open()] == [2, 3]
    again = Queue(tmp_path, 1)  # taken back by one more
    assert [one.serial for one in again.open()] == [1, 2, 3]
    assert again.add(CONTEXT, (1,)).serial == 4


@pytest.mark.parametrize("harm", [b"", b"{", b"\xff", b"[]", b'{"serial": 1}', b'{"format": 0}'])
def test_a_broken_file_is_left_alone_and_its_number_not_used_again(harm: bytes, tmp_path: Path) -> None:
    queue = Queue(tmp_path, 0)
    for _ in range(2):
        queue.add(CONTEXT, (1,))
    (tmp_path / "000001.json").write_bytes(harm)
    assert read_order(tmp_path / "000001.json") is None
    again = Queue(tmp_path, 0)
    assert [one.serial for one in again.open()] == [0]
    assert again.add(CONTEXT, (1,)).serial == 2
    assert (tmp_path / "000001.json").read_bytes() == harm


KILLED = """
import os, signal, sys, time
from pathlib import Path
from spade_train.ahead import Queue
from spade_train.designer import DesignContext
from spade_train.rounds import Design

def work(folder):
    queue = Queue(folder, 0)
    while True:
        serial = queue.add(DesignContext(0, 0, digest="x" * 50_000), (1, 2)).serial
        queue.written(serial, [Design("y" * 50_000, (), (), ())])
        queue.take(serial, serial)

for attempt in range(5):
    folder = Path(sys.argv[1]) / str(attempt)
    if not (child := os.fork()):
        work(folder)
    while not list(folder.glob("[0-9]*.json")):
        time.sleep(0.01)
    time.sleep(0.03 * attempt)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


def test_a_kill_at_any_moment_leaves_whole_orders(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=True)
    for attempt in range(5):
        folder = tmp_path / str(attempt)
        files = sorted(folder.glob("[0-9]*.json"))
        orders = [read_order(path) for path in files]
        assert files
        assert None not in orders
        assert [int(path.stem) for path in files] == list(range(len(files)))
        assert len(Queue(folder, 10**9).open()) <= 1


class Life(RuleBasedStateMachine):
    """Rounds that are played, killed and rolled back, against a model of what has been played."""

    @initialize(folder=st.builds(dict))
    def begin(self, folder: dict[str, str]) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.queue, self.next = Queue(self.folder, 0), 0
        self.played: dict[int, int] = {}
        self.ordered: set[int] = set()

    @rule()
    def order(self) -> None:
        self.ordered.add(self.queue.add(CONTEXT, (1,)).serial)

    @precondition(lambda self: self.queue.open())
    @rule(done=st.booleans())
    def play(self, done: bool) -> None:
        serial = self.queue.open()[0].serial
        self.queue.take(serial, self.next)
        if done:
            self.played[serial] = self.next
            self.next += 1
        else:  # killed in the middle of the round
            self.queue = Queue(self.folder, self.next)

    @rule(back=st.integers(0, 3))
    def resume(self, back: int) -> None:
        self.next = max(0, self.next - back)
        self.played = {serial: number for serial, number in self.played.items() if number < self.next}
        self.queue = Queue(self.folder, self.next)

    @invariant()
    def each_order_is_open_or_played_and_none_is_both(self) -> None:
        assert {one.serial for one in self.queue.open()} == self.ordered - set(self.played)


Life.TestCase.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
TestLife = Life.TestCase
