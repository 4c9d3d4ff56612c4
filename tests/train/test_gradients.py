"""Gradients are told apart by role although both share every weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import torch
from transformers import LlamaForCausalLM

from spade_train.trl_plugin.gradients import RoleGradients


def whose(ids: Sequence[int]) -> str:
    return "designer" if ids[0] == 5 else "agent"


def test_the_norm_is_that_of_each_roles_rows_alone(model: LlamaForCausalLM) -> None:
    gradients = RoleGradients(whose, model.base_model)
    rows = torch.tensor([[5, 6, 7, 8], [0, 9, 7, 8], [0, 0, 9, 6]])
    real = torch.tensor([[1, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]])
    kept: list[Any] = []
    handle = model.base_model.register_forward_hook(lambda _, __, out: kept.append(out.last_hidden_state))
    logits = model(input_ids=rows, attention_mask=real).logits
    handle.remove()
    kept[0].retain_grad()
    (logits[:, -1].log_softmax(-1)[:, 3] * torch.tensor([1.0, -2.0, 0.0])).sum().backward()
    norms = gradients.take()
    assert norms["designer"] == pytest.approx(kept[0].grad[0].norm().item(), rel=1e-5)
    assert norms["agent"] == pytest.approx(kept[0].grad[1:].norm().item(), rel=1e-5)
    assert norms["agent"] != pytest.approx(norms["designer"])
    assert gradients.take() == {}
    model.zero_grad()


def test_sampling_leaves_no_trace(model: LlamaForCausalLM) -> None:
    gradients = RoleGradients(whose, model.base_model)
    with torch.no_grad():
        model(input_ids=torch.tensor([[5, 6]]), attention_mask=torch.tensor([[1, 1]]))
    assert gradients.take() == {}
