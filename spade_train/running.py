"""A run from its first words to its last line: new, or from where it stopped."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console

from spade_envs.contract.printable import printable
from spade_envs.errors import SpadeError, UsageError
from spade_train import trl_plugin
from spade_train.corpus import Corpus
from spade_train.display import Display
from spade_train.evaluation.suite import Options as SuiteOptions
from spade_train.evaluation.suites import make_suites
from spade_train.flags import Words, check_names
from spade_train.models.model import resolve_model
from spade_train.models.sketch import check_model, read_sketch
from spade_train.parts import (
    check_pins,
    check_weights,
    find_pool,
    make_corpus,
    make_outside,
    make_pay,
    make_selfplay,
)
from spade_train.runs import views
from spade_train.runs.checkpoints import Checkpoint, checkpoint_at, restore
from spade_train.runs.disk import is_full
from spade_train.runs.folder import RunFolder
from spade_train.runs.results import print_results
from spade_train.trl_plugin import Settings
from spade_train.world import World

PACKAGES = ("spade-envs", "torch", "transformers", "trl", "peft", "accelerate", "gymnasium", "llguidance")


class RunError(SpadeError):
    """The machine could not go on with a run; the run's folder is whole."""


@dataclass(frozen=True)
class Run:
    """What a run is, beside its folder.

    Attributes:
        model: what ``from_pretrained`` loads at the very beginning.
        pool: id -> hash of every environment of the curriculum.
        corpus: what designs are grounded on.
    """

    settings: Settings
    folder: RunFolder
    model: str
    pool: dict[str, str]
    corpus: Corpus
    world: World
    console: Console


def begin(settings: Settings, said: Words, console: Console) -> None:
    """Make a run's folder and train to the end.

    Raises:
        UsageError: the curriculum, the model or the folder is not there or not usable.
    """
    world = trl_plugin.world()
    console = console if world.first else Console(quiet=True)
    pool = find_pool(settings.selfplay)
    model = resolve_model(settings.model.model_name_or_path, console.print)
    corpus = _check(settings, model, console)
    check_weights(settings.selfplay)
    made = None
    if world.first:
        made = RunFolder.create(Path(settings.selfplay.runs), settings.grpo.run_name).path
        RunFolder(made).write_config(_config(settings, said, model, pool))
    folder = RunFolder(world.gather(made)[0] or Path())
    _train(Run(settings, folder, model, pool, corpus, world, console), None)


def resume(path: Path, flags: list[str], console: Console) -> None:
    """Go on with a run after its newest checkpoint, with its own settings and those that are said now.

    Raises:
        UsageError: there is no run, its settings do not fit any more, or an environment is gone.
    """
    folder = RunFolder.open(path)
    kept = folder.config()
    _check_changes(flags)
    said = Words(path / "config.json", kept["preset_settings"], (*kept["flags"], *flags))
    check_names(said, trl_plugin.known_settings())
    settings = trl_plugin.settings(said)
    _check_kept(settings, kept)
    check_pins(kept["curriculum"])
    world = trl_plugin.world()
    console = console if world.first else Console(quiet=True)
    corpus = _check(settings, kept["model"], console)
    check_weights(settings.selfplay, folder)
    _say_what_changed(folder, corpus, console)
    run = Run(settings, folder, kept["model"], kept["curriculum"], corpus, world, console)
    checkpoint = checkpoint_at(folder)
    done = checkpoint.round if checkpoint else 0
    if done >= settings.selfplay.rounds and folder.checkpoint.exists():
        raise UsageError(f"{path} has {done} rounds behind it. Say how far to go: --rounds {done + 10}")
    entries = views.rounds(folder)
    if views.is_spent(settings.selfplay.token_budget, entries) and folder.checkpoint.exists():
        tokens = views.sampled(entries)
        raise UsageError(
            f"{path} has sampled {tokens:,} tokens. Say how far to go: --token_budget {2 * tokens}"
        )
    for name, found in _versions().items():
        if kept["versions"].get(name) != found:
            console.print(
                f"{name} was {kept['versions'].get(name)} and is {found}: numbers may differ a little"
            )
    console.print(f"going on after {done} of {settings.selfplay.rounds} rounds")
    if world.first:  # interrupted again, it goes on with what is said now
        said = replace(said, path=Path(kept["preset"]))
        folder.write_config({**_config(settings, said, run.model, run.pool), "versions": kept["versions"]})
    _train(run, checkpoint)


def _check_changes(flags: list[str]) -> None:
    """Raise :class:`UsageError` for a setting that a run has for good."""
    said = {word[2:].partition("=")[0].replace("-", "_") for word in flags if word.startswith("--")}
    for name in (
        "model_name_or_path",
        "model_revision",
        "designer_model",
        "curriculum",
        "runs",
        "run_name",
        "dry_run",
        "config",
    ):
        if name in said:
            raise UsageError(
                f"{name} cannot be said to resume: a run keeps its own. Begin a new run for another."
            )


