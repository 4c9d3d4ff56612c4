"""Values that no run can have: of another kind than the setting's, out of range, without effect, contradictory."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Mapping
from typing import Any

from spade_envs.errors import UsageError
from spade_train.flags import Words

_POSITIVE = (
    "temperature",  # at 0 all plays of a block are alike, and GRPO learns from differences alone
    *("epsilon", "epsilon_high", "adam_epsilon", "repetition_penalty", "top_p"),
)
_NOT_NEGATIVE = (
    "learning_rate",
    "warm_up_learning_rate",
    "beta",
    "weight_decay",
    "max_grad_norm",
    "warmup_steps",
    "seed",
)
_AT_LEAST_ONE = (
    *("rounds", "seeds", "designer_every", "max_completion_length", "num_iterations"),
    *("save_total_limit", "lora_r", "lora_alpha"),
)
_BELOW_ONE = ("adam_beta1", "adam_beta2", "lora_dropout")


def check_preset(said: Words, actions: Iterable[argparse.Action]) -> None:
    """Raise :class:`UsageError` for the first value of a preset that its flag would not take.

    Flags are checked by argparse, which takes a file's values as they are.
    """
    known: dict[str, argparse.Action] = {}
    for action in actions:
        known.setdefault(action.dest, action)  # before its --no_ twin
    for name, value in said.preset.items():
        action = known[name]
        place = said.places.get(name, said.path)
        if action.nargs == "+" and isinstance(value, str):  # it would be read letter by letter
            raise UsageError(f"{place}: {name} is {value!r}; it must be a list, such as [{value}].")
        for one in value if isinstance(value, list) else [value]:
            if one is not None and (wanted := _wanted(action, one)):
                raise UsageError(f"{place}: {name} is {one!r}; it must be {wanted}.")


_LOSSES = ("grpo", "bnpo", "dr_grpo", "dapo", "cispo", "luspo", "sapo", "vespo")


def check_values(values: Mapping[str, Any]) -> None:
    """Raise :class:`UsageError` for the first value that is out of range, or no finite number."""
    if values["loss_type"] not in _LOSSES:  # TRL notices when the first loss is due
        raise UsageError(f"loss_type is {values['loss_type']}; it must be one of {', '.join(_LOSSES)}.")
    for name, value in values.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            _check_number(name, value)


def check_effects(said: Words, values: Mapping[str, Any]) -> None:
    """Raise :class:`UsageError` where settings contradict each other, or one of them is without effect."""
    if values["use_peft"] and values["upper_layers"]:
        raise UsageError(
            "upper_layers and use_peft contradict each other: adapters freeze all layers. Add --upper_layers 0."
        )
    quantised = values["load_in_4bit"] or values["load_in_8bit"]
    if quantised and not values["use_peft"]:
        raise UsageError(
            "load_in_4bit and load_in_8bit freeze the weights; add --use_peft to train adapters."
        )
    if values["corpus"] and not values["use_corpus"]:
        raise UsageError("use_corpus false contradicts corpus, which names documents. Leave one of them out.")
    lora = [name for place, name in said.names() if place == "--" and name.startswith("lora_")]
    if lora and not values["use_peft"]:
        raise UsageError(f"{lora[0]} has no effect without use_peft. Add --use_peft, or leave it out.")


def _wanted(action: argparse.Action, value: Any) -> str:
    """What a setting's values must be, where this one is not; otherwise nothing."""
    if action.choices and value not in action.choices and str(value) not in map(str, action.choices):
        return f"one of {', '.join(map(str, action.choices))}"
    if action.type is int and type(value) is not int:
        return "a whole number"
    if action.type is float and not _is_number(value):  # YAML takes 1e-5 for a text
        return "a number"
    if getattr(action.type, "__name__", "") == "string_to_bool" and not isinstance(value, bool):
        return "true or false"
    return ""


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)


def _check_number(name: str, value: float) -> None:
    if not math.isfinite(value):
        raise UsageError(f"{name} is {value}; it must be a finite number.")
    if name in _POSITIVE and value <= 0:
        raise UsageError(f"{name} is {value}; it must be greater than 0.")
    if name in _NOT_NEGATIVE and value < 0:
        raise UsageError(f"{name} is {value}; it must not be negative.")
    if name in _AT_LEAST_ONE and value < 1:
        raise UsageError(f"{name} is {value}; it must be at least 1.")
    if name in ("top_p", "min_p") and value > 1:
        raise UsageError(f"{name} is {value}; it must be at most 1.")
    if name in _BELOW_ONE and not 0 <= value < 1:
        raise UsageError(f"{name} is {value}; it must lie in [0, 1).")
