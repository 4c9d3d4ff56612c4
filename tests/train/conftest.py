"""A tiny random Llama with the embedded model's tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from spade_train.decoding import Policy
from spade_train.model import embedded_model


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Several threads on a busy machine wait for each other."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(embedded_model(), padding_side="left")


def tiny_model(tokenizer: Any) -> LlamaForCausalLM:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=4096,
        tie_word_embeddings=True,
        initializer_range=0.3,  # unequal logits: else every token is as likely as every other
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=tokenizer.bos_token_id,
    )
    return LlamaForCausalLM(config).eval()


@pytest.fixture(scope="session")
def model(tokenizer: Any) -> LlamaForCausalLM:
    return tiny_model(tokenizer)


@pytest.fixture(scope="session")
def model_folder(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model")
    tiny_model(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def policy(model: LlamaForCausalLM, tokenizer: Any) -> Policy:
    return Policy(model, tokenizer, generator=torch.Generator().manual_seed(0))
