"""One cache for whole episodes says what the model would say if it read everything anew."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from transformers import (
    Gemma3ForCausalLM,
    Gemma3TextConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from spade_envs.errors import UsageError
from spade_train.playing import decoding
from spade_train.playing.constraint import JsonConstraint
from spade_train.playing.decoding import Decoder, Policy, Sampled
from spade_train.playing.sampling import Filters, Sampler

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["kind", "size"],
    "properties": {
        "kind": {"enum": ["maze", "lock"]},
        "size": {"type": "integer", "minimum": 1, "maximum": 99},
    },
}
PROMPTS = [[5, 6, 7], [8, 9], [5, 6, 7], [10, 11, 12, 13, 14], list(range(20, 60)), [*range(20, 45), 9, 8]]
SIZES: dict[str, Any] = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 99,
}


@torch.no_grad()
def whole_read(model: Any, ids: list[int]) -> torch.Tensor:
    logits: torch.Tensor = model(torch.tensor([ids])).logits[0, -1]
    return logits


def test_sampling_keeps_no_gradients(model: LlamaForCausalLM) -> None:
    assert any(parameter.requires_grad for parameter in model.parameters())
    decoder = decoder_of(model, PROMPTS[:2], frozenset())
    decoder.speak(2)
    kept = [row.logits for row in decoder._rows]
    kept += [part for layer in decoder._forward.cache.layers for part in (layer.keys, layer.values)]
    assert not any(part.requires_grad for part in kept), "a long episode would fill the memory with them"


def decoder_of(model: Any, prompts: Sequence[Sequence[int]], stop: frozenset[int], **sampler: Any) -> Decoder:
    return Decoder(model, prompts, sampler=Sampler(**sampler), stop=stop, seeds=range(len(prompts)))


def converse(
    decoder: Decoder, prompts: Sequence[Sequence[int]], turns: int = 4, limit: int = 6
) -> list[list[int]]:
    """Answer everybody at once, each with answers of other lengths, and let rows leave at different times."""
    texts = [list(prompt) for prompt in prompts]
    left = {row: turns - row % 3 for row in range(len(prompts))}
    while decoder.running:
        for row, said in decoder.speak(limit).items():
            texts[row] += said.tokens
            left[row] -= 1
            if left[row]:
                answer = [60 + (row + k) % 30 for k in range(1 + (7 * row + 5 * left[row]) % 19)]
                texts[row] += answer
                decoder.hear(row, answer)
            else:
                decoder.drop(row)
    return texts


@contextmanager
def watched(decoder: Decoder, check: Callable[[list[int], torch.Tensor], None]) -> Iterator[list[int]]:
    """Check the logits of every token that is chosen, given all the tokens before it."""
    choose, counted = decoder._sampler.choose, [0]

    def checked(logits: torch.Tensor, heard: Sequence[list[int]], draws: Any) -> list[int]:
        for row, ids in zip(logits, heard, strict=True):
            check(ids, row)
            counted[0] += 1
        return choose(logits, heard, draws)

    decoder._sampler = type("Watched", (), {"choose": staticmethod(checked)})()
    yield counted


@pytest.mark.parametrize("price", [0, 10, 2000])
@torch.no_grad()
def test_logits_equal_those_of_a_whole_read(
    model: LlamaForCausalLM, price: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(decoding.PASS, "cpu", price)
    decoder = decoder_of(model, PROMPTS, frozenset(range(0, 49152, 5)))

    def check(ids: list[int], logits: torch.Tensor) -> None:
        torch.testing.assert_close(logits, whole_read(model, ids), atol=1e-4, rtol=1e-4)

    with watched(decoder, check) as counted:
        texts = converse(decoder, PROMPTS)
    assert counted[0] > 40
    assert all(text[: len(prompt)] == prompt for text, prompt in zip(texts, PROMPTS, strict=True))


@pytest.mark.parametrize(
    ("kind", "config"),
    [
        (MistralForCausalLM, MistralConfig(num_key_value_heads=2, sliding_window=7, **SIZES)),
        (
            Qwen3ForCausalLM,
            Qwen3Config(
                num_key_value_heads=2, head_dim=8, use_sliding_window=True, sliding_window=7,
                max_window_layers=1, **SIZES,
            ),
        ),
        (
            Gemma3ForCausalLM,
            Gemma3TextConfig(
                num_key_value_heads=1, head_dim=8, sliding_window=7,
                layer_types=["sliding_attention", "full_attention"], attn_implementation="eager", **SIZES,
            ),
        ),
    ],
)  # fmt: skip
@torch.no_grad()
def test_windows_and_other_models_read_alike(kind: Any, config: Any) -> None:
    torch.manual_seed(0)
    model = kind(config).eval()
    decoder = decoder_of(model, PROMPTS, frozenset(range(0, 99, 9)))

    def check(ids: list[int], logits: torch.Tensor) -> None:
        torch.testing.assert_close(logits, whole_read(model, ids), atol=1e-4, rtol=1e-4)

    with watched(decoder, check):
        converse(decoder, PROMPTS)


def test_a_model_that_remembers_otherwise_is_refused(model: LlamaForCausalLM) -> None:
    config = deepcopy(model.config)
    config.layer_types = ["linear_attention", "full_attention"]
    other = SimpleNamespace(device=model.device, config=config)
    with pytest.raises(UsageError, match="linear_attention"):
        decoder_of(other, [[1]], frozenset())


@torch.no_grad()
def test_nobody_waits_for_the_slowest(model: LlamaForCausalLM) -> None:
    """A row that stops at each token has all its turns while another is within its first."""
    decoder = decoder_of(model, [[5], [6]], frozenset())
    decoder._ends = lambda row, limit: len(row.said.tokens) == (1 if row.number == 0 else 30)  # type: ignore[method-assign]
    for _ in range(9):
        assert list(decoder.speak(30)) == [0]
        decoder.hear(0, [7])
    decoder.drop(0)
    assert list(decoder.speak(30)) == [1]


@torch.no_grad()
def test_a_long_answer_is_not_read_beside_single_tokens(model: LlamaForCausalLM) -> None:
    shapes: list[tuple[int, ...]] = []
    decoder = decoder_of(model, [[5, n] for n in range(8)], frozenset())
    decoder._ends = lambda row, _: len(row.said.tokens) == (2 if row.number == 0 else 9)  # type: ignore[method-assign]
    handle = model.register_forward_pre_hook(
        lambda _, __, inputs: shapes.append(tuple(inputs["input_ids"].shape)), with_kwargs=True
    )
    assert list(decoder.speak(9)) == [0]
    decoder.hear(0, list(range(40)))
    decoder.speak(9)
    handle.remove()
    assert shapes[:3] == [(8, 1), (1, 41), (7, 1)]
    assert set(shapes[3:]) <= {(8, 1), (7, 1)}


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
def test_what_prompts_begin_with_alike_is_read_once(policy: Policy, model: LlamaForCausalLM) -> None:
    rules, other = list(range(100, 140)), list(range(200, 230))
    prompts = [[*rules, 1, 2], [*rules, 3], [*other, 4], [*rules, 1, 2], [*other, 5, 6], [7, 8]]
    sizes: list[tuple[int, ...]] = []
    handle = model.register_forward_pre_hook(
        lambda _, __, inputs: sizes.append(tuple(inputs["input_ids"].shape)), with_kwargs=True
    )
    decoder = policy.decoder(prompts)
    handle.remove()
    assert sizes == [(2, 40), (5, 2)]
    for row, prompt in zip(decoder._rows, prompts, strict=True):
        assert row.logits is not None
        torch.testing.assert_close(row.logits, whole_read(model, prompt), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_heads_are_beginnings_that_leave_something_to_read(seed: int) -> None:
    draw = random.Random(seed)
    stems = [tuple(draw.choices(range(3), k=draw.randrange(40))) for _ in range(3)]
    texts = {(*draw.choice(stems), *draw.choices(range(3), k=draw.randint(1, 9))) for _ in range(12)}
    heads = decoding.shared_heads(list(texts))
    assert set(heads) == texts
    for text, head in heads.items():
        assert text[: len(head)] == head != text
        assert not head or (len(head) >= decoding.SHARED and list(heads.values()).count(head) > 1)


@torch.no_grad()
def test_draws_follow_the_generator(model: LlamaForCausalLM, tokenizer: Any) -> None:
    def draw(seed: int) -> list[Sampled]:
        generator = torch.Generator().manual_seed(seed)
        return Policy(model, tokenizer, generator=generator).decoder([[5, 6]] * 4).sample(8)

    assert draw(1) == draw(1) != draw(2)


@torch.no_grad()
def test_a_row_says_the_same_alone_as_among_others(model: LlamaForCausalLM) -> None:
    stop = frozenset(range(0, 49152, 5))
    together = converse(decoder_of(model, PROMPTS, stop), PROMPTS)
    for row in (1, 3):
        alone = Decoder(model, [PROMPTS[row]], sampler=Sampler(), stop=stop, seeds=[row])
        alone._rows[0].number = row
        texts = [list(prompt) for prompt in PROMPTS]
        left = 4 - row % 3
        while alone.running:
            (said,) = alone.speak(6).values()
            texts[row] += said.tokens
            left -= 1
            if not left:
                alone.drop(row)
                continue
            answer = [60 + (row + k) % 30 for k in range(1 + (7 * row + 5 * left) % 19)]
            texts[row] += answer
            alone.hear(row, answer)
        assert texts[row] == together[row]


def test_tokens_come_as_often_as_they_are_likely() -> None:
    logits = torch.tensor([[0.0, 1.0, -torch.inf, 2.0]]).repeat(4000, 1)
    drawn = Sampler(0.7).choose(logits, [[0]] * 4000, [random.Random(n) for n in range(4000)])
    found = torch.bincount(torch.tensor(drawn), minlength=4) / 4000
    torch.testing.assert_close(found, (logits[0] / 0.7).softmax(-1), atol=0.025, rtol=0)
    assert found[2] == 0


def test_a_draw_at_either_end_is_no_forbidden_token() -> None:
    class Ends(random.Random):
        def getrandbits(self, k: int) -> int:
            return 2**k - 1 if self.random() < 0.5 else 0

    logits = torch.full((200, 50_000), -torch.inf)
    logits[:, 10:40_000] = torch.randn(200, 39_990)
    drawn = Sampler().choose(logits, [[0]] * 200, [Ends(n) for n in range(200)])
    assert set(drawn) == {10, 39_999}


@pytest.mark.parametrize(
    ("filters", "left"),
    [
        (Filters(top_k=2), {0, 1}),
        (Filters(top_p=0.6), {0}),
        (Filters(min_p=0.3), {0, 1}),
        (Filters(repetition_penalty=1e9), {3}),
        (Filters(top_k=3, top_p=0.9), {0, 1}),
    ],
)
def test_filters_are_those_of_generate(filters: Filters, left: set[int]) -> None:
    logits = torch.tensor([[4.0, 3.0, 2.0, 1.0]]).log_softmax(-1).add(30.0).repeat(300, 1)
    heard = [[0, 1, 2]] * 299 + [[0, 1, 2, 2, 2]]
    drawn = Sampler(1.0, filters).choose(logits, heard, [random.Random(n) for n in range(300)])
    assert set(drawn) == left


@torch.no_grad()
def test_filters_reach_the_decoder(policy: Policy) -> None:
    greedy = replace(policy, temperature=0.0).decoder([[5, 6]]).sample(8)
    assert replace(policy, filters=Filters(top_k=1)).decoder([[5, 6]]).sample(8) == greedy


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
