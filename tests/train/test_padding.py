"""Leaving padding out changes the cost of a micro-batch and nothing else."""

from __future__ import annotations

from typing import Any

import torch
from train_stand_ins import tiny_model

from spade_train.trl_plugin.padding import skip_padding


def test_states_and_gradients_are_those_of_the_padded_batch(tokenizer: Any) -> None:
    ids = torch.randint(5, 999, (2, 9))
    real = torch.tensor([[0, 0, 0, 1, 1, 1, 1, 0, 0], [0, 0, 1, 1, 1, 1, 0, 0, 0]])
    found = []
    for trimmed in (False, True):
        model = tiny_model(tokenizer)
        widths: list[int] = []
        layer = model.base_model.layers[0]
        layer.register_forward_pre_hook(lambda _, inputs, widths=widths: widths.append(inputs[0].shape[1]))
        if trimmed:
            skip_padding(model.base_model)
        states = model.base_model(input_ids=ids, attention_mask=real, use_cache=False).last_hidden_state
        loss = model.lm_head(states)[real.bool()].log_softmax(-1)[:, 7].sum()
        loss.backward()
        found.append((states[real.bool()].detach(), model.base_model.layers[0].mlp.up_proj.weight.grad))
        assert widths == [5 if trimmed else 9]
    torch.testing.assert_close(found[0][0], found[1][0], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found[0][1], found[1][1], atol=1e-4, rtol=1e-3)


@torch.no_grad()
def test_sampling_is_left_alone(tokenizer: Any) -> None:
    model = tiny_model(tokenizer)
    skip_padding(model.base_model)
    mask = torch.tensor([[0, 1, 1]])
    states = model.base_model(input_ids=torch.tensor([[0, 5, 6]]), attention_mask=mask).last_hidden_state
    assert states.shape[1] == 3
    assert states[:, 0].any()
