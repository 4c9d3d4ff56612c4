"""Advantages by role are GRPO's, and TRL's own centring leaves them as they are."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from trl import GRPOTrainer
from trl.trainer.utils import nanstd

from spade_train.cli import main
from spade_train.rewards.advantages import EPSILON, Advantages, RewardBlock, RoleSettings, Scale, advantages
from spade_train.trl_plugin import Settings

G = 4
REWARDS = st.lists(st.none() | st.floats(-1, 1).map(lambda x: round(x, 3)), min_size=G, max_size=G).map(tuple)
BLOCKS = st.lists(
    st.builds(RewardBlock, st.sampled_from(["designer", "agent"]), REWARDS), min_size=1, max_size=6
)
SETTINGS = st.fixed_dictionaries(
    {
        role: st.builds(RoleSettings, st.sampled_from(["group", "batch", "none"]), st.floats(0.1, 3))
        for role in ("designer", "agent")
    }
)


def trl(rows: list[float], scale: Scale) -> torch.Tensor:
    """TRL 1.16's formula for one summed reward (GRPOTrainer, ``sum_then_normalize``)."""
    rewards = torch.tensor(rows)
    blocks = rewards.view(-1, G)
    centred = rewards - torch.nanmean(blocks, dim=1).repeat_interleave(G)
    deviation = {
        "group": nanstd(blocks, dim=1).repeat_interleave(G),
        "batch": nanstd(rewards).expand_as(rewards),
        "none": torch.full_like(rewards, 1 - EPSILON),
    }[scale]
    return torch.nan_to_num(centred / (deviation + EPSILON), nan=0.0)


@given(BLOCKS, SETTINGS)
def test_trls_centring_leaves_them_as_they_are(
    blocks: list[RewardBlock], settings: dict[str, RoleSettings]
) -> None:
    given_ = advantages(blocks, settings)
    taken = trl(given_.rows, "none")
    assert taken.tolist() == pytest.approx(given_.rows, abs=1e-5, rel=1e-5)


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
@given(st.data())
def test_one_role_alone_has_trls_own_advantages(scale: Scale, data: st.DataObject) -> None:
    blocks = data.draw(st.lists(REWARDS, min_size=1, max_size=5))
    rows = [float("nan") if reward is None else reward for block in blocks for reward in block]
    mine = advantages([RewardBlock("agent", block) for block in blocks], {"agent": RoleSettings(scale)})
    # float32 makes a flat block's deviation about 1e-8: no part of the formula
    assert mine.rows == pytest.approx(trl(rows, scale).tolist(), abs=2e-3)


@given(BLOCKS, SETTINGS)
def test_blocks_without_variance_add_nothing_and_are_counted(
    blocks: list[RewardBlock], settings: dict[str, RoleSettings]
) -> None:
    found = advantages(blocks, settings)
    assert sum(found.counted.values()) == len(blocks)
    assert sum(found.flat.values()) == sum(len({r for r in b.rewards if r is not None}) < 2 for b in blocks)
    for block, values in zip(blocks, found.blocks, strict=True):
        assert sum(values) == pytest.approx(0, abs=1e-6)
        assert all(value == 0 for value, reward in zip(values, block.rewards, strict=True) if reward is None)
        assert block.flat == all(value == 0 for value in values)


def test_by_hand_a_fault_is_no_zero() -> None:
    block = RewardBlock("agent", (1.0, 0.0, None, 0.5))
    (values,) = advantages([block], {}).blocks
    deviation = stdev([1.0, 0.0, 0.5])
    assert values == pytest.approx((0.5 / (deviation + EPSILON), -0.5 / (deviation + EPSILON), 0, 0))


def test_roles_rates_and_weights() -> None:
    rewards = (0.0, 1.0, 0.0, 1.0)
    blocks = [RewardBlock("designer", rewards), RewardBlock("agent", rewards, weight=3.0)]
    settings = {"designer": RoleSettings("none", 0.5), "agent": RoleSettings("none")}
    assert advantages(blocks, settings) == Advantages(
        ((-0.25, 0.25) * 2, (-1.5, 1.5) * 2), {"designer": 1, "agent": 1}, {"designer": 0, "agent": 0}
    )


def test_batch_scale_is_of_the_role_alone() -> None:
    wide, narrow = RewardBlock("designer", (-1.0, 1.0)), RewardBlock("agent", (0.0, 0.01))
    both = {"designer": RoleSettings("batch"), "agent": RoleSettings("batch")}
    (_, agent) = advantages([wide, narrow], both).blocks
    assert agent[1] == pytest.approx((0.01 - fmean((0, 0.01))) / (stdev((0, 0.01)) + EPSILON))


def test_a_real_trainer_takes_them_as_they_are(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One round through ``GRPOTrainer`` itself, one row left out: what reaches the loss is what went in."""
    group, taken = 2, []
    sent = advantages(
        [
            RewardBlock("designer", (0.3, -0.5)),
            RewardBlock("agent", (1.1, 0.1)),
            RewardBlock("agent", (None, 0.4)),
        ],
        {"designer": RoleSettings("none", 0.5)},
    )
    loss = GRPOTrainer._compute_loss

    def keep(self: Any, model: Any, inputs: dict[str, torch.Tensor]) -> torch.Tensor:
        taken.extend(inputs["advantages"].tolist())
        computed: torch.Tensor = loss(self, model, inputs)
        return computed

    monkeypatch.setattr(Settings, "advantages", lambda *_: sent)
    monkeypatch.setattr(GRPOTrainer, "_compute_loss", keep)
    monkeypatch.setenv("NO_COLOR", "1")
    flags = (
        f"--model_name_or_path {model_folder} --runs {tmp_path} --run_name one --rounds 1 --num_generations {group} "
        "--per_device_train_batch_size 6 --max_completion_length 40 --turn_tokens 4 --bf16 false --upper_layers 1 "
        "--scale_rewards group --curriculum spade/WordSorter-v0"
    )
    main(flags.split())
    assert sorted(taken) == pytest.approx(sorted(sent.rows), abs=1e-6)
