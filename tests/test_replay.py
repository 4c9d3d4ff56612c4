"""An episode played again shows what was seen when it was played first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from designs import HONEST, flawed
from hypothesis import given, settings
from hypothesis import strategies as st
from small_designs import ENDLESS, design

from spade_envs import IsolatedEnv, judge, seeds_folder
from spade_envs.admission import policies
from spade_envs.admission.evidence import Restart
from spade_envs.admission.lab import Lab
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import replay as recorded_as
from spade_envs.contract import Header, parse_header
from spade_envs.contract.plain import plain
from spade_envs.errors import UsageError, WorkerFault
from spade_envs.registry import Registry, add_registry
from spade_envs.replay import Recorded, episode_of, replay

Run = Callable[..., tuple[int, str, str]]
QUICK = Settings(reset_seeds=20, expert_seeds=10, more_expert_seeds=0, replayed_seeds=2)
BOX = design(
    action_space='spaces.Dict({"at": spaces.Box(-1, 1, (2,), np.float32), "on": spaces.MultiBinary(2)})',
    observation_space="spaces.Box(-9, 9, (2,), np.float32)",
    observation="self._at",
    reset="self._at = np.zeros(2, np.float32)",
    step="self._at = action['at'] * action['on'].sum() + self.np_random.random(2)",
    expert_action="self.action_space.sample()",
)


def seed_design(name: str) -> str:
    return (seeds_folder() / f"{name}.py").read_text()


@settings(max_examples=10)
@given(st.integers(0, 9), st.lists(st.integers(0, 59), max_size=9), st.sampled_from([1, 2]))
def test_it_shows_what_the_environment_shows(seed: int, actions: list[int], level: int) -> None:
    steps = list(replay(HONEST, level, seed, actions))
    environment = IsolatedEnv(HONEST, difficulty=level)
    observation, _ = environment.reset(seed=seed)
    assert (steps[0].observation, steps[0].text) == (observation.tolist(), environment.describe())
    for number, (step, action) in enumerate(zip(steps[1:], actions, strict=False), 1):
        observation, reward, terminated, _, info = environment.step(action)
        assert (step.number, step.action, step.observation) == (number, str(action), observation.tolist())
        assert (step.text, step.reward) == (environment.describe(), reward)
        assert (step.terminated, step.truncated) == (terminated, number == 7 and not terminated)
        assert step.success == info["is_success"]
    assert len(steps) == len(actions) + 1 or steps[-1].over
    environment.close()


@pytest.mark.parametrize(
    "source", [BOX, seed_design("stock_room"), seed_design("maze_key"), seed_design("word_sorter")]
)
def test_what_a_report_holds_can_be_played_again(source: str) -> None:
    """Through JSON: arrays, dicts, words and tool calls come back as the actions that they were."""
    header = parse_header(source)
    assert isinstance(header, Header)
    level = 1 if header.difficulty_levels else None
    with Lab(source, header, Settings()) as lab:
        lab.open()
        played = [
            lab.play("expert", policies.expert, level, 3),
            lab.play("spoilt expert", policies.spoilt, level, 1),
            lab.play("unseeded resets", policies.unseeded, level, 2),
        ]
    for episode in played:
        recorded = Recorded.read(json.loads(json.dumps(recorded_as(episode))))
        assert recorded is not None
        steps = list(replay(source, recorded.level, recorded.seed, recorded.actions))
        assert len(steps) == len(episode.actions) + 1
        assert sum(step.reward for step in steps) == pytest.approx(episode.total)
        assert steps[-1].success == episode.success
    assert Restart.RESTART in recorded.actions
    assert "reset without a seed" in recorded_as(played[2])["actions"]


def test_the_experts_episode_ends_well() -> None:
    steps = list(replay(seed_design("oasis_walk"), 1, 4))
    assert steps[-1].success
    assert steps[-1].terminated
    assert all(step.action in ("north", "east", "south", "west") for step in steps[1:])
    words = [step.action for step in steps[1:]]
    again = list(replay(seed_design("oasis_walk"), 1, 4, words))
    assert again == steps


def test_the_time_limit_holds() -> None:
    steps = list(replay(design(step="self._turn = 0"), None, 0, [1] * 50))
    assert len(steps) == 21
    assert steps[-1].truncated
    assert steps[-2].over is False


def test_an_episode_that_was_begun_anew_goes_on() -> None:
    steps = list(replay(design(), None, 0, [*[1] * 8, Restart.RESTART, 1, 1]))
    assert [step.over for step in steps] == [False] * 8 + [True] + [False] * 3
    assert [step.text for step in steps[-3:]] == ["turn 0", "turn 1", "turn 2"]
    assert len(list(replay(design(), None, 0, [1] * 11))) == 9


def test_a_fault_is_the_last_step() -> None:
    source = design(step="if action == 3: raise ValueError('three')")
    steps = list(replay(source, None, 0, [1, 3, 2]))
    assert [step.action for step in steps] == [None, "1", "3"]
    assert str(steps[-1].fault).startswith("raised: step: ValueError: three")
    steps = list(replay(design(expert="1 / 0"), None, 0))
    assert steps[-1].fault is not None
    assert "expert_action" in steps[-1].fault
    with pytest.raises(WorkerFault, match="reset"):
        list(replay(design(reset="1 / 0"), None, 0, [1]))
    with pytest.raises(UsageError, match="the source is refused"):
        list(replay("import os\n", None, 0, [1]))


@pytest.mark.parametrize(
    ("action", "says"),
    [
        (8, "action 2 is none of the action space: it is out of range; write a whole number from 0 to 7"),
        ("up", "action 2 is none"),
        (None, "action 2 is none"),
        ([1], "action 2 is none"),
        (1.5, "it is no whole number"),
    ],
)
def test_what_is_no_action_is_named(action: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        list(replay(design(), None, 0, [1, action]))


def test_the_episode_behind_a_finding() -> None:
    report = json.loads(json.dumps(judge(flawed("runs.raised"), settings=QUICK).as_dict()))
    recorded, finding = episode_of(report, 1)
    assert finding["rule"] == "runs.raised"
    *_, last = replay(flawed("runs.raised"), recorded.level, recorded.seed, recorded.actions)
    assert last.fault is not None
    assert last.fault.removeprefix("raised: ") in finding["found"]
    with pytest.raises(UsageError, match="has 1 findings; there is no finding 2"):
        episode_of(report, 2)
    with pytest.raises(UsageError, match=r"\[hint.empty\] was not seen in one episode"):
        episode_of({"gates": [{"name": "hint", "findings": [{"rule": "hint.empty"}]}]}, 1)
    for damaged in ({}, {"gates": 5}, {"gates": [7, {"saw": None, "findings": None}]}):
        with pytest.raises(UsageError, match="has 0 findings"):
            episode_of(damaged, 1)


@pytest.fixture
def shelf(run: Run, tmp_path: Path) -> Registry:
    warned = {"rule": "solvable.peeks", "found": "it \x1b peeks", "remedy": "Look.", "severity": "warn"}
    episode = {"policy": "expert", "level": 2, "seed": 5, "actions": [7, 90, 119]}
    report = {"gates": [{"name": "solvable", "saw": {"episode": episode}, "findings": [warned]}]}
    registry = Registry(tmp_path / "user")
    registry.add(HONEST.replace("LampHunt", "LampReplayed"), report)
    add_registry(registry.root)
    return registry


def test_the_command_tells_an_episode(run: Run, shelf: Registry) -> None:
    code, out, _ = run("replay", "spade/LampReplayed", "--expert", "--seed", 1)
    assert code == 0
    assert out.startswith("The lit lamp is one of 0 to 59.\n\n> 29\nThe lit lamp is one of ")
    assert "The goal was reached, return 1 after " in out
    code, out, _ = run("replay", "spade/LampReplayed-v0", "--report-finding", 1)
    assert code == 0
    assert out.startswith("it \\x1b peeks [solvable.peeks]\nThe lit lamp is one of 0 to 119.\n\n> 7\n")
    assert "The episode goes on, return 0 after 3 actions." in out
    Path("moves.json").write_text("[1, 2, 3, 4, 5, 6, 7, 8]")
    code, out, _ = run(
        "replay", "spade/LampReplayed", "--actions", "@moves.json", "--difficulty", 2, "--json"
    )
    assert code == 0
    rows = [json.loads(line) for line in out.splitlines()]
    assert [row["number"] for row in rows] == list(range(8))
    assert (rows[-1]["truncated"], rows[0]["observation"]) == (True, [0, 119])


def test_a_refused_design_is_played_from_its_file(run: Run, tmp_path: Path) -> None:
    source = design(step="if action == 3: raise ValueError('three')")
    Path("refused.py").write_text(source)
    gate = {"saw": {"episode": {"policy": "held 3", "level": None, "seed": 0, "actions": [3]}}}
    finding = {"rule": "runs.raised", "found": "step: ValueError: three", "remedy": "Do not."}
    Path("refused.json").write_text(json.dumps({"gates": [{**gate, "findings": [finding]}]}))
    code, out, _ = run("replay", "refused.py", "--report-finding", 1)
    assert code == 0
    assert "> 3\nstopped: raised: step: ValueError: three" in out
    assert "The worker was stopped, return 0 after 1 actions." in out


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ([], "give one of --actions, --report-finding and --expert"),
        (["--expert", "--actions", "[]"], "give one of"),
        (["--actions", "[1"], "--actions is no JSON"),
        (["--actions", "{}"], "--actions holds no JSON list"),
        (["--actions", "@none.json"], "none.json is missing"),
        (["--actions", "@."], ". is no regular file"),
        (["--actions", "[60]"], "action 1 is none of the action space: it is out of range"),
        (["--report-finding", "2"], "has 1 findings; there is no finding 2"),
        (["--report-finding", "1", "--seed", "3"], "leave out --seed"),
        (["--expert", "--difficulty", "3"], "has 2 difficulty levels"),
    ],
)
def test_wrong_use(run: Run, shelf: Registry, options: list[str], says: str) -> None:
    code, _, err = run("replay", "spade/LampReplayed-v0", *options)
    assert code == 3
    assert says in err


def test_what_cannot_be_played(run: Run, shelf: Registry) -> None:
    code, _, err = run("replay", "spade/LampRepleyed-v0", "--expert")
    assert code == 3
    assert "did you mean spade/LampReplayed-v0" in err
    assert run("replay", "none.py", "--expert")[0] == 3
    Path("empty.py").write_text("")
    code, _, err = run("replay", "empty.py", "--expert")
    assert code == 3
    assert "the file is empty" in err
    Path("hangs.py").write_text(design(reset=ENDLESS))
    code, _, err = run("replay", "hangs.py", "--expert")
    assert code == 2
    assert "reset" in err


def test_recorded_episodes_that_are_none() -> None:
    good = {"policy": "expert", "level": None, "seed": 1, "actions": []}
    assert Recorded.read(good) == Recorded("expert", None, 1, [])
    for key in good:
        assert Recorded.read({**good, key: object()}) is None
    assert Recorded.read(None) is None
    assert plain(Restart.RESTART) == Restart.RESTART.value
