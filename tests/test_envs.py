"""An isolated environment is a Gymnasium environment like any other, in every place where one is used."""

from __future__ import annotations

import copy
import gc
import hashlib
import os
import pickle
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from small_designs import ENDLESS, HEADER, design

from spade_envs.envs import IsolatedEnv, make_environment
from spade_envs.errors import RegistryError, UsageError, WorkerFault
from spade_envs.isolation import Limits

NUMERIC = {
    "discrete": design(),
    "box": design(
        observation_space="spaces.Box(0, 9, (2, 3), np.float32)",
        observation="np.full((2, 3), self._turn) * 0.5",
    ),
    "bytes": design(
        observation_space="spaces.Box(0, 255, (8, 8, 3), np.uint8)",
        observation="np.full((8, 8, 3), self._turn)",
        action_space="spaces.Box(-1, 1, (2,), np.float32)",
        expert_action="np.zeros(2, np.float32)",
    ),
    "multi": design(
        action_space="spaces.MultiDiscrete([3, 4])",
        observation_space="spaces.MultiBinary(4)",
        observation="[self._turn > i for i in range(4)]",
        expert_action="[1, 2]",
    ),
    "nested": design(
        observation_space="spaces.Dict(a=spaces.Discrete(9), b=spaces.Tuple([spaces.MultiDiscrete([9, 9])]))",
        observation="{'a': self._turn, 'b': (np.array([self._turn, 0]),)}",
        action_space="spaces.MultiBinary(3)",
        expert_action="np.ones(3, int)",
    ),
}
TOOLS = (
    HEADER.replace("games", "tools")
    + '''
from spade_envs import ToolEnv


class Adder(ToolEnv):
    """Add the numbers with the tool, then finish."""

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return "Add 2 and 3.", {}

    def tool_add(self, a: int, b: int) -> int:
        """Add.

        Args:
            a: One number.
            b: Another.
        """
        return a + b

    def goal_reached(self, answer):
        return answer == "5"

    def hint(self):
        return "Add."

    def expert_action(self):
        return {"name": "finish", "arguments": {"answer": "5"}}
'''
)


@pytest.fixture
def made() -> Iterator[Any]:
    """Make environments that are closed after the test."""
    opened: list[gym.Env[Any, Any]] = []

    def make(source: str = design(), **options: Any) -> IsolatedEnv:
        environment = IsolatedEnv(source, **options)
        opened.append(environment)
        return environment

    yield make
    for environment in opened:
        environment.close()


@pytest.fixture
def registered(tmp_path: Path) -> Iterator[Any]:
    """Register sources with Gymnasium as a registry does; the ids are gone after the test."""
    ids: list[str] = []

    def register(source: str) -> str:
        path = tmp_path / f"{len(ids)}.py"
        path.write_text(source, encoding="utf-8")
        ids.append(f"spade-test/Sample{len(ids)}-v0")
        gym.register(
            ids[-1],
            entry_point="spade_envs.envs:make_environment",
            max_episode_steps=20,
            kwargs={"path": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()},
        )
        return ids[-1]

    yield register
    for name in ids:
        del gym.registry[name]


@pytest.mark.parametrize("kind", NUMERIC)
def test_gymnasiums_checker_is_content(kind: str, registered: Any) -> None:
    environment = gym.make(registered(NUMERIC[kind]), render_mode="ansi")
    check_env(environment.unwrapped)
    environment.close()


def test_the_wrappers_of_make_work(registered: Any) -> None:
    environment = gym.make(registered(design()), max_episode_steps=3, render_mode="ansi", bonus=1)
    environment.reset(seed=0)
    assert [environment.step(0)[3] for _ in range(3)] == [False, False, True]
    assert environment.render() == "turn 3"
    assert environment.unwrapped.hint() == "Count."
    environment.close()


