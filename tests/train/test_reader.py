"""The embedded model reads a source and writes its hint: real replies, real gates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM

from spade_envs import Registry
from spade_train import hints
from spade_train.designer import DesignContext, SlotDesigner
from spade_train.designer.slots import templates
from spade_train.designing import Workshop
from spade_train.models.model import embedded_model
from spade_train.playing.decoding import Policy
from spade_train.rounds import Design

REPLY = json.dumps(templates()["hunt"].examples[0])


def test_a_small_models_hints_are_judged_and_none_is_lost(tokenizer: Any, tmp_path: Path) -> None:
    model = AutoModelForCausalLM.from_pretrained(embedded_model()).eval()
    policy = Policy(model, tokenizer, generator=torch.Generator().manual_seed(0))
    workshop = Workshop(SlotDesigner(), Registry(tmp_path), "test", 64, 1, hints_by_reader=True)
    replies = [Design(REPLY, (1,), (2,), (1,))]
    with torch.no_grad():
        (design,) = workshop.admit(replies, DesignContext(0, 0), policy)
    assert design.env_id == "spade/FoxDen-v0", design.refusal
    assert design.hint is not None
    own = "half of the numbers" in str(design.source) or "is in the {half} half" in str(design.source)
    assert own == (design.hint != hints.READER)


def test_a_source_that_is_too_long_is_not_read(policy: Policy) -> None:
    long = hints.chat("x = 1\n" * 4000)
    short = hints.chat("x = 1\n")
    read = hints.of_policy(policy)([long, short])
    assert read[0] is None
    assert isinstance(read[1], str)
    assert hints.of_policy(policy)([long]) == [None]
