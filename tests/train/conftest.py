"""A tiny random Llama with the embedded model's tokenizer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from train_stand_ins import tiny_model
from transformers import AutoTokenizer, LlamaForCausalLM

from spade_train.models.model import embedded_model
from spade_train.playing.decoding import Policy


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> None:
    """Several threads on a busy machine wait for each other."""
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def tokenizer() -> Any:
    return AutoTokenizer.from_pretrained(embedded_model(), padding_side="left")


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
