from __future__ import annotations

import copy
import json
import pickle
import re
import sys
import types
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import json_values

from spade_envs.contract import ToolEnv, UnicodeText

LIMIT = 32_768


class Shop(ToolEnv):
    """Sell things. Every name that a base class might want is taken here."""

    tools = ("hammer",)
    _call = _run = _functions = _tools = _finish = "mine"

    def __init__(self, render_mode: str | None = None) -> None:  # without super().__init__()
        self.render_mode = render_mode

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.functions = self.calls = None
        self._log: list[Any] = []
        self._instructions: list[Any] = []
        self._price = int(self.np_random.integers(10))
        return "Sell.", {}

    def tool_sell(self, item: str, count: int = 1) -> Any:
        """Sell something.

        Args:
            item: What.
            count: How many.
        """
        self._log.append((item, count))
        return {"sold": {item}, "count": np.int64(count)}

    def tool_say(self, text: str) -> str:
        """Say something.

        Args:
            text: What.
        """
        return text

    def tool_fail(self, how: str) -> Any:
        """Fail.

        Args:
            how: In which way.
        """
        if how == "memory":
            raise MemoryError
        if how == "mute":
            raise Mute
        if how == "loop":
            endless: list[Any] = []
            endless.append(endless)
            return endless
        return {"a": 1}[how]

    def next_instruction(self, answer: Any) -> Any:
        return self._instructions.pop(0) if self._instructions else None

    def goal_reached(self, answer: Any) -> bool:
        self._answer = answer
        return bool(answer["ok"]) if isinstance(answer, dict) else answer == "ok"


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError


@pytest.fixture
def shop() -> Shop:
    env = Shop()
    env.reset(seed=1)
    return env


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize("as_text", [True, False])
def test_a_call_reaches_its_tool_and_shows_its_result(shop: Shop, as_text: bool) -> None:
    action: Any = call("sell", item="nail", count=3)
    outcome = shop.step(json.dumps(action) if as_text else action)
    assert outcome == ('{"sold": ["nail"], "count": 3}', 0.0, False, False, {"is_success": False})
    assert shop._log == [("nail", 3)]


def test_text_results_are_shown_as_they_are_and_defaults_apply(shop: Shop) -> None:
    assert shop.step(call("say", text='a "b"\n\u00e9'))[0] == 'a "b"\n\u00e9'
    shop.step(call("sell", item="nail"))
    shop.step({"name": "sell", "arguments": {"item": "nail", "count": np.int64(2)}})
    assert shop._log == [("nail", 1), ("nail", 2)]


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("sell nails", "is not JSON"),
        ("", "is not JSON"),
        ("[" * 8000, "nested too deeply"),
        (" " * 8193, "8,193 characters; at most 8,192"),
        ("3", 'expected {"name"'),
        ("null", 'expected {"name"'),
        ('{"arguments": {}}', 'expected {"name"'),
        ('{"name": "sell", "parameters": {"item": "x"}}', "no other keys"),
        ('{"name": "steal"}', "no tool has the name `steal`; the tools are sell, say, fail, finish"),
        ('{"name": ["sell"]}', "no tool has the name"),
        ('{"name": "tool_sell"}', "no tool has the name"),
        ('{"name": "__init__"}', "no tool has the name"),
        ('{"name": "sell", "arguments": ["x"]}', "`arguments` must be a JSON object"),
        ('{"name": "sell", "arguments": {}}', "missing argument `item`"),
        ('{"name": "sell", "arguments": {"item": "x", "price": 1}}', "unknown argument `price`"),
        (
            '{"name": "sell", "arguments": {"item": "x", "count": "2"}}',
            '`count` must be a whole number, not "2"',
        ),
        (
            '{"name": "finish", "arguments": {"result": 1}}',
            "unknown argument `result`; `finish` takes `answer`",
        ),
        ("[]", "the list is empty"),
        (call("fail", how="b"), "the tool failed: KeyError: 'b'"),
        (call("fail", how="mute"), "the tool failed: Mute"),
        (call("fail", how="loop"), "the tool failed: RecursionError"),
    ],
)
def test_a_bad_call_is_answered_with_what_was_wrong(shop: Shop, action: Any, words: str) -> None:
    observation, reward, terminated, truncated, info = shop.step(action)
    assert observation.startswith("Error: ")
    assert words in observation
    assert (reward, terminated, truncated, info) == (0.0, False, False, {"is_success": False})
    assert shop._log == []


