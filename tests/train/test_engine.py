"""An engine in the decoder's place: whole conversations, exact tokens, and what each was drawn with."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from engine_stand_ins import WholeReads
from train_stand_ins import Count

from spade_envs.errors import UsageError
from spade_train.engine.colocated import Colocated
from spade_train.engine.served import Served
from spade_train.flags import Words, read_words
from spade_train.playing.constraint import JsonConstraint
from spade_train.playing.decoding import Policy
from spade_train.playing.engine import EngineError, Request
from spade_train.playing.play import Limits, Task, play
from spade_train.playing.sampling import Filters, Sampler
from spade_train.playing.turns import Turns
from spade_train.rounds import Round, Row
from spade_train.trl_plugin import settings, vllm
from spade_train.trl_plugin.rollout import batch
from spade_train.trl_plugin.settings import _as_known

SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["kind"],
    "properties": {"kind": {"enum": ["maze", "lock"]}},
}
LIMITS = Limits(prompt=900, turn=6, completion=200)


@pytest.fixture
def engine(model: Any) -> WholeReads:
    return WholeReads(model)


@pytest.fixture
def engaged(policy: Policy, engine: WholeReads) -> Policy:
    return replace(policy, engine=engine)


def test_an_episode_s_rows_hold_what_was_sampled_and_how_likely_it_was(
    engaged: Policy, engine: WholeReads, model: Any
) -> None:
    tasks = [Task("spade/Count-v0", seed) for seed in range(3)]
    episodes = play(engaged, tasks, lambda *_, **__: Count(), LIMITS)
    assert all(len(one.logprobs) == len(one.mask) == len(one.completion_ids) for one in episodes)
    assert any(one.turns > 1 for one in episodes)
    for one in episodes:
        ids = torch.tensor([[*one.prompt_ids, *one.completion_ids]])
        with torch.no_grad():
            scores = torch.log_softmax(model(ids).logits[0].float(), -1)
        at = len(one.prompt_ids)
        for place, (token, own, chance) in enumerate(
            zip(one.completion_ids, one.mask, one.logprobs, strict=True)
        ):
            expected = float(scores[at + place - 1, token]) if own else 0.0
            assert chance == pytest.approx(expected, abs=1e-4)
    assert {one.limit for one in engine.asked} == {LIMITS.turn}
    assert all(one.stop == engaged.stop for one in engine.asked)


def test_every_turn_has_draws_of_its_own_and_a_row_s_are_the_same_in_any_batch(engaged: Policy) -> None:
    def seeds(prompts: list[list[int]]) -> dict[int, list[int]]:
        engine = WholeReads(engaged.model)
        talk = Turns(engine, prompts, sampler=Sampler(), stop=frozenset([2]), seeds=range(len(prompts)))
        for _ in range(3):
            for row in talk.speak(3):
                talk.hear(row, [7])
        found: dict[int, list[int]] = {}
        for one in engine.asked:
            found.setdefault(one.row, []).append(one.seed)
        return found

    alone, among = seeds([[5, 6]]), seeds([[5, 6], [8]])
    assert len(set(alone[0])) == len(alone[0]) > 1
    assert among[0] == alone[0][: len(among[0])]
    assert not set(among[0]) & set(among[1])


def test_what_was_left_of_a_round_that_failed_is_forgotten(engaged: Policy, engine: WholeReads) -> None:
    engaged.decoder([[5], [6], [7]]).speak(2)
    assert engine.waiting
    second = engaged.decoder([[9]])
    assert not engine.waiting
    assert [len(one.tokens) for one in second.sample(2)] <= [2]


def test_nobody_left_to_speak_is_nothing_said(engaged: Policy) -> None:
    talk = engaged.decoder([[5]])
    (row,) = talk.speak(2)
    assert talk.speak(2) == {}
    talk.drop(row)
    assert talk.running == 0


@pytest.mark.parametrize("text", ['{"kind": "maze"}', '{ "kind" :\n"lock"}', '{"kind":"maze"}'])
def test_tokens_that_the_grammar_forced_are_told_apart_in_what_was_sampled_elsewhere(
    policy: Policy, text: str
) -> None:
    constraint = JsonConstraint(policy.tokenizer, SCHEMA, policy.model.config.vocab_size)
    tokens = [*policy.ids(text), policy.tokenizer.eos_token_id]
    marks = constraint.chosen(tokens)
    assert len(marks) == len(tokens)
    own = policy.text([token for token, mark in zip(tokens, marks, strict=True) if mark])
    assert "kin" not in own
    assert "maze"[:1] in own or "lock"[:1] in own


def test_what_no_grammar_made_counts_as_chosen(policy: Policy) -> None:
    constraint = JsonConstraint(policy.tokenizer, SCHEMA, policy.model.config.vocab_size)
    tokens = policy.ids("not json at all")
    assert constraint.chosen(tokens) == [1] * len(tokens)


def test_designs_under_a_grammar_are_not_corrected_for_their_sampler(engaged: Policy) -> None:
    constraint = JsonConstraint(engaged.tokenizer, SCHEMA, engaged.model.config.vocab_size)
    for said in engaged.decoder([[5], [6]]).sample(3, constraint):
        assert len(said.logprobs) == len(said.tokens) == len(said.chosen)
        assert all(map(math.isnan, said.logprobs))


def test_rows_without_an_engine_leave_the_likelihoods_to_trl() -> None:
    plain = Row("agent", (1,), (2, 3), (1, 0), 1.0)
    assert batch([plain], [0.0], {})["logprobs"] is None
    known = replace(plain, logprobs=(-0.5, 0.0))
    unlike = replace(known, role="designer")
    told = batch([plain, known, unlike], [0.0] * 3, {}, frozenset(["agent"]))["logprobs"]
    assert told[1] == [-0.5, 0.0]
    assert [len(one) for one in told] == [2, 2, 2]
    assert all(map(math.isnan, told[0] + told[2])), "not known; drawn at another temperature"


def test_a_round_that_was_skipped_has_rows_that_correct_nothing() -> None:
    rows = Round.skip(3, 4, 2, "the server is gone").rows
    told = batch(rows, [0.0] * 4, {}, frozenset(["agent", "designer"]))
    assert [len(one) for one in told["logprobs"]] == [len(one) for one in told["completion_ids"]]
    assert all(math.isnan(chance) for one in told["logprobs"] for chance in one)


def test_a_request_says_how_its_tokens_are_drawn() -> None:
    filters = Filters(top_p=0.9, top_k=7, min_p=0.05, repetition_penalty=1.1)
    assert replace(REQUEST, temperature=0.6, filters=filters).words() == {
        "temperature": 0.6,
        "top_p": 0.9,
        "top_k": 7,
        "min_p": 0.05,
        "repetition_penalty": 1.1,
        "max_tokens": 4,
        "logprobs": 0,
        "seed": 11,
    }


def test_weights_are_sent_when_a_step_lies_between_and_a_failure_is_a_fault_of_the_round() -> None:
    sent: list[int] = []
    made = SimpleNamespace(sync_weights=lambda: sent.append(1), llm=SimpleNamespace(llm_engine=InProcess()))
    trainer: Any = SimpleNamespace(
        use_vllm=True,
        vllm_mode="colocate",
        vllm_generation=made,
        state=SimpleNamespace(global_step=0),
        _last_loaded_step=-1,
    )
    assert isinstance(vllm.engine(trainer), Colocated)
    for step, known in [(0, 1), (0, 1), (1, 2)]:
        trainer.state.global_step = step
        vllm.refresh(trainer)
        assert len(sent) == known

    def refused() -> None:
        raise Refused("Request failed: 500")

    made.sync_weights = refused
    vllm.engine(trainer)
    trainer.state.global_step = 2
    with pytest.raises(EngineError, match="did not take the weights: Request failed: 500"):
        vllm.refresh(trainer)


REQUEST = Request(3, (5, 6), 4, frozenset([2, 9]), 11, schema=SCHEMA)


class Client:
    """TRL's client, as far as it is asked; the server behind it may fail."""

    def __init__(self, problem: Exception | None = None) -> None:
        self.problem, self.asked = problem, []  # type: ignore[var-annotated]

    def generate(self, prompts: list[list[int]], **words: Any) -> dict[str, Any]:
        self.asked.append((prompts, words))
        if self.problem:
            raise self.problem
        return {"completion_ids": [[7, 2]], "logprobs": [[[-0.25], [None]]]}


