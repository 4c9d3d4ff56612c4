"""Each role's rows go through its own model: in the loss, in the gradients, in the optimiser, on the disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from train_stand_ins import tiny_model
from transformers import AutoModelForCausalLM, LlamaForCausalLM
from trl.trainer.utils import add_fused_lm_head

from spade_train.playing.decoding import Policy
from spade_train.trl_plugin.rates import scale_learning_rate
from spade_train.trl_plugin.two_models import TwoModels

DESIGNER = 7
"""The first token of the designer's rows."""

SMALL = 1000
"""The designer's vocabulary here; the agent's pad token lies beyond it."""


def role(ids: Sequence[int]) -> str:
    return "designer" if ids[0] == DESIGNER else "agent"


@pytest.fixture
def designer(tokenizer: Any) -> LlamaForCausalLM:
    config = tiny_model(tokenizer).config
    config.hidden_size, config.head_dim, config.vocab_size, config.pad_token_id = 48, 12, SMALL, 0
    torch.manual_seed(1)
    return LlamaForCausalLM(config)


@pytest.fixture
def agent(tokenizer: Any, designer: LlamaForCausalLM) -> Any:
    model = tiny_model(tokenizer)
    add_fused_lm_head(model, temperature=1.0, outputs=("log_probs", "entropy"))
    TwoModels(model, Policy(designer, tokenizer, 0.5), role)
    return model


def scored(model: Any, rows: list[list[int]], pad: int) -> torch.Tensor:
    """Return each row's log-probabilities as TRL asks for them, padded on the left."""
    width = max(map(len, rows))
    ids = torch.tensor([[pad] * (width - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows])
    labels = ids.masked_fill(mask == 0, -100)
    out: torch.Tensor = model(input_ids=ids, attention_mask=mask, labels=labels, fused_lm_head=True).log_probs
    return out


ROWS = [[DESIGNER, 11, 12, 13, 14], [5, 11, 12, 13], [DESIGNER, 21, 22]]
PAD = SMALL + 5


def test_a_mixed_batch_is_scored_row_by_row(agent: Any) -> None:
    mixed = scored(agent, ROWS, PAD)
    for n, row in enumerate(ROWS):
        alone = scored(agent, [row], PAD)[0]
        assert torch.allclose(mixed[n][-len(alone) :], alone, atol=1e-4)


def test_a_row_is_scored_by_its_own_model_at_its_own_temperature(
    agent: Any, designer: LlamaForCausalLM
) -> None:
    for row, model, heat in ((ROWS[0], designer, 0.5), (ROWS[1], agent, 1.0)):
        logits = model(input_ids=torch.tensor([row])).logits[0, :-1]
        expected = (logits / heat).log_softmax(-1).gather(1, torch.tensor(row[1:])[:, None])[:, 0]
        assert torch.allclose(scored(agent, [row], PAD)[0], expected, atol=1e-4)


@pytest.mark.parametrize(("row", "own"), [(ROWS[0], "designer"), (ROWS[1], "agent")])
def test_a_row_moves_its_own_model_alone(row: list[int], own: str, agent: Any) -> None:
    scored(agent, [row], PAD).sum().backward()
    moved = {
        "designer" if name.startswith("designer.") else "agent"
        for name, parameter in agent.named_parameters()
        if parameter.grad is not None
    }
    assert moved == {own}


def test_each_is_saved_as_a_model_of_its_own(agent: Any, designer: Any, tmp_path: Path) -> None:
    agent.save_pretrained(tmp_path)
    for folder, model in ((tmp_path, agent), (tmp_path / "designer", designer)):
        read, told = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float32, output_loading_info=True
        )
        assert not any(told[key] for key in ("missing_keys", "unexpected_keys", "mismatched_keys"))
        kept = dict(model.named_parameters())
        assert all(torch.equal(kept[name], found) for name, found in read.named_parameters())
    assert (tmp_path / "designer" / "tokenizer.json").is_file()


def test_the_designers_weights_have_a_learning_rate_of_their_own(agent: Any, designer: Any) -> None:
    trainer = SimpleNamespace(optimizer=None)

    def create() -> torch.optim.Optimizer:
        if trainer.optimizer is None:
            trainer.optimizer = torch.optim.AdamW(agent.parameters(), lr=0.1)
        return trainer.optimizer

    trainer.create_optimizer = create
    scale_learning_rate(trainer, designer.parameters(), 0.5)
    trainer.create_optimizer()
    groups = trainer.create_optimizer().param_groups  # a second call makes and parts nothing
    rates = {id(one): group["lr"] for group in groups for one in group["params"]}
    own = {id(one) for one in designer.parameters()}
    assert rates == {id(one): 0.05 if id(one) in own else 0.1 for one in agent.parameters()}
