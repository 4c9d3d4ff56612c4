"""TRL's ``use_vllm``: its engine or server as what the policy samples with, and the weights of the moment in it."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

from trl import GRPOConfig, GRPOTrainer
from trl.generation.vllm_client import VLLMClient

from spade_envs.errors import UsageError
from spade_train.config import SelfPlayConfig
from spade_train.engine.colocated import Colocated
from spade_train.engine.served import Served
from spade_train.flags import Words
from spade_train.playing.engine import Engine, EngineError


def check_vllm(own: SelfPlayConfig, grpo: GRPOConfig, said: Words) -> None:
    """Raise :class:`UsageError` where vLLM is wanted and cannot be used in this way, or is set up and not wanted."""
    if not grpo.use_vllm:
        for place, name in said.names():
            if place == "--" and name.removeprefix("no_").startswith("vllm_"):
                raise UsageError(f"{name} has no effect without use_vllm. Add --use_vllm, or leave it out.")
        return
    if importlib.util.find_spec("vllm") is None:
        raise UsageError("use_vllm: vLLM is not installed here. Install it: pip install 'spade-envs[vllm]'.")
    for wrong, reason in _contradictions(own, grpo):
        if wrong:
            raise UsageError(f"use_vllm: {reason}")
    prompt = own.designer_window if _designs_freely(own) else own.prompt_tokens
    room = max(prompt, own.prompt_tokens) + (grpo.max_completion_length or 0)
    if grpo.vllm_max_model_length is not None and grpo.vllm_max_model_length < room:
        raise UsageError(
            f"vllm_max_model_length is {grpo.vllm_max_model_length}; a row may have {room} tokens (prompt_tokens, or "
            "designer_window, and max_completion_length together). Raise it, or lower one of them."
        )


def _designs_freely(own: SelfPlayConfig) -> bool:
    """Whether vLLM writes designs whose prompts may fill the designer's window; those in slots are short."""
    here = own.designer_backend is None and own.designer_model is None
    return here and own.designer not in ("slots", "none")


def _contradictions(own: SelfPlayConfig, grpo: GRPOConfig) -> list[tuple[bool, str]]:
    colocated = grpo.vllm_mode == "colocate"
    return [
        (
            grpo.vllm_mode not in ("colocate", "server"),
            f"vllm_mode is {grpo.vllm_mode!r}; it must be colocate or server.",
        ),
        (
            colocated and grpo.vllm_server_base_url is not None,
            "vllm_server_base_url has no effect in vllm_mode colocate. Set vllm_mode: server.",
        ),
        (
            not colocated and grpo.vllm_max_model_length is not None,
            "vllm_max_model_length has no effect in vllm_mode server: tell the server when it is started.",
        ),
        (
            own.role_adapters,
            "it holds one set of weights, and role_adapters trains two. Leave one of them out.",
        ),
        (
            own.trains_two_models,
            "it holds one model, and designer_model learns too. Set schedule: designer_frozen, or leave one out.",
        ),
        (
            colocated and grpo.vllm_tensor_parallel_size > 1,
            "vllm_tensor_parallel_size shares an engine among processes that play episodes of their own. "
            "Set it to 1, or start a server and set vllm_mode: server.",
        ),
        (
            grpo.vllm_enable_sleep_mode,
            "vllm_enable_sleep_mode would drop the weights between the turns of an episode. Set it to false.",
        ),
        (
            not colocated and grpo.use_cpu,
            "TRL sends weights to a server from a GPU only. Set vllm_mode: colocate with use_cpu.",
        ),
    ]


def engine(trainer: GRPOTrainer) -> Engine | None:
    """Return what this process samples with; None where that is the trainer's own decoder."""
    if not trainer.use_vllm:
        return None
    made = trainer.vllm_generation
    made.sync_weights = _told(made.sync_weights)
    if trainer.vllm_mode == "colocate":
        return Colocated(made.llm)
    return Served(made.vllm_client if trainer.accelerator.is_main_process else VLLMClient(_address(made)))


def _address(made: Any) -> str:
    return made.server_base_url or f"http://{made.server_host}:{made.server_port}"


def refresh(trainer: GRPOTrainer) -> None:
    """Give vLLM the weights that the trainer has now. TRL does so before a rollout, and nowhere else."""
    if trainer.state.global_step != trainer._last_loaded_step:
        trainer.vllm_generation.sync_weights()
        trainer._last_loaded_step = trainer.state.global_step


def _told(send: Callable[[], None]) -> Callable[[], None]:
    """Return what sends the weights with its failures as ours: TRL raises whatever its client and vLLM raise."""

    def sending() -> None:
        try:
            send()
        except Exception as problem:
            said = str(problem)[:500] or type(problem).__name__
            raise EngineError(f"vLLM did not take the weights: {said}") from problem

    return sending