def test_a_server_is_asked_for_each_turn_by_itself() -> None:
    client = Client()
    engine = Served(client)
    for row in range(3):
        engine.ask(replace(REQUEST, row=row))
    found: list[Any] = []
    while len(found) < 3:
        found += engine.replies()
    assert sorted(one.row for one in found) == [0, 1, 2]
    assert all(
        one.tokens == [7, 2] and one.logprobs[0] == -0.25 and math.isnan(one.logprobs[1]) for one in found
    )
    prompts, words = client.asked[0]
    assert prompts == [[5, 6]]
    assert words["max_tokens"] == 4
    assert words["generation_kwargs"] == {
        "stop_token_ids": [2, 9],
        "structured_outputs": {"json": SCHEMA},
        "seed": 11,
    }


@pytest.mark.parametrize("problem", [ConnectionError("refused"), Exception("Request failed: 500, <html>")])
def test_a_server_that_fails_is_a_fault_of_the_round(problem: Exception) -> None:
    engine = Served(Client(problem))
    engine.ask(REQUEST)
    with pytest.raises(EngineError, match=r"server failed: (refused|Request failed: 500)"):
        engine.replies()
    engine.forget()


def test_an_empty_reply_of_a_server_is_a_fault_of_the_round() -> None:
    client = Client()
    client.generate = lambda *_, **__: {"completion_ids": [[]], "logprobs": [[]]}  # type: ignore[method-assign]
    engine = Served(client)
    engine.ask(REQUEST)
    with pytest.raises(EngineError, match="its reply is empty"):
        engine.replies()


