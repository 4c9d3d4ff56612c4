"""An episode can be returned to, as often as wanted and in any process."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_designs import design

from spade_envs import IsolatedEnv
from spade_envs.errors import UsageError, WorkerFault
from spade_envs.isolation import Limits, Quarantine, WorkerPool

WALK = design(
    reset="self._at = np.array([int(self.np_random.integers(90)), random.randrange(90)])",
    step="self._at = self._at + [action, int(self.np_random.integers(3)) + random.randrange(3)]",
    observation_space="spaces.Box(0, 9999, (2,), np.int64)",
    observation="self._at",
)


def equal(one: Any, other: Any) -> bool:
    np.testing.assert_equal(one, other)
    return True


@settings(max_examples=25)
@given(st.integers(0, 99), st.lists(st.integers(0, 7), max_size=8), st.lists(st.integers(0, 7), max_size=8))
def test_a_restored_episode_goes_on_as_the_first_did(seed: int, before: list[int], after: list[int]) -> None:
    first, second = IsolatedEnv(WALK), IsolatedEnv(WALK)
    first.reset(seed=seed)
    for action in before:
        first.step(action)
    snapshot = pickle.loads(pickle.dumps(first.snapshot()))
    went_on = [first.step(action) for action in after]
    for environment in (second, first, first):
        environment.restore(snapshot)
        assert equal([environment.step(action) for action in after], went_on)
    first.close()
    second.close()


def test_an_unseeded_episode_can_be_restored() -> None:
    environment = IsolatedEnv(WALK)
    for _ in range(3):
        seen, _ = environment.reset()
    snapshot = environment.snapshot()
    assert equal(environment.restore(snapshot)[0], seen)
    environment.close()


def test_restoring_changes_no_later_reset() -> None:
    def later(restores: bool) -> Any:
        environment = IsolatedEnv(WALK)
        environment.reset(seed=5)
        if restores:
            environment.restore(environment.snapshot())
        found = environment.reset()[0]
        environment.close()
        return found

    assert equal(later(True), later(False))


def test_the_caller_may_change_what_it_passed() -> None:
    environment = IsolatedEnv(
        design(
            action_space="spaces.Box(0, 9, (1,), np.float32)",
            step="self._sum = self._turn * 100 + int(action[0])",
            reset="self._sum = 0",
            observation_space="spaces.Discrete(9999)",
            observation="self._sum",
        )
    )
    environment.reset(seed=0)
    action = np.array([3], np.float32)
    seen = environment.step(action)[0]
    action[:] = 8
    assert environment.restore(environment.snapshot())[0] == seen == 103
    environment.close()


def test_after_a_fault_an_earlier_snapshot_is_still_good() -> None:
    environment = IsolatedEnv(design(step="if action == 7:\n    1 / 0"))
    environment.reset(seed=0)
    environment.step(1)
    snapshot = environment.snapshot()
    environment.step(7)
    with pytest.raises(UsageError, match="nothing to return to"):
        environment.snapshot()
    assert environment.restore(snapshot)[0] == 1
    assert environment.step(2)[0] == 2
    environment.close()


def test_wrong_use_is_named() -> None:
    environment = IsolatedEnv(design(), bonus=1)
    with pytest.raises(gym.error.ResetNeeded):
        environment.snapshot()
    environment.reset(seed=0)
    snapshot = environment.snapshot()
    for other, says in ((IsolatedEnv(WALK), "another design"), (IsolatedEnv(design()), "made with")):
        with pytest.raises(UsageError, match=says):
            other.restore(snapshot)
        other.close()
    environment.close()
    environment = IsolatedEnv(WALK)
    environment.reset(seed=0)
    for _ in range(22):
        environment.step(0)
    with pytest.raises(UsageError, match="more than the 20 steps"):
        environment.snapshot()
    environment.close()


def test_a_design_that_does_not_repeat_itself_is_found_out() -> None:
    environment = IsolatedEnv(
        design(
            module="COUNT = [0]",
            reset="COUNT[0] += 1",
            observation_space="spaces.Discrete(9999)",
            observation="COUNT[0]",
        )
    )
    environment.reset(seed=0)
    with pytest.raises(WorkerFault, match="does not repeat"):
        environment.restore(environment.snapshot())
    environment.close()


def test_after_a_restore_that_failed_an_episode_must_begin() -> None:
    environment = IsolatedEnv(design())
    environment.reset(seed=0)
    environment.step(1)
    with pytest.raises(UsageError, match="99 is not in"):
        environment.restore(replace(environment.snapshot(), actions=(1, 99)))
    with pytest.raises(gym.error.ResetNeeded):
        environment.step(0)
    environment.reset(seed=0)
    environment.close()


@pytest.mark.parametrize("call", ["hint", "expert_action", "describe"])
def test_deaths_outside_of_steps_count_too(call: str) -> None:
    quarantine = Quarantine(most_deaths=2)
    method = {"describe": "render", "expert_action": "expert"}.get(call, call)
    with WorkerPool(Limits(call_s=0.2), spares=0, quarantine=quarantine) as pool:
        environment = IsolatedEnv(design(**{method: "while True:\n    pass"}), pool=pool)
        for _ in range(2):
            environment.reset(seed=0)
            with pytest.raises(WorkerFault, match="took longer"):
                getattr(environment, call)()
            assert environment.step(0)[4]["fault"].startswith("timeout")
        with pytest.raises(WorkerFault, match="2 workers in a row"):
            environment.reset(seed=0)


def test_a_design_that_runs_agents_programs_is_not_blamed_for_them() -> None:
    quarantine = Quarantine(most_deaths=1)
    source = design(module="from spade_envs import run_program", step="run_program('', 'f')")
    quarantine.blame(source, WorkerFault("timeout", "step took longer"))
    quarantine.check(source)


def test_a_design_that_kills_its_workers_is_quarantined() -> None:
    quarantine = Quarantine(most_deaths=2)
    with WorkerPool(Limits(call_s=0.2), spares=0, quarantine=quarantine) as pool:
        source = design(step="if action == 7:\n    while True:\n        pass")
        environment = IsolatedEnv(source, pool=pool)

        def die() -> None:
            environment.reset(seed=0)
            assert environment.step(7)[4]["fault"].startswith("timeout")

        die()
        environment.reset(seed=0)
        environment.reset(seed=0)  # an episode that ended in order
        die()
        die()
        with pytest.raises(WorkerFault, match=r"2 workers in a row died .* 0\.2 s") as caught:
            environment.reset()
        assert caught.value.kind == "quarantined"
        with pytest.raises(WorkerFault, match="2 workers in a row"):
            pool.take(source)
        other = IsolatedEnv(design(), pool=pool)
        other.reset(seed=0)
        other.close()
        quarantine.absolve(source)
        environment.reset(seed=0)
        environment.close()
