"""The ``spade-train`` command. Wrong use is told before a model is loaded, and never by a traceback."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from spade_envs.errors import SpadeError, UsageError
from spade_train.config import SelfPlayConfig
from spade_train.flags import Words, check_names, help_text, read_words

if TYPE_CHECKING:
    from spade_train.records import RunFolder
    from spade_train.selfplay import SelfPlay
    from spade_train.trl_plugin import Settings


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command and leave with its exit code: 0 done, 1 failed, 2 wrong use, 130 interrupted."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    console = Console(highlight=False, soft_wrap=True)
    try:
        _run(words, console)
    except SpadeError as problem:
        print(f"spade-train: {problem}", file=sys.stderr)
        sys.exit(2 if isinstance(problem, UsageError) else 1)
    except KeyboardInterrupt:
        console.print("\nStopped. What was admitted and recorded stays in the run's folder.")
        sys.exit(130)


def _run(words: list[str], console: Console) -> None:
    if {"-h", "--help"} & set(words):
        print(help_text())
        return
    said = read_words([word for word in words if word != "--help_all"])
    console.print(f"spade-train: {said.path.stem}; loading PyTorch and TRL ...")
    _set_environment()
    from spade_train import trl_plugin

    if "--help_all" in words:
        trl_plugin.parser().print_help()
        return
    check_names(said, trl_plugin.known_settings())
    _train(trl_plugin.settings(said), said, console)


def _train(settings: Settings, said: Words, console: Console) -> None:
    from spade_train import trl_plugin
    from spade_train.display import Display, summary
    from spade_train.model import resolve_model
    from spade_train.records import RunFolder

    began = time.monotonic()
    pool = _pool(settings.selfplay)
    model = resolve_model(settings.model.model_name_or_path, console.print)
    run = RunFolder.create(Path(settings.selfplay.runs), settings.grpo.run_name)
    run.write_config(_record(settings, said, model, pool))
    console.print(f"model {Path(model).name}, run {run.path}")
    with Display(settings.selfplay.rounds, console) as display:
        entries = trl_plugin.train(settings, model, lambda: _selfplay(settings, run, pool), run, display)
    console.print(summary(entries))
    _print_results(run, entries, time.monotonic() - began, console)


def _selfplay(settings: Settings, run: RunFolder, pool: list[str]) -> SelfPlay:
    from spade_envs import add_registry
    from spade_train.designer import Corpus, FreeDesigner, SlotDesigner
    from spade_train.play import Limits
    from spade_train.selfplay import SelfPlay

    config, grpo = settings.selfplay, settings.grpo
    return SelfPlay(
        config=config,
        group=grpo.num_generations,
        seed=grpo.seed,
        limits=Limits(config.prompt_tokens, config.turn_tokens, grpo.max_completion_length),
        designer=SlotDesigner() if config.designer == "slots" else FreeDesigner(),
        registry=add_registry(run.registry),
        pool=pool,
        corpus=Corpus.read(),
        run=run.path.name,
    )


def _pool(config: SelfPlayConfig) -> list[str]:
    """Return the curriculum's ids; by default the newest version of each seed environment."""
    from spade_envs import registries
    from spade_envs.contract import near_ids

    headers = [entry.header for registry in registries() for entry in registry.entries()]
    known = {str(header.id) for header in headers}
    for name in config.curriculum:
        if name not in known:
            near = near_ids(name, (header.id for header in headers))
            mend = (
                f"Did you mean {', '.join(map(str, near))}?"
                if near
                else "spade-envs list shows what there is."
            )
            raise UsageError(f"curriculum: there is no environment {name}. {mend}")
    seeds = sorted((header.id for header in headers if header.origin == "seed"), key=lambda one: one.version)
    pool = config.curriculum or list({env_id.name: str(env_id) for env_id in seeds}.values())
    if not pool:
        raise UsageError("No seed environment is registered, so nothing could fill a refused design's block.")
    return pool


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
        "flags": list(said.flags),
        "model": model,
        "curriculum": pool,
        "versions": {name: version(name) for name in packages} | {"python": sys.version.split()[0]},
        "selfplay": asdict(settings.selfplay),
        "grpo": settings.grpo.to_dict(),
        "model_config": asdict(settings.model),
    }


def _set_environment() -> None:
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