class Refused(Exception):
    """vLLM's own kind of error: no ValueError."""


class InProcess:
    """vLLM's engine, as far as it is driven; each step finishes one request."""

    def __init__(self, reason: str = "stop") -> None:
        self.waiting: list[str] = []
        self.aborted: list[str] = []
        self.reason = reason

    def add_request(self, name: str, prompt: dict[str, Any], _: Any) -> None:
        if len(prompt["prompt_token_ids"]) > 8:
            raise Refused("the prompt is longer than the model's length")
        self.waiting.append(name)

    def step(self) -> Iterator[Any]:
        name = self.waiting.pop(0)
        for other in self.waiting:
            yield SimpleNamespace(request_id=other, finished=False)
        chance = {7: SimpleNamespace(logprob=-1.5), 8: SimpleNamespace(logprob=-0.1)}
        said = SimpleNamespace(token_ids=(7,), finish_reason=self.reason, logprobs=[chance])
        yield SimpleNamespace(request_id=name, finished=True, outputs=[said])

    def abort_request(self, names: list[str]) -> None:
        self.aborted += names


@pytest.fixture
def colocated(monkeypatch: pytest.MonkeyPatch) -> InProcess:
    monkeypatch.setattr("spade_train.engine.colocated._parameters", lambda request: request)
    return InProcess()


def test_an_engine_in_this_process_is_stepped_until_somebody_has_spoken(colocated: InProcess) -> None:
    engine = Colocated(SimpleNamespace(llm_engine=colocated))
    for row in (4, 5):
        engine.ask(replace(REQUEST, row=row))
    (first,) = engine.replies()
    assert (first.row, first.tokens, first.logprobs) == (4, [7], [-1.5])
    engine.forget()
    assert colocated.aborted == ["1"]
    assert engine.replies() == []


def test_an_engine_that_gives_up_or_takes_no_such_prompt_is_a_fault(colocated: InProcess) -> None:
    engine = Colocated(SimpleNamespace(llm_engine=colocated))
    with pytest.raises(EngineError, match="refused a request of 9 tokens"):
        engine.ask(replace(REQUEST, tokens=tuple(range(9))))
    colocated.reason = "abort"
    engine.ask(REQUEST)
    with pytest.raises(EngineError, match=r"gave up a request \(abort\)"):
        engine.replies()


WRONG = {
    "": "vLLM is not installed here",
    "--use_peft --upper_layers 0 --role_adapters": "role_adapters trains two",
    "--designer_model FOLDER": "designer_model learns too",
    "--vllm_tensor_parallel_size 2": "shares an engine",
    "--vllm_enable_sleep_mode": "drop the weights",
    "--vllm_mode server": "from a GPU only",
    "--vllm_mode sever": "must be colocate or server",
    "--vllm_server_base_url http://h:1": "has no effect in vllm_mode colocate",
    "--vllm_max_model_length 300": "is 300; a row may have",
    "--designer free --vllm_max_model_length 1400": "is 1400; a row may have",
    "--vllm_structured_outputs_regex a+": "does not reach what samples",
}


@pytest.mark.parametrize("flags", WRONG)
def test_what_vllm_cannot_do_here_is_said_before_anything_is_loaded(
    flags: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = settings.__globals__["check_vllm"].__globals__["importlib"].util.find_spec
    there = SimpleNamespace() if flags else None
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *a: there if name == "vllm" else real(name, *a)
    )
    with pytest.raises(UsageError, match=WRONG[flags]):
        settings(read_words(["--use_vllm", *flags.split()]))


def test_a_setting_of_vllm_has_no_effect_without_it() -> None:
    with pytest.raises(UsageError, match="vllm_mode has no effect without use_vllm"):
        settings(read_words(["--vllm_mode", "colocate"]))
    with pytest.raises(
        UsageError, match="vllm_importance_sampling_correction has no effect without use_vllm"
    ):
        settings(read_words(["--no_vllm_importance_sampling_correction"]))


@pytest.mark.parametrize(
    ("flag", "former"),
    [
        ("--activation_checkpointing", "--gradient_checkpointing"),
        ("--activation-checkpointing=true", "--gradient_checkpointing=true"),
        ("--no_activation_checkpointing", "--no_gradient_checkpointing"),
        ("--rounds", "--rounds"),
        ("activation_checkpointing", "activation_checkpointing"),
    ],
)
def test_an_older_transformers_is_told_its_own_names(flag: str, former: str) -> None:
    said = Words(Path("x.yaml"), {"activation_checkpointing": False, "rounds": 3}, (flag,))
    told = _as_known(said, {"rounds", "gradient_checkpointing"})
    assert told.flags == (former,)
    assert told.preset == {"gradient_checkpointing": False, "rounds": 3}
    assert _as_known(said, {"activation_checkpointing"}) == said
