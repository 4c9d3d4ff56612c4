"""The held-out suite: every environment in turn, from seeds that nothing else uses, as gymnasium.make would open it."""

from __future__ import annotations

import pytest

from spade_envs import seeds_folder
from spade_train.evaluation import Options, Suite
from spade_train.evaluation.suites import make_suites
from spade_train.playing.prompts import EXAMPLE_SEED, HELD_OUT_SEED, TRAINING_SEEDS


def suite(word: str, items: int) -> Suite:
    (made,) = make_suites([word], Options(items=items))
    assert isinstance(made, Suite)
    return made


def test_every_environment_has_as_many_items() -> None:
    there = len(list((seeds_folder() / "heldout").glob("*.py")))
    made = suite("heldout", 2 * there)
    assert len({one.env_id for one in made.items}) == there
    assert {one.seed for one in made.items} == {HELD_OUT_SEED, HELD_OUT_SEED + 1}
    assert HELD_OUT_SEED > EXAMPLE_SEED + 1000 > TRAINING_SEEDS
    assert {one.level for one in suite("heldout=2", there).items} == {2}


@pytest.mark.parametrize("word", ["heldout", "heldout=2"])
def test_an_expert_wins_and_turns_are_limited(word: str) -> None:
    made = suite(word, 3)
    item = made.items[-1]
    env = made.make(item.env_id, **({"difficulty": item.level} if item.level > 1 else {}))
    env.reset(seed=item.seed)
    over, info = False, {}
    while not over:
        *_, terminated, truncated, info = env.step(env.expert_text())
        over = terminated or truncated
    assert info["is_success"]
    env.reset(seed=item.seed)
    assert env.turn_limit is not None
    assert [env.step("no action")[3] for _ in range(env.turn_limit)] == [False] * (env.turn_limit - 1) + [
        True
    ]
    env.close()
