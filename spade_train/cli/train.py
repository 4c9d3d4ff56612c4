"""``spade-train``: begin a run. Wrong use is told before a model is loaded, and never by a traceback."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
import warnings
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from spade_train.cli.parts import find_pool, make_selfplay
from spade_train.flags import Words, check_names, help_text, read_words

if TYPE_CHECKING:
    from spade_train.checkpoints import Checkpoint
    from spade_train.run_folder import RunFolder
    from spade_train.trl_plugin import Settings


def run(words: list[str], console: Console) -> None:
    """Begin a new run."""
    if {"-h", "--help"} & set(words):
        print(help_text())
        return
    said = read_words([word for word in words if word != "--help_all"])
    console.print(f"spade-train: {said.path.stem}; loading PyTorch and TRL ...")
    set_environment()
    from spade_train import trl_plugin

    if "--help_all" in words:
        trl_plugin.parser().print_help()
        return
    check_names(said, trl_plugin.known_settings())
    _train(trl_plugin.settings(said), said, console)


def _train(settings: Settings, said: Words, console: Console) -> None:
    from spade_train.model import resolve_model
    from spade_train.run_folder import RunFolder

    pool = find_pool(settings.selfplay)
    model = resolve_model(settings.model.model_name_or_path, console.print)
    run = RunFolder.create(Path(settings.selfplay.runs), settings.grpo.run_name)
    run.write_config(_record(settings, said, model, pool))
    carry_on(settings, run, model, pool, console)


def carry_on(
    settings: Settings,
    run: RunFolder,
    model: str,
    pool: list[str],
    console: Console,
    checkpoint: Checkpoint | None = None,
) -> None:
    """Train from a checkpoint, or from the beginning, to the end."""
    from spade_train import trl_plugin
    from spade_train.checkpoints import restore
    from spade_train.display import Display, summary

    began = time.monotonic()
    with run.locked():
        restore(run, checkpoint)
        start = trl_plugin.Start(model, checkpoint, tuple(run.read("rounds.jsonl")))
        console.print(f"model {Path(model).name}, run {run.path}")
        with Display(settings.selfplay.rounds, console, done=len(start.entries)) as display:
            entries = trl_plugin.train(
                settings,
                start,
                lambda world: make_selfplay(settings, run, pool, world, checkpoint),
                run,
                display,
            )
    console.print(summary(entries))
    _print_results(run, entries, time.monotonic() - began, console)


def _print_results(run: RunFolder, entries: list[dict[str, Any]], seconds: float, console: Console) -> None:
    made = list(dict.fromkeys(env_id for entry in entries for env_id in entry["admitted"]))
    console.print(f"checkpoint    {run.checkpoint}")
    console.print(f"records       {run.path / 'rounds.jsonl'} (and designs, episodes)")
    console.print(f"environments  {run.registry}: {len(made)} new")
    console.print(f"time          {seconds / 60:.1f} minutes")
    if not made:
        console.print("No design was admitted; designs.jsonl says why.")
        return
    code = (
        f"import gymnasium, spade_envs; spade_envs.add_registry({json.dumps(str(run.registry.resolve()))}); "
        f"print(gymnasium.make({json.dumps(made[-1])}).reset(seed=0))"
    )
    console.print("make one of them:")
    console.print(f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}", markup=False)


def _record(settings: Settings, said: Words, model: str, pool: list[str]) -> dict[str, Any]:
    packages = ("spade-envs", "torch", "transformers", "trl", "peft", "accelerate", "gymnasium", "llguidance")
    return {
        "preset": str(said.path),
        "preset_settings": said.preset,
        "flags": list(said.flags),
        "model": model,
        "curriculum": pool,
        "versions": {name: version(name) for name in packages} | {"python": sys.version.split()[0]},
        "selfplay": asdict(settings.selfplay),
        "grpo": settings.grpo.to_dict(),
        "model_config": asdict(settings.model),
    }


def set_environment() -> None:
    """Set what torch and the hub's client read when they are imported; the user's own values stay."""
    warnings.filterwarnings("ignore", category=FutureWarning)  # between transformers and TRL, not to the user
    for name, value in (
        ("OMP_WAIT_POLICY", "PASSIVE"),  # threads that wait in a loop stall each other on a busy machine
        ("HF_HUB_DISABLE_TELEMETRY", "1"),
        ("TRL_EXPERIMENTAL_SILENCE", "1"),
        ("TRANSFORMERS_VERBOSITY", "error"),
        ("TOKENIZERS_PARALLELISM", "false"),
    ):
        os.environ.setdefault(name, value)
