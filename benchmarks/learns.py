"""Does the agent learn? GRPO on one seed environment, success on held-out seeds before and after.

    python benchmarks/learns.py [--env spade/LargestValue-v0] [--minutes 18] [--seed 0] [--json]

Only the agent is trained: each step plays ``--blocks`` blocks of ``--group`` unhinted episodes, one seed a block.
The lower half of the layers and the embeddings stay as they are, which spares half of the backward pass. Success
is counted on 200 seeds that no step plays, at temperature 1 and greedily, with 95 % Wilson intervals. The clock
starts after the first evaluation.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import time
from importlib.metadata import version
from typing import Any

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
import torch
from datasets import Dataset
from rich.console import Console
from rich.progress import Progress, TimeRemainingColumn
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from spade_envs import make_text
from spade_envs.admission.rates import wilson
from spade_train.models.model import resolve_model
from spade_train.playing.decoding import Policy
from spade_train.playing.play import Limits, Task, play
from spade_train.playing.prompts import HELD_OUT_SEED, TRAINING_SEEDS
from spade_train.rewards.agent import AgentTerms, Outcome, block_rewards
from spade_train.trl_plugin import sampling

LIMITS = Limits(prompt=1024, turn=16, completion=160)
HELD_OUT, BATCH = 200, 40
FORMAT_REWARD = 0.1


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--env", default="spade/LargestValue-v0")
    parser.add_argument("--minutes", type=float, default=18.0, help="training time")
    parser.add_argument("--steps", type=int, default=40, help="at most so many steps")
    parser.add_argument("--blocks", type=int, default=8)
    parser.add_argument("--group", type=int, default=8)
    parser.add_argument("--learning_rate", type=float, default=3e-5)
    parser.add_argument("--frozen_layers", type=int, default=15, help="of 30, from below")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one JSON object at the end")
    return parser.parse_args()


class Lesson(TrainerCallback):  # type: ignore[misc]
    """The rollout function, and the end of the time."""

    def __init__(self, options: argparse.Namespace, progress: Progress) -> None:
        self.options, self.progress = options, progress
        self.bar = progress.add_task("training", total=60 * options.minutes)
        self.end = time.monotonic() + 60 * options.minutes
        self.steps = 0
        self.curve: list[float] = []

    def rollout(self, prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        step = json.loads(prompts[0])["step"]
        draw = random.Random(f"{self.options.seed}/{step}")
        seeds = [draw.randrange(TRAINING_SEEDS) for _ in range(self.options.blocks)]
        tasks = [Task(self.options.env, seed) for seed in seeds for _ in range(self.options.group)]
        with sampling(trainer, self.options.seed, step) as policy:
            episodes = play(policy, tasks, make_text, LIMITS)
        self.curve.append(sum(one.success for one in episodes) / len(episodes))
        return {
            "prompt_ids": [list(one.prompt_ids) for one in episodes],
            "completion_ids": [list(one.completion_ids) for one in episodes],
            "env_mask": [list(one.mask) for one in episodes],
            "logprobs": None,
            "earned": [
                reward
                for at in range(0, len(episodes), self.options.group)
                for reward in block_rewards(
                    [
                        Outcome(o.return_, o.success, o.well_formed, counts=o.counts)
                        for o in episodes[at : at + self.options.group]
                    ],
                    AgentTerms(form=FORMAT_REWARD),
                )
            ],
        }

    def on_step_end(self, _: Any, state: Any, control: Any, **__: Any) -> None:
        self.steps = state.global_step
        left = self.end - time.monotonic()
        text = f"training: step {self.steps}, success {self.curve[-1]:.2f}"
        self.progress.update(self.bar, completed=60 * self.options.minutes - left, description=text)
        control.should_training_stop |= left < 0


def success_and_format(earned: list[float | None], **_: Any) -> list[float | None]:
    return earned


def make_trainer(options: argparse.Namespace, folder: str, lesson: Lesson) -> GRPOTrainer:
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    frozen = [model.get_input_embeddings(), *model.model.layers[: options.frozen_layers]]
    for part in frozen:
        part.requires_grad_(False)
    config = GRPOConfig(
        output_dir="runs/learns", use_cpu=True, bf16=False, seed=options.seed, max_steps=options.steps,
        learning_rate=options.learning_rate, lr_scheduler_type="constant", num_generations=options.group,
        per_device_train_batch_size=options.group, gradient_accumulation_steps=options.blocks,
        max_completion_length=LIMITS.completion,
        loss_type="grpo", shuffle_dataset=False, gradient_checkpointing=False, dataloader_pin_memory=False,
        logging_steps=1, report_to="none", disable_tqdm=True, save_strategy="no",
    )  # fmt: skip
    tasks = [
        json.dumps({"step": step, "block": block})
        for step in range(options.steps)
        for block in range(options.blocks)
    ]
    trainer = GRPOTrainer(
        model=model,
        args=config,
        processing_class=AutoTokenizer.from_pretrained(folder, padding_side="left"),
        train_dataset=Dataset.from_list([{"prompt": task} for task in tasks]),
        reward_funcs=[success_and_format],
        rollout_func=lesson.rollout,
        callbacks=[lesson],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


@torch.no_grad()
def success(trainer: GRPOTrainer, env_id: str, temperature: float) -> dict[str, Any]:
    """Play the held-out seeds once each."""
    model = trainer.accelerator.unwrap_model(trainer.model).eval()
    generator = torch.Generator().manual_seed(1)
    policy = Policy(model, trainer.processing_class, temperature, generator)
    won = 0
    for first in range(HELD_OUT_SEED, HELD_OUT_SEED + HELD_OUT, BATCH):
        tasks = [Task(env_id, seed) for seed in range(first, first + BATCH)]
        won += sum(one.success for one in play(policy, tasks, make_text, LIMITS))
    low, high = wilson(won, HELD_OUT)
    return {"won": won, "of": HELD_OUT, "low": round(low, 3), "high": round(high, 3)}


def main() -> None:
    options, console = arguments(), Console(stderr=True)
    folder = resolve_model(None, console.print)
    with Progress(*Progress.get_default_columns()[:-1], TimeRemainingColumn(), console=console) as progress:
        lesson = Lesson(options, progress)
        trainer = make_trainer(options, folder, lesson)
        before = {
            name: success(trainer, options.env, heat) for name, heat in (("sampled", 1.0), ("greedy", 0.0))
        }
        console.print(f"before: {before}")
        began, cpu = time.monotonic(), time.process_time()
        lesson.end = began + 60 * options.minutes
        trainer.train()
        spent = {"minutes": (time.monotonic() - began) / 60, "cpu_minutes": (time.process_time() - cpu) / 60}
        after = {
            name: success(trainer, options.env, heat) for name, heat in (("sampled", 1.0), ("greedy", 0.0))
        }
    packages = {name: version(name) for name in ("spade-envs", "torch", "transformers", "trl")}
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    result = {"options": vars(options), "steps": lesson.steps, "before": before, "after": after, **spent,
              "success_by_step": lesson.curve, "machine": machine, "versions": packages}  # fmt: skip
    if options.json:
        print(json.dumps(result))
        return
    print(
        f"{options.env}: {lesson.steps} steps, {spent['minutes']:.1f} minutes ({spent['cpu_minutes']:.1f} of CPU)"
    )
    for name in ("sampled", "greedy"):
        (b, a) = before[name], after[name]
        print(
            f"{name:8} before {b['won']}/{b['of']} [{b['low']:.2f}, {b['high']:.2f}]"
            f"   after {a['won']}/{a['of']} [{a['low']:.2f}, {a['high']:.2f}]"
        )
    print(f"{machine}; {packages}")


if __name__ == "__main__":
    main()
