"""``--dry_run``: the plan, the tokens, the memory and the first prompts of a run. Nothing is trained or written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from spade_train.models.budget import Measured, RoundBudget, budgets
from spade_train.models.footprint import Footprint, Load, footprint
from spade_train.models.preview import Preview, preview
from spade_train.models.sketch import Sketch, check_model, read_sketch
from spade_train.parts import check_weights, find_pool, make_corpus, make_selfplay
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
    "scores": "its logits, a tile at a time",
    "cache": "key-value cache of all episodes",
    "logits": "logits while sampling",
}


@dataclass(frozen=True)
class Look:
    """Everything that a run would begin with.

    Attributes:
        designer: the designer's own model, where it has one.
    """

    agent: Sketch
    designer: Sketch | None
    selfplay: SelfPlay
    seen: Preview


def dry_run(settings: Settings, console: Console) -> None:
    """Print what a run with these settings would be.

    Raises:
        SpadeError: it could not begin: the model, the curriculum or this machine does not do.
    """
    look = _look(settings, console)
    console.print(
        f"model {_models(settings, look)}, {len(look.selfplay.pool)} environments; nothing is trained or written",
        markup=False,
    )
    for one in budgets(
        look.selfplay.schedule,
        settings.selfplay.rounds,
        Measured(settings.selfplay.extra_plays, settings.selfplay.blind_plays),
        look.seen.lengths,
        settings.selfplay.prompt_tokens,
        settings.grpo.max_completion_length,
    ):
        _print_round(one, settings, console)
    _print_memory(memory(settings, look), console)
    _print_prompts(look, console)


def estimate(settings: Settings) -> Footprint:
    """Return the memory that one process of such a run takes."""
    return memory(settings, _look(settings, Console(quiet=True)))


def _look(settings: Settings, console: Console) -> Look:
    own, grpo = settings.selfplay, settings.grpo
    pool = find_pool(own)
    check_weights(own)
    read = read_sketch(settings.model.model_name_or_path, settings.model.model_revision)
    agent = replace(read, template=grpo.chat_template_kwargs or {})
    check_model(agent, own, grpo.max_completion_length, console.print)
    designer = None
    if own.designer_model is not None:
        designer = replace(read_sketch(own.designer_model, setting="designer_model"), template=agent.template)
        check_model(designer, own, grpo.max_completion_length, console.print)
    elif own.designer_folder is not None:
        designer = read_sketch(own.designer_folder, setting="designer_backend")
    # A folder that is not there: the run's registry begins empty, and nothing is ever written into it.
    folder = RunFolder(Path(own.runs) / (grpo.run_name or "dry_run"))
    selfplay = make_selfplay(settings, folder, list(pool), make_corpus(own, console.print), World(), None)
    return Look(agent, designer, selfplay, preview(selfplay, agent, designer or agent))


def _models(settings: Settings, look: Look) -> str:
    """Say which model plays, and which designs where that is another."""
    name = Path(look.agent.name).name
    if outside := look.selfplay.workshop.outside:
        return f"{name}, designer {outside.backend.name} (which does not learn)"
    if look.designer is None:
        return name
    learns = "which learns, too" if settings.selfplay.trains_two_models else "which does not learn"
    return f"{name}, designer {Path(look.designer.name).name} ({learns})"


def memory(settings: Settings, look: Look) -> Footprint:
    """Return the memory that one process takes."""
    load = _load(settings, look)
    whole = footprint(shape(settings, look.agent.config), load)
    if look.designer is None or not settings.selfplay.trains_two_models:
        return whole
    return whole.beside(footprint(shape(settings, look.designer.config), replace(load, frozen_parameters=0)))


def _load(settings: Settings, look: Look) -> Load:
    grpo, options, selfplay = settings.grpo, settings.model, settings.selfplay
    plan = selfplay.plan(grpo.num_generations).plan(0)
    agent = plan.blocks + plan.fillers
    prompt = max(look.seen.lengths.prompt, look.seen.lengths.design_prompt)
    dtype = 2.0 if "16" in str(options.dtype or "float32") else 4.0
    return Load(
        weight_bytes=dtype,
        linear_bytes=0.56 if options.load_in_4bit else 1.0 if options.load_in_8bit else dtype,
        compute_bytes=2 if grpo.bf16 or grpo.fp16 or dtype == 2 else 4,
        optimiser=str(getattr(grpo.optim, "value", grpo.optim)),
        checkpointing=bool(grpo.gradient_checkpointing),
        micro_rows=grpo.per_device_train_batch_size,
        row_tokens=prompt + grpo.max_completion_length,
        scored_tokens=grpo.max_completion_length,
        episodes=2 * agent * grpo.num_generations,
        prompts=2 * agent,
        prompt_tokens=prompt,
        frozen_parameters=_frozen(settings, look),
        cpu=grpo.use_cpu,
    )


def _frozen(settings: Settings, look: Look) -> int:
    """Parameters of models that are never trained: the reference of a KL term, another designer."""
    reference = parameters(look.agent.config) if settings.grpo.beta and not settings.model.use_peft else 0
    frozen = look.designer if not settings.selfplay.trains_two_models else None
    return reference + (parameters(frozen.config) if frozen else 0)


def _print_round(one: RoundBudget, settings: Settings, console: Console) -> None:
    grpo = settings.grpo
    learns = "a block that is trained on" if one.blocks[0] else "not trained on"
    designs = f"{one.designs}, {learns}" if one.designs else "none"
    blocks = f"{one.episodes // grpo.num_generations} of {grpo.num_generations} episodes without the hint"
    further = f", up to {one.extra} more to measure" if one.extra else ""
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
    console.print("\nMemory of one process that shares nothing, estimated; allow a tenth more")
    for name, text in _PARTS.items():
        if size := getattr(found, name):
            console.print(f"  {text:<32} {_gigabytes(size)}")
    console.print(f"  {'peak':<32} {_gigabytes(found.peak)}")


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:8.2f} GB"


def _print_prompts(look: Look, console: Console) -> None:
    seen = look.seen
    place = f"in {seen.env_id}, seed {seen.seed}"
    for title, text, sketch in (
        ("The designer's first prompt", seen.designer, look.designer or look.agent),
        (f"An agent's prompt {place}", seen.plain, look.agent),
        ("The same with the hint", seen.hinted, look.agent),
    ):
        if text is not None:
            console.print(f"\n--- {title}: {len(sketch.ids(text))} tokens", markup=False)
            console.print(text, markup=False, highlight=False)
