"""Designs from a model in this process: the trainer's decoder behind the interface."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from spade_envs.errors import UsageError
from spade_train.backends import Answer, Ask, Failed, Options, Price, open_backend
from spade_train.backends.local import Local
from spade_train.playing.decoding import Policy


def ask(seed: int, text: str = "Design.", tokens: int = 12) -> Ask:
    return Ask(({"role": "system", "content": "Short."}, {"role": "user", "content": text}), seed, tokens)


def local(policy: Policy, **options: int) -> Local:
    return Local(lambda: policy, "transformers:tiny", Options(Price(1.0, 2.0), **options))


def test_a_seed_says_the_same_in_any_batch_and_another_seed_something_else(policy: Policy) -> None:
    asks = [ask(1), ask(2, "Another."), ask(1), ask(3)]
    together = local(policy).answer(asks)
    apart = [one for each in asks for one in local(policy, parallel=1).answer([each])]
    assert together == apart
    texts = [one.text for one in together if isinstance(one, Answer)]
    assert texts[0] == texts[2]
    assert len({texts[0], texts[1], texts[3]}) == 3


def test_tokens_are_counted_and_what_was_cut_is_said(policy: Policy) -> None:
    (found,) = local(policy).answer([ask(1, tokens=7)])
    assert isinstance(found, Answer)
    assert found.cut
    assert found.completion_tokens == 7
    assert found.prompt_tokens == len(policy.ids(policy.chat.render([dict(m) for m in ask(1).messages])))
    assert found.cost == pytest.approx((found.prompt_tokens + 14) / 1e6)


def test_a_schema_constrains_the_reply(policy: Policy) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"enum": ["x", "y"]}},
        "required": ["a"],
        "additionalProperties": False,
    }
    backend = local(policy)
    for seed in range(3):
        (found,) = backend.answer([Ask(({"role": "user", "content": "-"},), seed, 40, schema=schema)])
        assert isinstance(found, Answer)
        assert json.loads(found.text)["a"] in ("x", "y")
        assert not found.cut


def test_a_prompt_that_is_too_long_is_a_reason_and_the_others_are_answered(policy: Policy) -> None:
    found = local(policy).answer([ask(1), ask(2, "long " * 5000, 13), ask(3)])
    assert [type(one) for one in found] == [Answer, Failed, Answer]
    assert "the model reads 4096" in str(found[1])


def test_sampling_leaves_torchs_own_generator_alone(policy: Policy) -> None:
    before = torch.get_rng_state()
    local(policy).answer([ask(1)])
    assert torch.equal(before, torch.get_rng_state())


def test_a_folder_is_opened_by_its_address_and_loaded_when_it_is_asked(model_folder: Path) -> None:
    backend = open_backend(f"transformers:{model_folder}")
    assert backend.name == f"transformers:{model_folder.name}"
    (found,) = backend.answer([ask(1)])
    assert isinstance(found, Answer)
    (model_folder / "model.safetensors").rename(model_folder / "away")
    try:
        with pytest.raises(UsageError, match="there are no weights"):
            open_backend(f"transformers:{model_folder}")
    finally:
        (model_folder / "away").rename(model_folder / "model.safetensors")