def test_it_says_what_the_design_says(made: Any) -> None:
    environment = made(render_mode="ansi")
    assert environment.rules.startswith("Add up the numbers.")
    assert (environment.header.title, environment.action_names, environment.tools) == ("Sample", None, [])
    assert environment.metadata == {"render_modes": ["ansi"], "render_fps": 4}
    _, info = environment.reset(seed=1)
    assert environment.expert_action() == info["secret"]
    assert environment.render() == environment.describe() == "turn 0"
    assert made().render() is None


def test_describe_without_render_is_the_observation(made: Any) -> None:
    source = design(observation_space="spaces.Text(50)", observation="'Tür ' + str(self._turn)")
    source = source.replace("def render(self)", "def unused(self)")
    environment = made(source, render_mode="ansi")
    environment.reset(seed=0)
    assert environment.render() == environment.describe() == "Tür 0"


def test_a_seed_fixes_all_that_follows(made: Any) -> None:
    source = design(reset="self._turn = random.randrange(8)")
    one, other = made(source), made(source)

    def sequence(environment: IsolatedEnv, seed: int) -> list[Any]:
        return [environment.reset(seed=at) for at in (seed, None, None)]

    assert sequence(one, 7) == sequence(other, 7) == sequence(one, 7) != sequence(one, 8)


def test_unseeded_environments_differ(made: Any) -> None:
    source = design(observation_space="spaces.Discrete(2 ** 40)", observation="random.randrange(2 ** 40)")
    assert made(source).reset() != made(source).reset()


ACTIONS = [
    ("spaces.Discrete(4)", np.int64(2), "int 2"),
    ("spaces.Text(5)", np.str_("ab"), "str ab"),
    ("spaces.MultiDiscrete([3, 3])", [1, 2], "ndarray int64 [1 2]"),
    ("spaces.MultiBinary(2)", np.array([1, 0]), "ndarray int8 [1 0]"),
    ("spaces.Box(0, 1, (2,), np.float32)", [0.5, 1], "ndarray float32 [0.5 1. ]"),
    ("spaces.Tuple([spaces.Discrete(2), spaces.Text(3)])", (1, "a"), "tuple (1, 'a')"),
    ("spaces.Dict(a=spaces.Discrete(2))", {"a": np.int8(1)}, "dict {'a': 1}"),
]


@pytest.mark.parametrize("isolation", ["process", "none"])
@pytest.mark.parametrize(("space", "action", "arrives"), ACTIONS, ids=lambda value: str(value)[:30])
def test_actions_arrive_as_the_contract_says(
    made: Any, space: str, action: Any, arrives: str, isolation: str
) -> None:
    module = (
        "def named(value):\n"
        "    kind = value.dtype.name + ' ' if isinstance(value, np.ndarray) else ''\n"
        "    return f'{type(value).__name__} {kind}{value}'\n"
    )
    environment = made(
        design(module=module, action_space=space, info="{'got': named(action)}"), isolation=isolation
    )
    environment.reset(seed=0)
    assert environment.step(action)[4]["got"] == arrives


def test_an_action_outside_its_space_is_an_error_and_no_fault(made: Any) -> None:
    environment = made()
    environment.reset(seed=0)
    with pytest.raises(UsageError, match="8 is not in 0 to 7"):
        environment.step(8)
    assert environment.step(7)[0] == 1


def test_tool_environments_take_text_and_objects(made: Any) -> None:
    environment = made(TOOLS)
    assert [tool["function"]["name"] for tool in environment.tools] == ["add", "finish"]
    assert environment.reset(seed=0)[0] == environment.describe() == "Add 2 and 3."
    call = {"name": "add", "arguments": {"a": 2, "b": 3}}
    assert environment.step(call)[0] == "5"
    assert environment.step('{"name": "add", "arguments": {"a": 2, "b": "é"}}')[1] == 0.0
    assert environment.step([call, environment.expert_action()])[1:3] == (1.0, True)


