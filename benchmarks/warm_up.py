"""What a warm-up on experts' episodes gives the embedded model: form and success on held-out seeds.

    OMP_NUM_THREADS=1 python benchmarks/warm_up.py [--steps 8] [--rows 8] [--plays 40] [ID ...]

Each environment's held-out seeds are played once before and once after, at temperature 1, with the same draws. The
upper half of the layers is trained.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from importlib.metadata import version

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from spade_envs import make_text
from spade_envs.admission.rates import wilson
from spade_train.models.model import resolve_model
from spade_train.playing.decoding import Policy
from spade_train.playing.play import Limits, Task, play
from spade_train.playing.prompts import HELD_OUT_SEED
from spade_train.playing.warm_up import WarmUp, lessons, warm_up

ENVS = ("spade/LargestValue-v0", "spade/OasisWalk-v0")
LIMITS = Limits(prompt=1024, turn=16, completion=400)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ids", nargs="*", metavar="ID", default=list(ENVS))
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--rows", type=int, default=8)
    parser.add_argument("--learning_rate", type=float, default=1e-5)
    parser.add_argument("--plays", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    folder = resolve_model(None)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    model.requires_grad_(False)
    for layer in model.model.layers[len(model.model.layers) // 2 :]:
        layer.requires_grad_(True)
    policy = Policy(model, AutoTokenizer.from_pretrained(folder, padding_side="left"))
    show("before", policy, options)
    plan = WarmUp(options.steps, options.rows, options.learning_rate, options.seed)
    began = time.process_time()
    losses = warm_up(model, lessons(policy, options.ids, make_text, LIMITS, plan), plan)
    print(
        f"{plan}: loss per token {losses[0]:.2f} to {losses[-1]:.2f}, {time.process_time() - began:.0f} CPU-s"
    )
    show("after", policy, options)
    packages = {name: version(name) for name in ("spade-envs", "torch", "transformers")}
    print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}; {packages}")


@torch.no_grad()
def show(when: str, policy: Policy, options: argparse.Namespace) -> None:
    """Print turns that could be read and episodes that succeeded, with 95 % Wilson intervals."""
    for env_id in options.ids:
        drawn = Policy(policy.model, policy.tokenizer, generator=torch.Generator().manual_seed(options.seed))
        tasks = [Task(env_id, HELD_OUT_SEED + n) for n in range(options.plays)]
        counted = [one for one in play(drawn, tasks, make_text, LIMITS) if one.counts]
        turns = sum(one.turns for one in counted)
        print(
            f"{when:6} {env_id}: well formed {rate(sum(round(one.well_formed * one.turns) for one in counted), turns)},"
            f" success {rate(sum(one.success for one in counted), len(counted))}",
            flush=True,
        )


def rate(count: int, of: int) -> str:
    """Return a rate with its interval."""
    low, high = wilson(count, of)
    return f"{count}/{of} = {count / max(of, 1):.2f} [{low:.2f}, {high:.2f}]"


if __name__ == "__main__":
    main()