def test_running_out_of_memory_is_not_the_agents_fault(shop: Shop) -> None:
    with pytest.raises(MemoryError):
        shop.step(call("fail", how="memory"))


@pytest.mark.parametrize(
    ("action", "answer", "success"),
    [
        ('{"name": "finish"}', "", False),
        ('{"name": "finish", "arguments": {"answer": "ok"}}', "ok", True),
        ('{"name": "finish", "arguments": {"answer": {"ok": [1]}}}', {"ok": [1]}, True),
        ('{"name": "finish", "arguments": {"answer": null}}', None, False),
        (call("finish", answer=[1, "a"]), [1, "a"], False),
    ],
)
def test_finish_ends_the_episode_with_any_answer(shop: Shop, action: Any, answer: Any, success: bool) -> None:
    _, reward, terminated, truncated, info = shop.step(action)
    assert (reward, terminated, truncated) == (float(success), True, False)
    assert info == {"is_success": success}
    assert shop._answer == answer


def test_a_goal_that_cannot_be_judged_is_not_reached(shop: Shop) -> None:
    _, reward, terminated, _, info = shop.step(call("finish", answer={}))
    assert (reward, terminated) == (0.0, True)
    assert info == {"is_success": False, "warning": "goal_reached raised KeyError: 'ok'"}


def test_the_user_may_go_on_after_finish(shop: Shop) -> None:
    shop._instructions = ["Now sell a saw."]
    assert shop.step(call("finish", answer="ok")) == (
        "Now sell a saw.",
        0.0,
        False,
        False,
        {"is_success": False},
    )
    assert shop.step(call("finish", answer="ok"))[1:3] == (1.0, True)


def test_a_list_of_calls_runs_in_order_past_faults_and_up_to_finish(shop: Shop) -> None:
    calls = [
        call("say", text="a"),
        call("fail", how="b"),
        call("sell", item="nail"),
        call("finish", answer="ok"),
    ]
    observation, reward, terminated, _, info = shop.step(json.dumps([*calls, call("sell", item="saw")]))
    results = json.loads(observation)
    assert results[0] == "a"
    assert results[1].startswith("Error: the tool failed")
    assert results[2] == {"sold": ["nail"], "count": 1}
    assert results[4] == "Error: not run, because `finish` came before it."
    assert (reward, terminated, info) == (1.0, True, {"is_success": True})
    assert shop._log == [("nail", 1)]


def test_a_list_stops_at_finish_also_where_the_user_goes_on(shop: Shop) -> None:
    shop._instructions = ["More."]
    observation, _, terminated, _, _ = shop.step([call("finish", answer=""), call("sell", item="nail")])
    assert json.loads(observation)[0] == "More."
    assert not terminated
    assert shop._log == []


def test_long_results_are_cut_with_a_note(shop: Shop) -> None:
    shop.tool_say = lambda text: "x" * 40_000  # type: ignore[method-assign]
    observation = shop.step(call("say", text=""))[0]
    assert len(observation) == LIMIT
    assert observation.endswith("x\n[cut: the result has 40,000 characters]")
    shop.tool_say = lambda text: "x" * LIMIT  # type: ignore[method-assign]
    assert shop.step(call("say", text=""))[0] == "x" * LIMIT


