"""``--dry_run``: the plan, the tokens, the memory and the first prompts of a run. Nothing is trained or written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.console import Console

from spade_train.models.budget import RoundBudget, budgets
from spade_train.models.footprint import Footprint, Load, footprint
from spade_train.models.preview import Preview, preview
from spade_train.models.sketch import Sketch, check_model, read_sketch
from spade_train.parts import find_pool, make_selfplay
from spade_train.runs.folder import RunFolder
from spade_train.selfplay import SelfPlay
from spade_train.trl_plugin import Settings
from spade_train.trl_plugin.sizes import parameters, shape
from spade_train.world import World

_PARTS = {
    "process": "Python and PyTorch themselves",
    "weights": "weights",
    "optimiser": "optimiser's states",
    "gradients": "gradients",
    "activations": "activations of one micro-batch",
    "cache": "key-value cache of all episodes",
    "logits": "logits while sampling",
}


def dry_run(settings: Settings, console: Console) -> None:
    """Print what a run with these settings would be.

    Raises:
        SpadeError: it could not begin: the model, the curriculum or this machine does not do.
    """
    sketch, selfplay, seen = _look(settings, console)
    console.print(
        f"model {Path(sketch.name).name}, {len(selfplay.pool)} environments; nothing is trained or written"
    )
    for one in budgets(
        selfplay.schedule,
        settings.selfplay.rounds,
        settings.selfplay.extra_plays,
        seen.lengths,
        settings.selfplay.prompt_tokens,
        settings.grpo.max_completion_length,
    ):
        _print_round(one, settings, console)
    _print_memory(memory(settings, sketch, seen), console)
    _print_prompts(seen, sketch, console)


def estimate(settings: Settings) -> Footprint:
    """Return the memory that one process of such a run takes."""
    sketch, _, seen = _look(settings, Console(quiet=True))
    return memory(settings, sketch, seen)


def _look(settings: Settings, console: Console) -> tuple[Sketch, SelfPlay, Preview]:
    """Read everything that a run would begin with."""
    pool = find_pool(settings.selfplay)
    read = read_sketch(settings.model.model_name_or_path, settings.model.model_revision)
    sketch = replace(read, template=settings.grpo.chat_template_kwargs or {})
    check_model(sketch, settings.selfplay, settings.grpo.max_completion_length, console.print)
    # A folder that is not there: the run's registry begins empty, and nothing is ever written into it.
    folder = RunFolder(Path(settings.selfplay.runs) / (settings.grpo.run_name or "dry_run"))
    selfplay = make_selfplay(settings, folder, list(pool), World(), None)
    return sketch, selfplay, preview(selfplay, sketch)


def memory(settings: Settings, sketch: Sketch, seen: Preview) -> Footprint:
    """Return the memory that one process takes."""
    grpo, options, selfplay = settings.grpo, settings.model, settings.selfplay
    plan = selfplay.plan(grpo.num_generations).plan(0)
    agent = plan.blocks + plan.fillers
    prompt = max(seen.lengths.prompt, seen.lengths.design_prompt)
    dtype = 2.0 if "16" in str(options.dtype or "float32") else 4.0
    load = Load(
        weight_bytes=dtype,
        linear_bytes=0.56 if options.load_in_4bit else 1.0 if options.load_in_8bit else dtype,
        compute_bytes=2 if grpo.bf16 or grpo.fp16 or dtype == 2 else 4,
        optimiser=str(getattr(grpo.optim, "value", grpo.optim)),
        checkpointing=bool(grpo.activation_checkpointing or grpo.gradient_checkpointing),
        micro_rows=grpo.per_device_train_batch_size,
        row_tokens=prompt + grpo.max_completion_length,
        episodes=2 * agent * grpo.num_generations,
        prompts=2 * agent,
        prompt_tokens=prompt,
        frozen_parameters=_frozen(settings, sketch),
        cpu=grpo.use_cpu,
    )
    return footprint(shape(settings, sketch.config), load)


def _frozen(settings: Settings, sketch: Sketch) -> int:
    """Parameters of models beside the one in training: the reference of a KL term, another designer."""
    reference = parameters(sketch.config) if settings.grpo.beta and not settings.model.use_peft else 0
    name = settings.selfplay.designer_model
    return reference + (parameters(read_sketch(name).config) if name else 0)


def _print_round(one: RoundBudget, settings: Settings, console: Console) -> None:
    grpo = settings.grpo
    learns = "a block that is trained on" if one.blocks[0] else "not trained on"
    designs = f"{one.designs}, {learns}" if one.designs else "none"
    blocks = f"{one.episodes // grpo.num_generations} of {grpo.num_generations} episodes without the hint"
    further = f", up to {one.extra} more to narrow regrets" if one.extra else ""
    console.print(f"\n{_numbers(one.rounds)}")
    for name, text in (
        ("designs", designs),
        ("agent's blocks", f"{blocks}; {one.episodes} more with it{further}"),
        ("batch", f"{one.rows} rows in {grpo.gradient_accumulation_steps} micro-batches"),
        ("steps", f"{grpo.num_iterations} of the optimiser"),
        ("tokens sampled", f"at most {one.sampled_most:,}; about {one.sampled_expected:,} expected"),
        ("tokens trained on", f"at most {one.trained_most:,}; about {one.trained_expected:,} expected"),
    ):
        console.print(f"  {name:<18} {text}", markup=False)


def _numbers(rounds: tuple[int, ...]) -> str:
    if len(rounds) == 1:
        return f"Round {rounds[0]}"
    if rounds == tuple(range(rounds[0], rounds[-1] + 1)):
        return f"Each of rounds {rounds[0]} to {rounds[-1]}"
    listed = ", ".join(map(str, rounds[:6])) + (", ..." if len(rounds) > 6 else "")
    return f"Each of rounds {listed} ({len(rounds)})"


def _print_memory(found: Footprint, console: Console) -> None:
    console.print("\nMemory of one process that shares nothing, estimated; allow half more")
    for name, text in _PARTS.items():
        if size := getattr(found, name):
            console.print(f"  {text:<32} {_gigabytes(size)}")
    console.print(f"  {'peak':<32} {_gigabytes(found.peak)}")


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:8.2f} GB"


def _print_prompts(seen: Preview, sketch: Sketch, console: Console) -> None:
    place = f"in {seen.env_id}, seed {seen.seed}"
    for title, text in (
        ("The designer's first prompt", seen.designer),
        (f"An agent's prompt {place}", seen.plain),
        ("The same with the hint", seen.hinted),
    ):
        if text is not None:
            console.print(f"\n--- {title}: {len(sketch.ids(text))} tokens", markup=False)
            console.print(text, markup=False, highlight=False)
