"""What of TRL's settings self-play decides, and the sizes that follow from the blocks."""

from __future__ import annotations

from collections.abc import Iterable

from spade_envs.errors import UsageError

FIXED = (
    (
        "follows from --num_generations and --per_device_train_batch_size: a batch is one whole round",
        ("gradient_accumulation_steps", "steps_per_generation", "generation_batch_size"),
    ),
    ("follows from --rounds", ("max_steps", "num_train_epochs")),
    ("is one round", ("logging_steps", "logging_strategy")),
    (
        "follows from --save_rounds",
        ("save_strategy", "save_steps", "save_only_model", "load_best_model_at_end"),
    ),
    ("is the run's own folder, below --runs", ("output_dir",)),
    ("is what spade-train resume is for", ("resume_from_checkpoint", "ignore_data_skip")),
    (
        "has nothing to act on: there is no evaluation set",
        ("eval_strategy", "do_eval", "num_generations_eval"),
    ),
    ("would break the order of the blocks, and with it every baseline", ("shuffle_dataset",)),
    (
        "does not reach what samples both roles, turn by turn",
        (
            *("use_transformers_continuous_batching", "cache_implementation", "generation_kwargs"),
            "vllm_structured_outputs_regex",
        ),
    ),
)


def check_fixed(names: Iterable[str]) -> None:
    """Raise :class:`UsageError` for the first setting of TRL's that self-play decides, and say why it does."""
    reasons = {name: reason for reason, fixed in FIXED for name in fixed}
    for name in names:
        if name in reasons:
            raise UsageError(f"{name} {reasons[name]}. Leave it out.")


def micro_batches(group: int, rows: int, size: int) -> int:
    """Return how many micro-batches of ``size`` rows a round's batch of ``rows`` has.

    Raises:
        UsageError: the group is too small for a baseline, or the size does not divide the batch.
    """
    if group < 2:
        raise UsageError(f"num_generations is {group}; a block needs at least 2 rows to have a baseline.")
    if size < 1 or rows % size:
        fits = ", ".join(str(n) for n in range(1, rows + 1) if rows % n == 0)
        raise UsageError(
            f"per_device_train_batch_size ({size}) does not divide a round's {rows} rows "
            f"(blocks of num_generations = {group}). Choose one of {fits}."
        )
    return rows // size