def test_a_fault_truncates_and_the_next_reset_starts_anew(made: Any) -> None:
    source = design(step=f"if action == 7:\n    {ENDLESS.replace(chr(10), chr(10) + '    ')}")
    environment = made(source, limits=Limits(call_s=1.0))
    environment.reset(seed=3)
    environment.step(0)
    observation, reward, terminated, truncated, info = environment.step(7)
    assert (observation, reward, terminated, truncated) == (1, 0.0, False, True)
    assert info == {"worker_restarted": True, "fault": "timeout: step took longer than 1 s and was stopped"}
    assert "took longer" in environment.describe()
    assert environment.step(0)[3]
    first = environment.reset(seed=3)
    assert environment.step(0)[0] == 1
    assert first == environment.reset(seed=3)


@pytest.mark.parametrize("step", ["1 / 0", "return 3", "self._x = bytearray(10 ** 10)"])
def test_other_faults_truncate_too(made: Any, step: str) -> None:
    environment = made(design(step=step))
    environment.reset(seed=0)
    assert environment.step(0)[3:] == (True, {"worker_restarted": True, "fault": environment._fault})
    assert environment.reset(seed=0)[0] == 0


def test_a_fault_is_raised_where_asked(made: Any) -> None:
    environment = made(design(step="1 / 0"), on_fault="raise")
    environment.reset(seed=0)
    with pytest.raises(WorkerFault, match="division by zero") as caught:
        environment.step(0)
    again = pickle.loads(pickle.dumps(caught.value))  # as it comes out of a vector's process
    assert (again.kind, str(again)) == ("raised", str(caught.value))
    environment.reset(seed=0)


def test_a_reset_that_fails_raises_and_can_be_tried_again(made: Any) -> None:
    environment = made(design(reset="if seed == 5:\n    1 / 0"))
    with pytest.raises(WorkerFault, match="ZeroDivisionError"):
        environment.reset(seed=5)
    assert environment.reset(seed=6)[0] == 0


def test_wrong_use_is_named(made: Any) -> None:
    with pytest.raises(UsageError, match="render_mode"):
        IsolatedEnv(design(), render_mode="human")
    with pytest.raises(UsageError, match="isolation must be 'process', 'container' or 'none', found 'vm'"):
        IsolatedEnv(design(), isolation="vm")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="on_fault"):
        IsolatedEnv(design(), on_fault="ignore")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"`os` cannot be imported"):
        IsolatedEnv(HEADER + "import os\n")
    with pytest.raises(UsageError, match="header"):
        IsolatedEnv("print()")
    with pytest.raises(WorkerFault, match="unexpected keyword"):
        IsolatedEnv(design(), difficulty=3)
    with pytest.raises(gym.error.ResetNeeded):
        made().step(0)


def test_a_pickle_holds_the_source_and_not_the_state(made: Any) -> None:
    environment = made(render_mode="ansi", on_fault="raise", limits=Limits(call_s=0.7), bonus=2)
    environment.spec = gym.envs.registration.EnvSpec("spade-test/Pickled-v0")
    environment.reset(seed=4)
    for other in (pickle.loads(pickle.dumps(environment)), copy.deepcopy(environment)):
        assert other.spec == environment.spec
        assert (other.render_mode, other._on_fault, other._limits) == ("ansi", "raise", Limits(call_s=0.7))
        assert other._arguments == {"bonus": 2}
        assert other.reset(seed=4) == environment.reset(seed=4)
        other.close()


def test_closing_ends_a_busy_worker_and_may_be_repeated(made: Any) -> None:
    environment = made(design(step=ENDLESS), limits=Limits(call_s=60))
    environment.reset(seed=0)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        with pytest.raises(KeyboardInterrupt):
            environment.step(0)
    finally:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    environment.close()
    environment.close()


