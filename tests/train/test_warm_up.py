"""Experts' episodes are written as played ones are; learning from them is the same every time."""

from __future__ import annotations

from typing import Any

import torch
from test_play import END, Model, sampled_text, scripted
from train_stand_ins import Count, ScriptedPolicy, tiny_model

from spade_envs.errors import WorkerFault
from spade_train.playing.decoding import Policy
from spade_train.playing.play import Limits, Task, play, play_expert
from spade_train.playing.prompts import TRAINING_SEEDS
from spade_train.playing.warm_up import WarmUp, lessons, warm_up

PLAN = WarmUp(steps=3, rows=4, learning_rate=1e-2, seed=1)


def test_an_experts_episode_is_the_one_that_an_agent_would_play(tokenizer: Any) -> None:
    said = tuple(f"<answer>{n}</answer>{END}" for n in (4, 5, 6))
    (played,) = play(scripted(tokenizer, said), [Task("count", 3)], lambda _: Count(), Limits())
    (shown,) = play_expert(scripted(tokenizer), [Task("count", 3)], lambda _: Count(), Limits())
    assert shown == played
    assert shown.success


def test_what_an_expert_cannot_show_is_left_out(tokenizer: Any) -> None:
    class Broken(Count):
        def expert_text(self) -> str:
            if getattr(self, "turns", 0) == 2:
                raise WorkerFault("timeout", "expert_action took longer than 1 s")
            return super().expert_text()

    made: list[Count] = []

    def make(env_id: str) -> Count:
        made.append({"broken": Broken, "count": Count}[env_id]())
        return made[-1]

    found = lessons(scripted(tokenizer), ["broken", "count"], make, Limits(), PLAN)
    assert {one.task.env_id for one in found} == {"count"}
    assert len(found) == 6
    assert all(env.closed for env in made)
    (cut,) = play_expert(scripted(tokenizer), [Task("count", 3)], lambda _: Count(), Limits(turn=3))
    assert (cut.end, cut.counts) == ("context", False)
    assert lessons(scripted(tokenizer), ["count"], make, Limits(turn=3), PLAN) == []


def test_seeds_are_training_seeds_and_follow_the_plans() -> None:
    tasks = PLAN.tasks(["a", "b"])
    assert [task.env_id for task in tasks] == ["a", "b"] * 6
    assert all(0 <= task.seed < TRAINING_SEEDS and not task.hinted for task in tasks)
    assert tasks == PLAN.tasks(["a", "b"]) != WarmUp(steps=3, rows=4, seed=2).tasks(["a", "b"])


def test_training_learns_what_the_expert_said_and_nothing_else(tokenizer: Any) -> None:
    found = []
    for _ in range(2):
        model = tiny_model(tokenizer)
        model.model.layers[0].requires_grad_(False)
        frozen = model.model.layers[0].mlp.up_proj.weight.clone()
        policy = Policy(model, tokenizer)
        losses = warm_up(model, lessons(policy, ["count"], lambda _: Count(), Limits(), PLAN), PLAN)
        assert losses[-1] < losses[0]
        assert torch.equal(frozen, model.model.layers[0].mlp.up_proj.weight)
        assert not model.training
        assert all(weight.grad is None for weight in model.parameters())
        found.append(losses)
    assert found[0] == found[1]


def test_the_loss_is_over_masked_tokens_alone(tokenizer: Any) -> None:
    model = tiny_model(tokenizer)
    policy = ScriptedPolicy(Model(), tokenizer, script=())
    (one,) = play_expert(policy, [Task("count", 3)], lambda _: Count(), Limits())
    logits = model(torch.tensor([[*one.prompt_ids, *one.completion_ids]])).logits[0].log_softmax(-1)
    start = len(one.prompt_ids)
    scores = [
        -logits[start + n - 1, token].item()
        for n, (token, mask) in enumerate(zip(one.completion_ids, one.mask, strict=True))
        if mask
    ]
    (loss,) = warm_up(model, [one], WarmUp(steps=1, rows=2))
    assert abs(loss - sum(scores) / len(scores)) < 1e-4
    assert sampled_text(one, policy).count("<answer>") == 3
