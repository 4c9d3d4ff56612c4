"""Leaving prompts out of the head changes what a step costs, and nothing that it learns."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from train_stand_ins import tiny_model
from trl.trainer import utils

from spade_train.trl_plugin import scoring


def test_scores_and_gradients_are_those_of_the_whole_rows(
    tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = torch.randint(5, 999, (2, 9))
    labels = ids.clone()
    labels[:, :6] = -100
    found = []
    for short in (False, True):
        monkeypatch.setattr(utils, "_use_triton", scoring._as_on_gpu)
        if short:
            scoring.score_completions_only()
        model = tiny_model(tokenizer)
        projected: list[int] = []
        monkeypatch.setattr(utils, "_ChunkedLogProbFunction", _counting(projected))
        utils.add_fused_lm_head(model, outputs=("log_probs", "entropy"))
        out = model(input_ids=ids, attention_mask=torch.ones_like(ids), labels=labels, fused_lm_head=True)
        out.log_probs.sum().backward()
        found.append(
            (out.log_probs.detach(), out.entropy.detach(), model.model.layers[0].mlp.up_proj.weight.grad)
        )
        monkeypatch.undo()
        assert projected == [2 * 3 if short else 2 * 8]
    for whole, part in zip(*found, strict=True):
        torch.testing.assert_close(whole, part, atol=1e-4, rtol=1e-3)


def _counting(projected: list[int]) -> Any:
    real = utils._ChunkedLogProbFunction

    class Counting:
        @staticmethod
        def apply(hidden: torch.Tensor, *rest: Any) -> Any:
            projected.append(len(hidden))
            return real.apply(hidden, *rest)

    return Counting