def test_a_forgotten_environment_leaves_nothing() -> None:
    IsolatedEnv(design()).close()
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        IsolatedEnv(design()).reset()
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_observations_and_infos_are_the_callers_own(made: Any) -> None:
    source = design(
        init="self._buffer, self._notes = np.zeros(2, np.float32), {'all': []}",
        step="self._buffer += 1\nself._notes['all'].append(self._turn)",
        observation_space="spaces.Box(0, 99, (2,), np.float32)",
        observation="self._buffer",
        info="self._notes",
    )
    for isolation in ("process", "none"):
        environment = made(source, isolation=isolation)
        environment.reset(seed=0)
        first = environment.step(0)
        first[0][:] = 50
        first[4]["all"].clear()
        second = environment.step(0)
        assert second[0].tolist() == [2, 2]
        assert second[4] == {"all": [1, 2]}
        assert first[0].tolist() == [50, 50]


def rollout(vector: Any) -> list[Any]:
    observations = [vector.reset(seed=3)[0]]
    for _ in range(10):
        observations.append(vector.step(np.zeros(vector.num_envs, int))[0])
    vector.close()
    return observations


BOX = NUMERIC["box"]
TEXT = design(observation_space="spaces.Text(30)", observation="'Tür ' * self._turn")


def test_sync_vectors(made: Any) -> None:
    single = made(BOX)
    single.reset(seed=3)
    assert np.array_equal(rollout(SyncVectorEnv([partial(IsolatedEnv, BOX)] * 2))[1][0], single.step(0)[0])


@pytest.mark.parametrize("context", ["fork", "forkserver", "spawn"])
def test_async_vectors(context: str) -> None:
    made = [partial(IsolatedEnv, BOX)] * (2 if context == "fork" else 1)
    expected = rollout(SyncVectorEnv(made))
    np.testing.assert_equal(rollout(AsyncVectorEnv(made, context=context)), expected)


def test_async_vectors_of_any_text() -> None:
    """Through Gymnasium's shared memory texts never change: it reads them once, before the first reset."""
    made = [partial(IsolatedEnv, TEXT)]
    assert rollout(AsyncVectorEnv(made, shared_memory=False)) == rollout(SyncVectorEnv(made))


def test_a_fault_in_a_vector_restarts_one_environment() -> None:
    made = [partial(IsolatedEnv, design(step=step)) for step in ("if self._turn == 2:\n    1 / 0", "pass")]
    vector = SyncVectorEnv(made, autoreset_mode=AutoresetMode.SAME_STEP)
    vector.reset(seed=0)
    seen = [vector.step(np.zeros(2, int)) for _ in range(3)]
    assert [list(step[3]) for step in seen] == [[False, False], [True, False], [False, False]]
    assert seen[1][4]["final_info"]["worker_restarted"][0]
    assert [list(step[0]) for step in seen] == [[1, 1], [0, 2], [1, 3]]
    vector.close()


@pytest.mark.parametrize("start_method", ["fork", "forkserver", "spawn"])
def test_stable_baselines(start_method: str) -> None:
    common = pytest.importorskip("stable_baselines3.common.vec_env")
    made = [partial(IsolatedEnv, BOX)]
    got = []
    for kind in (common.DummyVecEnv, partial(common.SubprocVecEnv, start_method=start_method)):
        vector = kind(made)
        vector.seed(3)
        observations = [vector.reset()] + [vector.step(np.zeros(1, int))[0] for _ in range(10)]
        got.append(observations)
        vector.close()
    np.testing.assert_equal(got[0], got[1])


def test_a_registered_file_must_be_the_one_that_was_registered(tmp_path: Path) -> None:
    path = tmp_path / "v0.py"
    path.write_bytes(design().encode())
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    make_environment(path=str(path), sha256=digest).close()
    path.write_bytes(design(reward="1.0").encode())
    with pytest.raises(RegistryError, match="is not the file that is asked for"):
        make_environment(path=str(path), sha256=digest)
    with pytest.raises(RegistryError, match="cannot be read"):
        make_environment(path=str(tmp_path / "none.py"), sha256=digest)
