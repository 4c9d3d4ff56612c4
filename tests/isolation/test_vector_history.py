"""Whatever turns some or all instances have taken, each one's episode is known as long as it may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spade_envs.isolation import Limits, Quarantine, WorkerPool
from spade_envs.isolation.batch_host import BatchWorker
from spade_envs.vector import IsolatedVectorEnv
from spade_envs.vector.history import History

COUNT, MOST = 4, 5
some = st.lists(st.integers(0, COUNT - 1), unique=True, max_size=COUNT)
events = st.lists(
    st.tuples(st.just("note"), st.none() | some)
    | st.tuples(st.just("begin"), some)
    | st.tuples(st.just("forget"), some),
    max_size=60,
)


@settings(max_examples=300)
@given(events)
def test_an_episode_is_what_was_noted_since_it_began(happened: list[tuple[str, Any]]) -> None:
    history = History(COUNT, MOST)
    known: list[list[int] | None] = [None] * COUNT
    for turn, (what, positions) in enumerate(happened):
        if what == "note":
            history.note(np.arange(COUNT) + 10 * turn, np.arange(COUNT) / 7 + turn / 3, positions)
            for at in range(COUNT) if positions is None else positions:
                if known[at] is not None:
                    known[at] = [*known[at], at + 10 * turn]  # type: ignore[misc]
        elif what == "begin":
            history.begin(positions, positions, {"turn": turn})
            for at in positions:
                known[at] = []
        else:
            for at in positions:
                history.forget(at)
                known[at] = None
        for at, actions in enumerate(known):
            found = history.of(at)
            assert history.runs(at) == (actions is not None)
            if actions is None or len(actions) > MOST:
                assert found is None
            else:
                assert found is not None
                assert found[2] == actions
                assert found[0] == at
                brought = 0.0
                for action in actions:
                    brought += action % 10 / 7 + action // 10 / 3
                assert found.returned == brought


def test_neighbours_that_were_asked_one_by_one_can_be_rebuilt_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them alone is a turn to remember: more turns than an episode of this design may have."""
    from test_vector import RANDOM

    pool = WorkerPool(Limits(call_s=2), spares=0, quarantine=Quarantine(1000))
    vector, whole = (
        IsolatedVectorEnv(RANDOM.replace("max_episode_steps = 20", "max_episode_steps = 8"), 30, pool=pool)
        for _ in range(2)
    )
    for one in (vector, whole):
        one.reset(seed=4)
    honest, lies = BatchWorker.answer, [False]

    def answer(self: BatchWorker) -> Any:
        if lies[0] and self._asked == 30:
            lies[0] = False
            self._channel.collect(self._waited(self._each, self._asked), "step")
            self._refuse("a lie")
        return honest(self)

    monkeypatch.setattr(BatchWorker, "answer", answer)
    for step in range(7):
        lies[0] = step in (2, 4, 5)
        got = vector.step([step] * 30)
        lies[0] = False
        for ours, theirs in zip(got[:4], whole.step([step] * 30)[:4], strict=True):
            np.testing.assert_array_equal(ours, theirs)
    for one in (vector, whole):
        one.close()
