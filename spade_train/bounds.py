"""Settings of the trainer's own that are out of range, or contradict each other."""

from __future__ import annotations

from spade_envs.errors import UsageError
from spade_train.backends import parse_address
from spade_train.config import SelfPlayConfig

_LEAST = (
    *(("rounds", 1), ("turn_tokens", 1), ("prompt_tokens", 16), ("upper_layers", 0)),
    *(
        ("token_budget", 0),
        ("designer_every", 1),
        ("designer_window", 64),
        ("max_repairs", 0),
        ("seeds", 1),
        ("extra_plays", 0),
        ("blind_plays", 0),
        ("admission_jobs", 0),
        ("save_rounds", 0),
        ("round_retries", 0),
        ("pool_size", 0),
        ("evaluate_rounds", 0),
        ("evaluate_items", 1),
        ("evaluate_plays", 1),
        ("memory_size", 2),
        ("warm_up_steps", 0),
        ("designer_tokens", 1),
        ("designer_together", 1),
        ("designer_parallel", 1),
        ("designer_seconds", 1),
        ("designer_ahead", 0),
    ),
)


def check_settings(config: SelfPlayConfig, completion_tokens: int) -> None:
    """Raise :class:`UsageError` for the first setting that is out of range.

    Args:
        completion_tokens: TRL's ``max_completion_length``: the most that may follow a prompt.
    """
    for name, least in _LEAST:
        if getattr(config, name) < least:
            raise UsageError(f"{name} is {getattr(config, name)}; it must be at least {least}.")
    for name in ("format_reward", "efficiency_reward", "exploration_reward"):
        if not 0 <= getattr(config, name) < 1:
            raise UsageError(
                f"{name} is {getattr(config, name)}; it must lie in [0, 1), below what success earns."
            )
    _check_roles(config)
    _check_backend(config)
    config.rules()
    config.shares()
    if config.turn_tokens > completion_tokens:
        raise UsageError(
            f"turn_tokens ({config.turn_tokens}) exceeds max_completion_length ({completion_tokens}), "
            "which bounds a whole episode."
        )


def _check_roles(config: SelfPlayConfig) -> None:
    """Raise :class:`UsageError` where the settings of the two roles contradict each other."""
    if config.designer_model and config.role_adapters:
        raise UsageError(
            "role_adapters and designer_model contradict each other: the designer is an adapter or a model."
        )
    if config.designer == "none" and config.schedule == "agent_frozen":
        raise UsageError("designer: none and schedule: agent_frozen leave nobody who learns.")
    if config.designer == "grow" and config.designer_ahead:
        raise UsageError(
            "designer: grow and designer_ahead contradict each other: what is ordered is written in one way."
        )
    if config.designer == "none" and config.designer_model:
        raise UsageError("designer: none leaves designer_model without work. Set one of them.")
    if not 0 <= config.designer_scale < float("inf"):
        raise UsageError(f"designer_scale is {config.designer_scale}; it must be finite and not negative.")
    if not config.regret_width > 0:
        raise UsageError(f"regret_width is {config.regret_width}; it must be positive.")
    if config.designer_temperature is not None and not config.designer_temperature > 0:
        raise UsageError(f"designer_temperature is {config.designer_temperature}; it must be positive.")


def _check_backend(config: SelfPlayConfig) -> None:
    """Raise :class:`UsageError` where a designer that is not trained here is named wrongly, or contradicted."""
    if config.designer_backend is None:
        for name in ("designer_price", "designer_ahead"):
            if getattr(config, name):
                raise UsageError(f"{name} has no effect without designer_backend. Name one, or leave it out.")
        return
    address = parse_address(config.designer_backend)
    for name, value in (("designer_model", config.designer_model), ("role_adapters", config.role_adapters)):
        if value:
            raise UsageError(f"{name} and designer_backend contradict each other. Set one of them.")
    if config.designer == "none":
        raise UsageError("designer: none leaves designer_backend without work. Set one of them.")
    if config.schedule != "designer_frozen":
        raise UsageError(
            f"schedule {config.schedule} lets the designer learn, and designer_backend cannot. "
            "Set schedule: designer_frozen."
        )
    if address.kind == "folder":
        _check_files(config)
    config.backend_options()


def _check_files(config: SelfPlayConfig) -> None:
    """Raise :class:`UsageError` for what cannot wait for replies that come as files."""
    if not config.designer_ahead:
        raise UsageError(
            "designer_backend folder: its replies come later than a round can wait for. Set designer_ahead: 1."
        )
    for name, value in (("designer", "two_stage"), ("hints", "reader")):
        if getattr(config, name) == value:
            raise UsageError(
                f"{name} {value} asks twice, and designer_backend folder answers too late for that. "
                f"Set another {name}."
            )
