"""The embedded model reads a source and writes its hint: real replies, real gates."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from spade_envs import Registry
from spade_train.backends.local import Local
from spade_train.designer import DesignContext, SlotDesigner
from spade_train.designer.slots import templates
from spade_train.models.model import embedded_model
from spade_train.playing.decoding import Policy
from spade_train.rounds import Design
from spade_train.workshop import hints
from spade_train.workshop.outside import Outside
from spade_train.workshop.workshop import Workshop

REPLY = json.dumps(templates()["hunt"].examples[0])


@pytest.fixture(scope="module")
def small(tokenizer: Any) -> Policy:
    model = AutoModelForCausalLM.from_pretrained(embedded_model()).eval()
    return Policy(model, tokenizer, generator=torch.Generator().manual_seed(0))


@pytest.mark.soak
@pytest.mark.parametrize("way", ["policy", "backend"])
def test_a_small_models_hints_are_judged_and_none_is_lost(
    way: str, small: Policy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hints, "TOKENS", 48)
    outside = Outside(Local(lambda: small, "transformers:small"), 64, 1.0) if way == "backend" else None
    workshop = Workshop(
        SlotDesigner(), Registry(tmp_path), "test", 64, 1, outside=outside, hints_by_reader=True
    )
    with torch.no_grad():
        (design,) = workshop.admit([Design(REPLY, (1,), (2,), (1,))], DesignContext(0, 0), small)
    assert design.env_id == "spade/FoxDen-v0", design.refusal
    assert design.hint is not None
    own = "half of the numbers" in str(design.source) or "is in the {half} half" in str(design.source)
    assert own == (design.hint != hints.READER), design.hint
    assert design.report is not None
    assert json.loads((tmp_path / "FoxDen" / "v0.json").read_text())["provenance"]["hint"] == design.hint


def test_a_source_that_is_too_long_is_not_read(policy: Policy) -> None:
    long = hints.chat("x = 1\n" * 4000)
    short = hints.chat("x = 1\n")
    with torch.no_grad():
        read = hints.of_policy(policy)([long, short])
    assert read[0] is None
    assert isinstance(read[1], str)
    assert hints.of_policy(policy)([long]) == [None]
