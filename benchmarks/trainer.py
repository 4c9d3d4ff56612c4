"""What the trainer adds to what it is built on: ratios, interleaved, on the embedded model.

    OMP_NUM_THREADS=1 python benchmarks/trainer.py [--repeats 3] [--rows 8] [--tokens 24] [--parts rollout step]

rollout   tokens a second of our decoder over those of ``generate``: same prompts, batch and forced lengths
step      a GRPO step with our hooks over a plain one of TRL's: same rows, same trainer, hooks on and off in turn
memory    the highest resident memory while each of these ran
round     the share of a round's play and training that is neither the model's sampling nor its training

Times are this process's CPU seconds, which other work on the machine disturbs less; the least of all repeats counts.
The round's share is of wall time, for an environment's worker is another process. Rows of a step are those of a
round: a designer's block and agents' blocks, padded by TRL to the longest.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer, PrinterCallback, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

from spade_envs import make_text
from spade_train.models.model import resolve_model
from spade_train.playing.decoding import Decoder, Policy
from spade_train.playing.forward import Forward
from spade_train.playing.play import Episode, Limits, Task, play
from spade_train.playing.prompts import agent_messages, worked_examples
from spade_train.playing.sampling import Sampler
from spade_train.trl_plugin.gradients import RoleGradients
from spade_train.trl_plugin.padding import skip_padding

ENVS = ("spade/LargestValue-v0", "spade/OasisWalk-v0")
LIMITS = Limits(prompt=1024, turn=16, completion=160)


@dataclass
class Cost:
    """The least CPU seconds and the highest memory, in MB, of all times something ran."""

    seconds: float = float("inf")
    memory: float = 0.0

    def add(self, seconds: float, memory: float) -> None:
        self.seconds, self.memory = min(self.seconds, seconds), max(self.memory, memory)


@contextmanager
def measured(cost: Cost) -> Iterator[None]:
    """Measure what happens inside."""
    Path("/proc/self/clear_refs").write_text("5")  # the peak of memory begins anew
    began = time.process_time()
    yield
    cost.add(time.process_time() - began, peak())


def peak() -> float:
    """Return the highest resident memory since it was last begun anew, in MB."""
    (line,) = [line for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line]
    return int(line.split()[1]) / 1024


@torch.no_grad()
def rollout(policy: Policy, options: argparse.Namespace) -> None:
    """Print our decoder beside ``generate``: on unlike prompts, and on those of one environment's seeds."""
    alike = [prompt(policy, ENVS[0], seed) for seed in range(options.rows)]
    unlike = [[*ids[row:], *ids[:row]] for row, ids in enumerate(alike)]
    for kind, prompts in (("unlike", unlike), ("one environment's", alike)):
        found = alternate(beside_generate(policy, prompts, options.tokens), options.repeats)
        new = options.rows * options.tokens
        speeds = ", ".join(f"{name} {new / cost.seconds:.1f}" for name, cost in found.items())
        ours, theirs = found["ours"], found["generate"]
        print(
            f"rollout  {options.rows} {kind} prompts of {max(map(len, prompts))} tokens, {options.tokens} new ones:"
            f" {speeds} tok/CPU-s; tokens a second {theirs.seconds / ours.seconds:.2f} of generate's (goal: 0.90),"
            f" memory {ours.memory / theirs.memory:.2f} (goal: at most 1.10)",
            flush=True,
        )


def beside_generate(policy: Policy, prompts: list[list[int]], tokens: int) -> dict[str, Callable[[], None]]:
    """Return what samples so many tokens for each prompt, never ending a turn: ``generate`` and our decoder."""
    padded = policy.tokenizer.pad({"input_ids": prompts}, padding_side="left", return_tensors="pt")

    def ours() -> None:
        decoder = Decoder(
            policy.model, prompts, sampler=Sampler(), stop=frozenset(), seeds=range(len(prompts))
        )
        assert {len(one.tokens) for one in decoder.sample(tokens)} == {tokens}

    def theirs() -> None:
        length = {"min_new_tokens": tokens, "max_new_tokens": tokens}
        made = policy.model.generate(**padded, do_sample=True, top_k=0, **length)
        assert made.shape[1] == padded.input_ids.shape[1] + tokens

    return {"generate": theirs, "ours": ours}


def alternate(sides: dict[str, Callable[[], None]], repeats: int) -> dict[str, Cost]:
    """Run each side in turn, once to warm up and ``repeats`` times to be measured."""
    costs = {name: Cost() for name in sides}
    for run in sides.values():
        run()
    for _ in range(repeats):
        for name, run in sides.items():
            with measured(costs[name]):
                run()
    return costs


def prompt(policy: Policy, env_id: str, seed: int) -> list[int]:
    """Return the prompt of one episode."""
    env = make_text(env_id)
    examples = worked_examples(env)
    observation, _ = env.reset(seed=seed)
    messages = agent_messages(env, examples, observation, None)
    env.close()
    return policy.ids(policy.chat.render(messages))


@dataclass
class Clocked:
    """Wall time inside the model and the sampler, and in all of play."""

    model: float = 0.0
    all: float = 0.0
    episodes: list[Episode] = field(default_factory=list)


@torch.no_grad()
def played(policy: Policy, group: int) -> Clocked:
    """Play a round's blocks, unhinted and hinted, from one seed each."""
    clock = Clocked()
    read, choose = Forward.__call__, Sampler.choose

    def timed(call: Callable[..., Any]) -> Callable[..., Any]:
        def inside(*arguments: Any) -> Any:
            began = time.monotonic()
            try:
                return call(*arguments)
            finally:
                clock.model += time.monotonic() - began

        return inside

    tasks = [Task(ENVS[block % 2], block, hinted) for block in range(group) for hinted in (False, True)]
    Forward.__call__, Sampler.choose = timed(read), timed(choose)  # type: ignore[method-assign]
    began = time.monotonic()
    try:
        clock.episodes = play(policy, [task for task in tasks for _ in range(group)], make_text, LIMITS)
    finally:
        Forward.__call__, Sampler.choose = read, choose  # type: ignore[method-assign]
    clock.all = time.monotonic() - began
    return clock