@settings(max_examples=80)
@given(
    st.text(max_size=30)
    | json_values
    | json_values.map(json.dumps)
    | st.builds(call, st.just("say"), text=st.text())
)
def test_whatever_an_agent_writes_the_observation_lies_in_the_space(action: Any) -> None:
    shop = Shop()
    shop.reset(seed=1)
    observation, reward, terminated, truncated, info = shop.step(action)
    assert observation in shop.observation_space
    assert (reward, terminated, truncated) in ((0.0, False, False), (0.0, True, False), (1.0, True, False))
    assert info["is_success"] is (reward == 1.0)


def test_half_a_character_does_not_leave_the_environment(shop: Shop) -> None:
    observation = shop.step('{"name": "say", "arguments": {"text": "\\ud83d"}}')[0]
    assert observation in shop.observation_space


def test_what_the_tool_keeps_is_not_the_callers_object(shop: Shop) -> None:
    action = [call("sell", item="nail")]
    before = copy.deepcopy(action)
    shop.step(action)
    assert action == before


def test_the_subclass_may_use_the_base_classes_names(shop: Shop) -> None:
    assert shop.tools == ("hammer",)
    assert shop._call == "mine"
    assert shop.step(call("say", text="still works"))[0] == "still works"


def test_instances_share_nothing() -> None:
    one, two = Shop(), Shop()
    one.action_space.seed(1)
    assert one.action_space is not two.action_space
    assert copy.deepcopy(one).action_space == two.action_space


class Plain(ToolEnv):
    """Say yes."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        return f"Say {self.np_random.integers(10)}.", {}

    def goal_reached(self, answer: Any) -> bool:
        return answer == "yes"


def test_gymnasiums_checker_passes() -> None:
    check_env(Plain(), skip_render_check=True)
    assert pickle.loads(pickle.dumps(Plain(render_mode="ansi"))).render_mode == "ansi"


def test_unicode_text_works_where_gymnasium_numbers_characters() -> None:
    space = UnicodeText(6, seed=3)
    for text in ("", "\u00e9", "a\U0001f600\n\x00"):
        assert text in space
        assert gym.spaces.unflatten(space, gym.spaces.flatten(space, text)) == text
    for other in ("1234567", "\ud800", 3, None):
        assert other not in space
    assert all(space.sample() in space for _ in range(20))
    assert space == UnicodeText(6) != UnicodeText(7)
    assert space != gym.spaces.Text(6, min_length=0)
    assert pickle.loads(pickle.dumps(space)) == space
    assert repr(space) == "UnicodeText(0, 6)"
    with pytest.raises(ValueError, match="takes no mask"):
        space.sample(mask=(None, None))


def play_expert(source: str, monkeypatch: pytest.MonkeyPatch) -> tuple[float, bool]:
    """Run a design that is known to be honest in a module of its own and let its expert play it."""
    module = types.ModuleType("spade_design")
    monkeypatch.setitem(sys.modules, "spade_design", module)  # dataclasses look their module up
    code = source.replace("from spade_envs import", "from spade_envs.contract import")
    exec(compile(code, "design", "exec", dont_inherit=True), module.__dict__)
    (cls,) = (
        v
        for v in vars(module).values()
        if isinstance(v, type) and issubclass(v, ToolEnv) and v is not ToolEnv
    )
    env: Any = cls()
    env.reset(seed=5)
    for _ in range(30):
        _, reward, terminated, _, _ = env.step(env.expert_action())
        if terminated:
            return reward, terminated
    return 0.0, False


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_honest_tool_designs_are_won_by_their_experts(
    shared_designs: Path, future: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = [path.read_text(encoding="utf-8") for path in sorted(shared_designs.glob("honest/*.py"))]
    contract = (shared_designs.parent / "contract.md").read_text(encoding="utf-8")
    sources += re.findall(r"```python\n(from spade_envs import ToolEnv.*?)```", contract, re.DOTALL)
    sources = [source for source in sources if "(ToolEnv)" in source]
    assert len(sources) == 4
    assert [play_expert(future + source, monkeypatch) for source in sources] == [(1.0, True)] * 4
