"""One cache for whole episodes says what the model would say if it read everything anew."""

from __future__ import annotations

import json
from typing import Any

import torch
from transformers import LlamaForCausalLM

from spade_train.constraint import JsonConstraint
from spade_train.decoding import Decoder, Policy, Sampled

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["kind", "size"],
    "properties": {
        "kind": {"enum": ["maze", "lock"]},
        "size": {"type": "integer", "minimum": 1, "maximum": 99},
    },
}


@torch.no_grad()
def whole_read(model: LlamaForCausalLM, ids: list[int]) -> torch.Tensor:
    return model(torch.tensor([ids])).logits[0, -1]


@torch.no_grad()
def test_logits_equal_those_of_a_whole_read(policy: Policy, model: LlamaForCausalLM) -> None:
    prompts = [[5, 6, 7], [8, 9], [5, 6, 7], [10, 11, 12, 13, 14]]
    heard = [[1], [2, 3, 4], [5, 6], [7]]
    decoder = policy.decoder(prompts)
    said = decoder.sample(4)
    decoder.append(heard)
    texts = [p + s.tokens + h for p, s, h in zip(prompts, said, heard, strict=True)]
    for row, ids in enumerate(texts):
        torch.testing.assert_close(decoder.logits[row], whole_read(model, ids), atol=1e-4, rtol=1e-4)
    decoder.keep([3, 1])
    said = decoder.sample(6)
    decoder.append([[20], [21, 22]])
    for row, (old, new, last) in enumerate(zip((3, 1), said, ([20], [21, 22]), strict=True)):
        ids = texts[old] + new.tokens + last
        torch.testing.assert_close(decoder.logits[row], whole_read(model, ids), atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_what_a_row_said_last_is_read_however_early_it_stopped(
    model: LlamaForCausalLM, tokenizer: Any
) -> None:
    prompts = [[5, 6, 7], [8, 9], [10, 11, 12, 13]]
    free = Policy(model, tokenizer, temperature=0.0).decoder(prompts).sample(8)
    stop = frozenset([free[0].tokens[0], free[1].tokens[3]])  # greedy: row 0 stops at once, row 1 in between
    decoder = Decoder(model, prompts, temperature=0.0, stop=stop)
    said = [row.tokens for row in decoder.sample(8)]
    assert len({len(tokens) for tokens in said}) > 1
    assert all(row.tokens[: len(tokens)] == tokens for row, tokens in zip(free, said, strict=True))
    decoder.append([[20, 21], [22], [23, 24, 25]])
    for row, last in enumerate(([20, 21], [22], [23, 24, 25])):
        ids = prompts[row] + said[row] + last
        torch.testing.assert_close(decoder.logits[row], whole_read(model, ids), atol=1e-4, rtol=1e-4)


@torch.no_grad()
def test_a_turn_ends_at_the_stop_token_or_the_limit(policy: Policy) -> None:
    for reply in policy.decoder([[5, 6]] * 16).sample(7):
        assert 1 <= len(reply.tokens) <= 7
        assert reply.chosen == [1] * len(reply.tokens)
        assert not policy.stop.intersection(reply.tokens[:-1])


@torch.no_grad()
def test_a_prompt_that_rows_share_is_read_once(policy: Policy, model: LlamaForCausalLM) -> None:
    sizes: list[tuple[int, ...]] = []
    handle = model.register_forward_pre_hook(
        lambda _, __, inputs: sizes.append(tuple(inputs["input_ids"].shape)), with_kwargs=True
    )
    policy.decoder([[5, 6, 7]] * 4 + [[8, 9, 10]] * 4)
    handle.remove()
    assert sizes == [(2, 3)]


@torch.no_grad()
def test_draws_follow_the_generator(model: LlamaForCausalLM, tokenizer: Any) -> None:
    def draw(seed: int) -> list[Sampled]:
        generator = torch.Generator().manual_seed(seed)
        return Policy(model, tokenizer, generator=generator).decoder([[5, 6]] * 4).sample(8)

    assert draw(1) == draw(1) != draw(2)


@torch.no_grad()
def test_replies_keep_the_schema_and_forced_tokens_are_not_the_models(policy: Policy) -> None:
    constraint = JsonConstraint(policy.tokenizer, SCHEMA, policy.model.config.vocab_size)
    replies = policy.decoder([[5, 6]] * 8).sample(40, constraint)
    specs = [json.loads(policy.text(reply.tokens)) for reply in replies]
    assert all(spec["kind"] in ("maze", "lock") and 1 <= spec["size"] <= 99 for spec in specs)
    assert len({str(spec) for spec in specs}) > 1
    for reply, spec in zip(replies, specs, strict=True):
        own = [token for token, chosen in zip(reply.tokens, reply.chosen, strict=True) if chosen]
        assert 0 < len(own) < len(reply.tokens)
        assert reply.tokens[-1] in policy.stop
        assert "kind" not in policy.text(own), "the key is forced"
        assert policy.text(reply.tokens) == json.dumps(spec)
