"""How often the embedded model succeeds, untrained, on each seed environment at its lowest difficulty.

    python benchmarks/reach.py [--plays 64] [--hint] [ID ...]

Every play has a seed of its own. Rates come with their 95 % Wilson intervals; temperature 1, as in training.
"""

from __future__ import annotations

import argparse
import time

import torch
from rich.console import Console
from rich.table import Table
from transformers import AutoModelForCausalLM, AutoTokenizer

from spade_envs import make_text, registries
from spade_envs.admission.rates import wilson
from spade_train.config import SelfPlayConfig
from spade_train.models.model import resolve_model
from spade_train.playing.decoding import Policy
from spade_train.playing.play import Episode, Limits, Task, play
from spade_train.playing.prompts import HELD_OUT_SEED

BATCH = 32


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("ids", nargs="*", metavar="ID")
    parser.add_argument("--plays", type=int, default=64)
    parser.add_argument("--model", default=None, help="a folder; default: the embedded model")
    parser.add_argument("--hint", action="store_true", help="play with the hint")
    arguments = parser.parse_args()
    model = resolve_model(arguments.model)
    policy = Policy(
        AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32).eval(),
        AutoTokenizer.from_pretrained(model),
        generator=torch.Generator().manual_seed(0),
    )
    table = Table("environment", "success", "interval", "well formed", "turns", "prompt tokens", "seconds")
    for env_id in arguments.ids or _newest():
        began = time.monotonic()
        row = _row(_plays(policy, env_id, arguments.plays, arguments.hint))
        table.add_row(env_id, *row, f"{time.monotonic() - began:.0f}")
        print(env_id, *row, flush=True)
    Console().print(table)


def _newest() -> list[str]:
    ids = sorted((env_id.name, env_id.version, str(env_id)) for r in registries() for env_id in r.ids())
    return list({name: text for name, _, text in ids}.values())


@torch.no_grad()
def _plays(policy: Policy, env_id: str, count: int, hinted: bool) -> list[Episode]:
    tasks = [Task(env_id, HELD_OUT_SEED + n, hinted) for n in range(count)]
    config = SelfPlayConfig()
    limits = Limits(config.prompt_tokens, config.turn_tokens, completion=1024)
    done: list[Episode] = []
    for at in range(0, count, BATCH):
        done += play(policy, tasks[at : at + BATCH], make_text, limits)
    return done


def _row(episodes: list[Episode]) -> list[str]:
    counted = [one for one in episodes if one.counts]
    won = sum(one.success for one in counted)
    low, high = wilson(won, len(counted))
    n = len(counted) or 1
    return [
        f"{won}/{len(counted)}",
        f"{low:.2f} to {high:.2f}",
        f"{sum(one.well_formed for one in counted) / n:.2f}",
        f"{sum(one.turns for one in counted) / n:.1f}",
        str(max(len(one.prompt_ids) for one in episodes)),
    ]


if __name__ == "__main__":
    main()