class Switch(TrainerCallback):  # type: ignore[misc]
    """Takes our hooks off the backbone in every other step, and measures each step."""

    def __init__(self, backbone: torch.nn.Module) -> None:
        self.sides = {"TRL": Cost(), "ours": Cost()}
        self.walls: list[float] = []
        self._hooks = [backbone._forward_pre_hooks, backbone._forward_hooks]
        self._kept = [dict(hooks) for hooks in self._hooks]
        self._measuring: Any = None

    def on_step_begin(self, _: Any, state: Any, *__: Any, **___: Any) -> None:
        ours = state.global_step % 2
        for hooks, kept in zip(self._hooks, self._kept, strict=True):
            hooks.clear()
            hooks.update(kept if ours else {})
        # the first of each kind fills the optimizer's state and the allocator: not measured
        cost = self.sides["ours" if ours else "TRL"] if state.global_step > 1 else Cost()
        self._measuring = measured(cost)
        self._measuring.__enter__()
        self.walls.append(-time.monotonic())

    def on_step_end(self, *_: Any, **__: Any) -> None:
        self.walls[-1] += time.monotonic()
        self._measuring.__exit__(None, None, None)


def step(
    policy: Policy, rows: Sequence[tuple[Sequence[int], Sequence[int], Sequence[int]]], repeats: int
) -> Switch:
    """Train on the same rows again and again, with our hooks in every other step."""
    steps, group = 2 * repeats + 2, 2

    def recorded(prompts: list[str], _: GRPOTrainer) -> dict[str, Any]:
        assert len(prompts) == len(rows)
        names = ("prompt_ids", "completion_ids", "env_mask")
        return {name: [list(row[n]) for row in rows] for n, name in enumerate(names)} | {"logprobs": None}

    config = GRPOConfig(
        output_dir="runs/trainer", use_cpu=True, bf16=False, max_steps=steps, learning_rate=1e-6,
        num_generations=group, per_device_train_batch_size=group, gradient_accumulation_steps=len(rows) // group,
        max_completion_length=LIMITS.completion, loss_type="grpo", shuffle_dataset=False, gradient_checkpointing=False,
        dataloader_pin_memory=False, report_to="none", disable_tqdm=True, save_strategy="no", logging_steps=1,
    )  # fmt: skip
    blocks = steps * len(rows) // group
    trainer = GRPOTrainer(
        model=policy.model,
        args=config,
        processing_class=policy.tokenizer,
        train_dataset=Dataset.from_list([{"prompt": str(n)} for n in range(blocks)]),
        reward_funcs=[lambda completion_ids, **_: [float(n % 2) for n in range(len(completion_ids))]],
        rollout_func=recorded,
    )
    trainer.remove_callback(PrinterCallback)
    backbone = policy.model.base_model
    RoleGradients(lambda ids: "designer" if len(ids) > 600 else "agent", backbone)
    skip_padding(backbone)
    switch = Switch(backbone)
    trainer.add_callback(switch)
    trainer.train()
    return switch


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=8, help="of the rollout")
    parser.add_argument("--tokens", type=int, default=24, help="new ones of each row of the rollout")
    parser.add_argument("--group", type=int, default=2, help="of the round: G + G * G rows are trained on")
    parser.add_argument("--parts", nargs="*", default=["rollout", "step"], choices=["rollout", "step"])
    options = parser.parse_args()
    folder = resolve_model(None)
    policy = Policy(
        AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval(),
        AutoTokenizer.from_pretrained(folder, padding_side="left"),
        generator=torch.Generator().manual_seed(0),
    )
    if "rollout" in options.parts:
        rollout(policy, options)
    if "step" in options.parts:
        one_round(policy, options)
    packages = {name: version(name) for name in ("spade-envs", "torch", "transformers", "trl")}
    print(f"{platform.machine()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads,"
          f" Python {platform.python_version()}; {packages}")  # fmt: skip


def one_round(policy: Policy, options: argparse.Namespace) -> None:
    """Print a step with our hooks beside one without, and the share of play that is not the model's."""
    clock = played(policy, options.group)
    plain = [one for one in clock.episodes if not one.task.hinted]
    design = prompt(policy, ENVS[1], 0) * 2  # as long as a designer's prompt in slots
    rows = [(design, [5] * 60, [1] * 60)] * options.group
    rows += [(list(one.prompt_ids), list(one.completion_ids), list(one.mask)) for one in plain]
    switch = step(policy, rows, options.repeats)
    theirs, ours = switch.sides["TRL"], switch.sides["ours"]
    widths = sorted({len(p) + len(c) for p, c, _ in rows})
    print(
        f"step     {len(rows)} rows of {widths[0]} to {widths[-1]} tokens: TRL {theirs.seconds:.1f} CPU-s,"
        f" ours {ours.seconds:.1f}; time {ours.seconds / theirs.seconds:.2f} (goal: at most 1.10),"
        f" memory {ours.memory / theirs.memory:.2f} (goal: at most 1.10)"
    )
    rest, trained = clock.all - clock.model, min(switch.walls[3::2])
    print(
        f"round    play {clock.all:.1f} s, of which the model {clock.model:.1f}; train {trained:.1f} s:"
        f" environments and bookkeeping {rest / (clock.all + trained):.1%} of both (goal: at most 5 %)",
        flush=True,
    )


if __name__ == "__main__":
    main()
