"""The ``spade-train`` command. Wrong use is told before a model is loaded, and never by a traceback."""

from __future__ import annotations

import difflib
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
    from spade_train.checkpoints import Checkpoint
    from spade_train.designer import Corpus
    from spade_train.run_folder import RunFolder
    from spade_train.selfplay import SelfPlay
    from spade_train.trl_plugin import Settings
    from spade_train.world import World


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
        console.print(
            "\nStopped. What was admitted and recorded stays in the run's folder; `spade-train resume RUN` goes on."
        )
        sys.exit(130)


def _run(words: list[str], console: Console) -> None:
    if {"-h", "--help"} & set(words):
        print(help_text())
        return
    if words[:1] == ["resume"]:
        _set_environment()
        _resume(Path(words[1]), words[2:], console)
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
    from spade_train.model import resolve_model
    from spade_train.run_folder import RunFolder

    pool = _pool(settings.selfplay)
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
                settings, start, lambda world: _selfplay(settings, run, pool, world, checkpoint), run, display
            )
    console.print(summary(entries))
    _print_results(run, entries, time.monotonic() - began, console)


def _resume(path: Path, flags: list[str], console: Console) -> None:
    """Go on with a run, with its own settings and those that are said now."""
    from spade_train import trl_plugin
    from spade_train.checkpoints import checkpoint_at
    from spade_train.run_folder import RunFolder

    run = RunFolder.open(path)
    kept = run.config()
    said = Words(run.path / "config.json", kept["preset_settings"], (*kept["flags"], *flags))
    check_names(said, trl_plugin.known_settings())
    settings = trl_plugin.settings(said)
    checkpoint = checkpoint_at(run)
    console.print(f"going on after round {checkpoint.round if checkpoint else 0}")
    carry_on(settings, run, kept["model"], kept["curriculum"], console, checkpoint)


def _selfplay(
    settings: Settings, run: RunFolder, pool: list[str], world: World, checkpoint: Checkpoint | None
) -> SelfPlay:
    from spade_envs import add_registry
    from spade_train.designer import FreeDesigner, Memory, SlotDesigner
    from spade_train.designing import Workshop
    from spade_train.play import Limits
    from spade_train.selfplay import SelfPlay

    config, grpo = settings.selfplay, settings.grpo
    workshop = Workshop(
        designer=FreeDesigner() if config.designer == "free" else SlotDesigner(),
        registry=add_registry(run.registry),
        run=run.path.name,
        tokens=grpo.max_completion_length,
        jobs=config.admission_jobs or None,
        world=world,
    )
    return SelfPlay(
        config=config,
        schedule=config.plan(grpo.num_generations),
        seed=grpo.seed,
        limits=Limits(config.prompt_tokens, config.turn_tokens, grpo.max_completion_length),
        workshop=workshop,
        pool=pool,
        corpus=_corpus(config),
        world=world,
        memory=checkpoint.memory() if checkpoint else Memory(),
    )


def _corpus(config: SelfPlayConfig) -> Corpus:
    from spade_train.designer import Corpus

    if not config.use_corpus:
        return Corpus(())
    return Corpus.read([Path(path) for path in config.corpus] or None)


def _pool(config: SelfPlayConfig) -> list[str]:
    """Return the curriculum's ids; by default the newest version of each seed environment."""
    from spade_envs import registries

    headers = [entry.header for registry in registries() for entry in registry.entries()]
    known = {str(header.id) for header in headers}
    for name in config.curriculum:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3)
            mend = f"Did you mean {', '.join(near)}?" if near else "spade-envs list shows what there is."
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
        "preset_settings": said.preset,
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