def _check_kept(settings: Settings, kept: dict[str, Any]) -> None:
    """Raise :class:`UsageError` for a setting that says what is trained, or how steps are counted, and has changed."""
    before = {**kept["grpo"], **kept.get("model_config", {}), **kept.get("selfplay", {})}
    now = {**settings.grpo.to_dict(), **asdict(settings.model), **asdict(settings.selfplay)}
    for name in (
        "num_iterations",
        "upper_layers",
        "use_peft",
        "role_adapters",
        "lora_r",
        "lora_target_modules",
    ):
        if name in before and before[name] != now[name]:
            raise UsageError(
                f"{name} cannot change within a run: its checkpoints have been made with {before[name]}."
            )
    frozen = [one.get("schedule") == "designer_frozen" for one in (before, now)]
    if settings.selfplay.designer_model and len(set(frozen)) == 2 and "schedule" in before:
        raise UsageError(
            f"schedule {now['schedule']}: designer_model {'has learned' if frozen[1] else 'has never learned'} in this "
            "run's checkpoints, and that cannot change within a run."
        )


def _check(settings: Settings, model: str, console: Console) -> Corpus:
    """Raise :class:`UsageError` for what can be known to be wrong before weights are loaded; return the documents."""
    own = settings.selfplay
    make_outside(own, settings.grpo.temperature)
    make_pay(own)
    if own.evaluate_rounds:
        make_suites(own.evaluate_suites, SuiteOptions(items=1))
    corpus = make_corpus(own, console.print)
    for one in corpus.unread:
        console.print(f"corpus: {printable(one.text())}", markup=False)
    sketches = [read_sketch(model, settings.model.model_revision, "the model")]
    if own.designer_model is not None:
        sketches.append(read_sketch(own.designer_model, setting="designer_model"))
    for sketch in sketches:
        check_model(sketch, own, settings.grpo.max_completion_length, console.print)
    return corpus


def _record_corpus(folder: RunFolder, corpus: Corpus) -> None:
    """Put on record what was read and what was not, where that is not what the record says last."""
    now = [source.as_dict() for source in corpus.sources]
    if folder.read("corpus.jsonl")[-len(now) :] != now:
        folder.append("corpus.jsonl", now)


def _say_what_changed(folder: RunFolder, corpus: Corpus, console: Console) -> None:
    """Say which source holds other documents than when the run last began: its rounds draw others from here on."""
    before = {one.get("source"): one.get("sha256") for one in folder.read("corpus.jsonl")}
    for source in corpus.sources:
        if before.get(source.word, source.sha256) != source.sha256:
            console.print(f"corpus: {source.word} holds other documents than before", markup=False)


def _train(run: Run, checkpoint: Checkpoint | None) -> None:
    """Train to the end; Ctrl-C says how to go on."""
    began, folder, console = time.monotonic(), run.folder, run.console
    with folder.locked(run.world.first):
        if run.world.first:
            restore(folder, checkpoint)
        run.world.gather(None)  # nobody reads what is being put back
        start = trl_plugin.Start(run.model, checkpoint, tuple(folder.read("rounds.jsonl")))
        console.print(f"model {Path(run.model).name}, run {folder.path}")
        selfplay = make_selfplay(run.settings, folder, list(run.pool), run.corpus, run.world, checkpoint)
        if run.world.first:
            _record_corpus(folder, run.corpus)
        try:
            with Display(run.settings.selfplay.rounds, console, done=len(start.entries)) as display:
                entries = trl_plugin.train(run.settings, start, selfplay, folder, display)
        except (KeyboardInterrupt, SpadeError):
            _say_how_to_go_on(folder, console)
            raise
        except (
            OSError,
            RuntimeError,
        ) as problem:  # safetensors and PyTorch tell of a full disk in either way
            _say_how_to_go_on(folder, console)
            raise _stopped(folder, problem) from problem
        finally:
            selfplay.close()
    print_results(folder, entries, time.monotonic() - began, console)


def _say_how_to_go_on(folder: RunFolder, console: Console) -> None:
    console.print(f"to go on: spade-train resume {folder.path}", markup=False)


def _stopped(folder: RunFolder, problem: Exception) -> Exception:
    """Return what the user is told where the machine has failed; a fault of the program's stays what it is."""
    if is_full(folder.path, problem):
        return RunError(f"the disk that holds {folder.path} is full; make room, then go on")
    if isinstance(problem, OSError):
        return RunError(f"{problem.filename or folder.path}: {problem.strerror or problem}")
    return problem


def _config(settings: Settings, said: Words, model: str, pool: dict[str, str]) -> dict[str, Any]:
    return {
        "preset": str(said.path),
        "preset_settings": said.preset,
        "flags": list(said.flags),
        "model": model,
        "curriculum": pool,
        "versions": _versions(),
        "selfplay": asdict(settings.selfplay),
        "grpo": settings.grpo.to_dict(),
        "model_config": asdict(settings.model),
    }


def _versions() -> dict[str, str]:
    return {name: version(name) for name in PACKAGES} | {"python": sys.version.split()[0]}
