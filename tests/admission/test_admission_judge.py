"""Whole designs through workers: an honest one is admitted, each flaw is refused for its own reason."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium
import pytest
from designs import FLAWS, HONEST, flawed

from spade_envs.admission import Settings, admit, gates, hint_policies, judge, policies, probes
from spade_envs.admission import bench as bench_module
from spade_envs.admission.lab import Lab
from spade_envs.admission.sheet import Sheet
from spade_envs.contract import Header, parse_header
from spade_envs.isolation import Worker
from spade_envs.registry import Registry, stack

QUICK = Settings(reset_seeds=20, expert_seeds=10, more_expert_seeds=0, replayed_seeds=2)
SHARED = Path(os.environ.get("SPADE_SHARED", Path(__file__).parents[3] / "shared")) / "designs"


@pytest.fixture(autouse=True)
def own_registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPADE_REGISTRY", str(tmp_path / "user"))
    monkeypatch.setenv(stack.ADDED, "")


def test_an_honest_design_passes_every_gate_twice_alike() -> None:
    first, second = judge(HONEST, settings=QUICK), judge(HONEST, settings=QUICK)
    assert first.admitted, first.text()
    names = [gate.name for gate in first.gates]
    first_eight = ["form", "runs", "determinism", "solvable", "hint", "short cuts", "reward", "difficulty"]
    assert names == [*first_eight, "novelty", "content"]
    saw = {gate.name: gate.saw for gate in first.gates}
    assert saw["solvable"]["expert, level 2"] == "10/10"
    assert saw["determinism"]["different"] == 0
    assert saw["form"]["rules"].startswith("One lamp")
    assert json.loads(json.dumps(first.as_dict()))["admitted"] is True
    assert [gate.as_dict() for gate in first.gates] == [gate.as_dict() for gate in second.gates]


@pytest.mark.parametrize("rule", FLAWS)
def test_each_flaw_is_refused_for_its_own_reason(rule: str) -> None:
    report = judge(flawed(rule), settings=replace(QUICK, order_episodes=200))
    assert not report.admitted
    assert rule in {finding.rule for finding in report.gates[-1].findings}, report.text()
    assert all(finding.remedy for finding in report.gates[-1].findings)
    assert all(gate.passed for gate in report.gates[:-1])


def test_a_failing_episode_can_be_played_again() -> None:
    report = judge(flawed("runs.raised"), settings=QUICK)
    episode = report.gates[-1].saw["episode"]
    assert episode["actions"][-1] == 59
    assert episode["level"] == 1


def test_a_hopeless_source_is_refused_at_once_with_all_its_lines() -> None:
    start = time.process_time()
    report = judge(
        HONEST.replace('domain = "games"', 'domain = "fun"').replace("contract = 1", "contrakt = 1")
    )
    assert time.process_time() - start < 0.05
    assert report.id is None
    assert {finding.line for finding in report.gates[0].findings} >= {5, 11}


def test_a_worker_that_has_run_nothing_judges_the_next_design() -> None:
    started = []

    def start(*arguments: Any, **options: Any) -> Worker:
        started.append(Worker.start(*arguments, **options))
        return started[-1]

    bench_module._unused.clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench_module, "patience", lambda: 4.0)
        patch.setattr(bench_module, "Worker", SimpleNamespace(start=start))
        hopeless = [judge(f"{HONEST}\nimport os as o{k}\n") for k in range(3)]
        assert [len(started), *(h.admitted for h in hopeless)] == [1, False, False, False]
        assert judge(HONEST, settings=QUICK).admitted
        assert not started[0].alive  # a design has run in it
        assert not judge("import os").admitted
    assert len(started) == 3  # one more has another hash seed


def test_a_header_s_fault_hides_none_of_the_code_s() -> None:
    source = HONEST.replace('domain = "games"', 'domain = "fun"').replace(
        "import gymnasium as gym", "import os"
    )
    rules = {finding.rule.partition(".")[0] for finding in judge(source).gates[0].findings}
    assert rules == {"header", "language"}


def test_an_answer_in_the_observation_is_noted_and_keeps_nothing_out() -> None:
    """Acting on what is seen may be the task: a person reads the warning."""
    source = HONEST.replace(
        "spaces.MultiDiscrete([self.lamps, self.lamps])", 'spaces.Dict({"lit": spaces.Discrete(120)})'
    ).replace("[self.low, self.high],", '{"lit": self.lit},')
    report = judge(source, settings=QUICK)
    findings = {(f.rule, f.severity) for gate in report.gates for f in gate.findings}
    assert (findings, report.admitted) == (
        {("short-cut.observation", "warn")},
        True,
    ), report.text()
    assert "warning: playing what reads the observation, 'lit' succeeds in 50/50" in report.text()


def test_a_search_without_the_expert_finds_the_shorter_way() -> None:
    source = HONEST.replace("(60, 120)", "(5, 9)").replace(
        "return (self.low + self.high) // 2", "return self.low"
    )
    with Lab(source, header_of(source), QUICK) as lab:
        probes.form(lab)
        probes.solvable(lab)
        found = lab.evidence.searched[1]
        lit = lab.play("expert", policies.expert, 1, 0).actions[-1]
    assert found.shortest == (lit,)
    assert found.tried == lit + 1
    sheet = Sheet("solvable")
    gates.solvable(lab.evidence, QUICK, sheet)
    assert sheet.saw["search without the expert, level 1"] == f"seed 0: 1 actions, [{lit}]"


def test_many_actions_at_once_are_what_they_are_singly() -> None:
    seen = []
    for singly in (False, True):
        with Lab(HONEST, header_of(HONEST), QUICK) as lab:
            lab._singly = singly
            probes.form(lab)
            players = (
                policies.expert,
                policies.uniform,
                policies.held(3),
                policies.unseeded,
                hint_policies.hint_text,
            )
            for policy in players:
                for level in (1, 2):
                    lab.play(policy.__name__, policy, level, 5, watch=True)
            seen.append(lab.evidence.episodes)
    assert seen[0] == seen[1]


def test_an_instance_beside_it_is_played_too() -> None:
    with Lab(HONEST, header_of(HONEST), QUICK) as lab:
        probes.form(lab)
        lab.beside(lab.play("expert", policies.expert, 1, 3, watch=True))
        ((first, again),) = lab.evidence.pairs
        assert again.policy == "expert again, beside another instance"
        assert again.trace == first.trace
        assert len(lab.bench().worker._checks) == 3


def header_of(source: str) -> Header:
    header = parse_header(source)
    assert isinstance(header, Header)
    return header


def test_a_refused_construct_names_its_line() -> None:
    report = judge(HONEST.replace("import gymnasium as gym", "import gymnasium as gym\nimport os"))
    assert [finding.line for finding in report.gates[-1].findings] == [14]
    assert "design.py:14" in report.text("design.py")


def test_admitted_designs_are_versions_that_can_be_made_at_once(tmp_path: Path) -> None:
    registry = Registry(tmp_path / "live")
    source = HONEST.replace("LampHunt", "LampHuntLive")
    admission = admit(source, registry, run="r1", round=3, settings=QUICK)
    assert admission.id == "spade/LampHuntLive-v0", admission.report.text()
    env = gymnasium.make(admission.id, difficulty=2)
    observation, _ = env.reset(seed=3)
    assert list(observation) == [0, 119]
    env.close()
    record = json.loads(admission.path.with_suffix(".json").read_text())
    assert (record["run"], record["round"], record["admitted"]) == ("r1", 3, True)

    again = admit(source, registry, run="r1", round=3, settings=QUICK)
    assert (again.id, again.path) == (admission.id, admission.path)
    other = admit(source.replace("-v0", "-v5"), registry, run="r2", round=3, settings=QUICK)
    assert other.id is None
    assert other.report.gates[-1].findings[0].rule == "novelty.duplicate"
    assert "spade/LampHuntLive-v0" in other.report.text()

    changed = admit(source.replace("Halve what is left", "Halve the rest"), registry, settings=QUICK)
    assert changed.id == "spade/LampHuntLive-v1"
    assert [str(env_id) for env_id in registry.ids()] == ["spade/LampHuntLive-v0", "spade/LampHuntLive-v1"]


def test_versions_are_free_across_the_whole_stack(tmp_path: Path) -> None:
    source = HONEST.replace("LampHunt", "LampHuntStack")
    Registry(tmp_path / "user").add(source, {})
    changed = source.replace("Halve what is left", "Halve the rest")
    assert admit(changed, Registry(tmp_path / "own"), settings=QUICK).id == "spade/LampHuntStack-v1"


def test_the_time_for_one_design_is_bounded() -> None:
    report = judge(HONEST, settings=Settings(budget_s=0.0))
    assert report.gates[-1].findings[0].rule == "runs.slow"


SHORT_HONEST = ["unit_fractions", "folder_tidy", "running_median", "outage_trace"]
SHORT_FLAWED = [
    "tide_walk",
    "harbour_tug",
    "unit_fractions",
    "drone_landing",
    "word_detective",
    "region_report",
]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the labelled designs are not here")
@pytest.mark.parametrize("name", SHORT_HONEST)
def test_honest_designs_are_admitted(name: str) -> None:
    report = judge((SHARED / "honest" / f"{name}.py").read_text())
    assert report.admitted, report.text()


@pytest.mark.skipif(not SHARED.is_dir(), reason="the labelled designs are not here")
@pytest.mark.parametrize("name", SHORT_FLAWED)
def test_flawed_designs_are_refused(name: str) -> None:
    assert not judge((SHARED / "mixed" / f"{name}.py").read_text()).admitted


@pytest.mark.parametrize(
    "call",
    ["def hint(self):\n", "def render(self):\n", "def expert_action(self):\n"],
    ids=["hint", "render", "expert_action"],
)
def test_what_a_look_or_the_expert_keeps_is_weighed(call: str) -> None:
    source = HONEST.replace(call, f"{call}        self.kept.append([])\n").replace(
        "self.render_mode = render_mode", "self.render_mode, self.kept = render_mode, []"
    )
    report = judge(source, settings=QUICK)
    assert [finding.rule for finding in report.gates[-1].findings] == ["runs.memory"], report.text()


def test_levels_that_ask_for_the_same_are_noted() -> None:
    report = judge(HONEST.replace("(60, 120)", "(60, 60)"), settings=QUICK)
    assert report.admitted
    assert [(f.rule, f.severity) for f in report.findings] == [("difficulty.alike", "warn")], report.text()


SPELLED = '''
import gymnasium as gym
from gymnasium import spaces


class WordChain(gym.Env):
    """Six colours stand in a secret order. Name them one after the other; a wrong one ends the game."""

    colours = ("red", "blue", "green", "grey", "black", "white", "brown", "pink")

    def __init__(self, render_mode=None, difficulty=1):
        self.render_mode = render_mode
        self.action_space = spaces.Text(20)
        self.observation_space = spaces.Text(200)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.order = [self.colours[int(k)] for k in self.np_random.permutation(8)[: 4 + 0]]
        self.at = 0
        return f"Name colour {self.at + 1}. There are {', '.join(self.colours)}.", {}

    def step(self, action):
        right = action == self.order[self.at]
        self.at += right
        won = bool(right and self.at == len(self.order))
        said = f"Name colour {self.at + 1}." if right else "That was wrong."
        return said, float(won), won or not right, False, {"is_success": won}

    def hint(self):
        return HINT

    def expert_action(self):
        return self.order[self.at]
'''


@pytest.mark.parametrize(
    ("hint", "rule"),
    [
        ('"Remember which ones you have tried."', None),
        ("f\"Take {', then '.join(self.order)}.\"", "hint.leak"),
        ("' '.join('-'.join(colour) for colour in self.order)", "hint.leak"),
    ],
)
def test_a_hint_may_not_spell_the_answer(hint: str, rule: str | None) -> None:
    header = HONEST.partition("import gymnasium")[0].replace("LampHunt", "WordChain")
    report = judge(header.replace("levels = 2", "levels = 1") + SPELLED.replace("HINT", hint), settings=QUICK)
    refused = [finding.rule for finding in report.findings if finding.severity == "refuse"]
    assert refused == ([rule] if rule else []), report.text()
