"""A round as TRL's rollout function returns it, and the weights in training as a policy."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer
from trl.models.utils import unwrap_model_for_generation

from spade_train.playing.decoding import Policy
from spade_train.playing.engine import Engine
from spade_train.playing.sampling import Filters
from spade_train.rounds import Role, Row
from spade_train.schedule import Schedule
from spade_train.trl_plugin.vllm import refresh


def tasks(rounds: int, schedule: Schedule, processes: int = 1) -> Dataset:
    """Return one row for each block, in the batch's order. As long as the run: TRL would begin it anew."""
    return Dataset.from_list(
        [
            {"prompt": json.dumps({"round": number, "rank": rank, "block": block})}
            for number in range(rounds)
            for rank in range(processes)
            for block in range(schedule.blocks)
        ]
    )


def round_of(prompts: Sequence[str], schedule: Schedule, rank: int) -> int:
    """Return which round TRL asks for.

    Raises:
        RuntimeError: these are not the rows of one whole round of this process: a baseline would mix blocks.
    """
    read = [json.loads(prompt) for prompt in prompts]
    whole = [block for block in range(schedule.blocks) for _ in range(schedule.group)]
    owners = {(one["round"], one["rank"]) for one in read}
    if [one["block"] for one in read] != whole or len(owners) != 1 or read[0]["rank"] != rank:
        raise RuntimeError("TRL's batch is not one whole round; its sampler has another order than expected.")
    return int(read[0]["round"])


@contextmanager
def sampling(trainer: GRPOTrainer, seed: int, number: int, engine: Engine | None = None) -> Iterator[Policy]:
    """Give the trainer's weights as a policy for one round. Its draws depend on seed, round and rank alone.

    Args:
        engine: vLLM's, where it samples in the place of the trainer's own decoder.
    """
    draws = torch.Generator(trainer.accelerator.device)
    rank = trainer.accelerator.process_index
    draws.manual_seed(random.Random(f"{seed}/{number}/{rank}/draws").getrandbits(63))
    with _model(trainer, engine) as model, trainer.accelerator.autocast():
        training = model.training
        model.eval()
        try:
            yield Policy(
                model,
                trainer.processing_class,
                trainer.temperature,
                draws,
                filters(trainer.args),
                trainer.chat_template_kwargs,
                engine,
            )
        finally:
            model.train(training)


@contextmanager
def _model(trainer: GRPOTrainer, engine: Engine | None) -> Iterator[Any]:
    """Give the model to sample with, whole; an engine has the weights, and is asked in its place."""
    if engine is None:
        with unwrap_model_for_generation(trainer.model_wrapped, trainer.accelerator) as model:
            yield model
    else:
        refresh(trainer)
        trainer.accelerator.wait_for_everyone()  # else others would be served while weights are on their way
        yield trainer.accelerator.unwrap_model(trainer.model)


def filters(args: GRPOConfig) -> Filters:
    """Return what TRL's settings leave out while sampling."""
    return Filters(args.top_p, args.top_k, args.min_p, args.repetition_penalty)


def batch(
    rows: Sequence[Row],
    signal: Sequence[float],
    measures: dict[str, float],
    likelihoods: Container[Role] | None = None,
) -> dict[str, Any]:
    """Return a round's rows in the form of TRL's rollout function. Extra keys reach the reward function.

    Args:
        rows: the batch.
        signal: each row's advantage, which GRPO shall use as it is; 0 for a row that is left out.
        measures: what ``report_to`` shall show of the round.
        likelihoods: the roles that vLLM sampled as TRL scores them; None where TRL works all out itself.
    """
    return {
        "prompt_ids": [list(row.prompt_ids) for row in rows],
        "completion_ids": [list(row.completion_ids) for row in rows],
        "env_mask": [list(row.mask) for row in rows],
        "logprobs": None if likelihoods is None else [_logprobs(row, likelihoods) for row in rows],
        "signal": list(signal),
        "measures": measures,
    }


def _logprobs(row: Row, likelihoods: Container[Role]) -> list[float]:
    """Return what vLLM sampled from; NaN, for which TRL corrects nothing, where it is not known or not comparable."""
    known = row.logprobs and row.role in likelihoods
    return list(row.logprobs) if known else [math.nan] * len(row.completion_ids)


def advantage(
    signal: Sequence[float],
    measures: Sequence[dict[str, float]],
    log_metric: Callable[[str, float], None],
    **_: Any,
) -> list[float]:
    """TRL's reward function: hand over what was worked out, and log the round's measures."""
    for name, value in measures[0].items():
        log_metric(name, value)
    return list(signal)
