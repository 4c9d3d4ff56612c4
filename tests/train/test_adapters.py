"""Each role's rows go through its own adapter, and their gradients reach no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from train_stand_ins import tiny_model

from spade_train.trl_plugin.adapters import NAMES, RoleAdapters

# PEFT asks for a name that transformers is about to drop: between the two of them
pytestmark = pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing:FutureWarning")

DESIGNER = 7
"""The first token of the designer's rows."""


def role(ids: Sequence[int]) -> str:
    return "designer" if ids[0] == DESIGNER else "agent"


@pytest.fixture
def peft(tokenizer: Any) -> Any:
    config = LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False, task_type="CAUSAL_LM")
    return get_peft_model(tiny_model(tokenizer), config)


@pytest.fixture
def adapters(peft: Any) -> RoleAdapters:
    return RoleAdapters(peft, peft.get_base_model().base_model, role)


def logits(model: Any, ids: list[list[int]]) -> torch.Tensor:
    tokens = torch.tensor(ids)
    out: torch.Tensor = model(
        input_ids=tokens, attention_mask=torch.ones_like(tokens), use_cache=False
    ).logits
    return out


ROWS = [[DESIGNER, 11, 12, 13], [5, 11, 12, 13], [DESIGNER, 21, 22, 23]]


def test_a_mixed_batch_is_computed_row_by_row(peft: Any, adapters: RoleAdapters) -> None:
    mixed = logits(peft, ROWS)
    for n, row in enumerate(ROWS):
        assert torch.allclose(logits(peft, [row])[0], mixed[n], atol=1e-5)
    as_agent = logits(peft, [[5, 11, 12, 13]])
    adapters.use("designer")
    sampled = peft(input_ids=torch.tensor([[5, 11, 12, 13]]), use_cache=True).logits
    assert not torch.allclose(as_agent, sampled, atol=1e-3), (
        "sampling goes through the adapter that was chosen"
    )


@pytest.mark.parametrize(("row", "own"), [(ROWS[0], "designer"), (ROWS[1], "agent")])
def test_a_row_moves_its_own_adapter_alone(
    row: list[int], own: str, peft: Any, adapters: RoleAdapters
) -> None:
    logits(peft, [row]).square().sum().backward()
    moved = {
        name
        for name in NAMES.values()
        if any(
            f".{name}." in key and p.grad is not None and p.grad.any() for key, p in peft.named_parameters()
        )
    }
    assert moved == {NAMES[own]}


def test_both_stay_trainable_when_a_run_is_resumed(peft: Any, adapters: RoleAdapters) -> None:
    peft.set_adapter("default")  # how transformers ends its loading of adapters
    trained = [name for name, p in peft.named_parameters() if p.requires_grad]
    for name in NAMES.values():
        assert any(f".{name}." in key for key in trained)
    assert all("lora_" in key for key in trained)
