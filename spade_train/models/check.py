"""Whether a model can be trained here, judged by everything but its weights' values.

Weights are gigabytes and take minutes; what is checked here is read in a second: the configuration, the
headers of the weights' files, the tokenizer and its chat template.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spade_envs.errors import UsageError

_CAUSAL = ("ForCausalLM", "LMHeadModel")
_INDEX, _WHOLE = "model.safetensors.index.json", "model.safetensors"
_OTHER_WEIGHTS = ("pytorch_model.bin", "pytorch_model.bin.index.json")


def check_folder(name: str, folder: Path) -> None:
    """Check a saved model's files without transformers.

    Raises:
        UsageError: a file is missing or broken, or the model is no causal language model with a chat template.
    """
    _check_saved(name, folder)
    config = _json(name, folder / "config.json")
    architectures = config.get("architectures") or []
    if architectures and not any(str(one).endswith(_CAUSAL) for one in architectures):
        found = ", ".join(map(str, architectures))
        raise UsageError(
            f"{name}: config.json says {found}, which is no causal language model (an encoder, a vision model, or "
            f"the like). Take one whose architecture ends in {' or '.join(_CAUSAL)}."
        )
    if config.get("is_encoder_decoder"):
        raise UsageError(f"{name}: config.json says is_encoder_decoder; take a decoder-only model.")
    template = folder / "chat_template.jinja"
    if not template.is_file() and "chat_template" not in _text(name, folder / "tokenizer_config.json"):
        raise UsageError(f"{name}: its tokenizer has no chat template; use a chat model.")
    _check_weights(name, folder)


def check_tokenizer(name: str, tokenizer: Any, config: Any, say: Callable[[str], object]) -> None:
    """Check that chats can be written, turns ended and rows padded; ``config`` is the model's.

    A missing pad token is replaced by the end-of-turn token, and ``say`` is told.

    Raises:
        UsageError: it cannot be done.
    """
    from spade_train.playing.chat import Chat

    if tokenizer.chat_template is None:
        raise UsageError(f"{name}: its tokenizer has no chat template; use a chat model.")
    try:
        Chat(tokenizer).between("-")
    except Exception as problem:  # a template is a program: it may raise whatever it likes
        raise UsageError(
            f"{name}: its chat template cannot write a system message and turns: {problem}"
        ) from problem
    if tokenizer.eos_token_id is None:
        raise UsageError(f"{name}: its vocabulary has no end-of-sequence token, so no turn would end.")
    if tokenizer.pad_token_id is None:
        say(f"{name}: its vocabulary lacks a pad token; {tokenizer.eos_token} pads instead (it is masked)")
    rows = getattr(config.get_text_config(), "vocab_size", None)
    if rows is not None and len(tokenizer) > rows:
        raise UsageError(
            f"{name}: its tokenizer has {len(tokenizer)} tokens, its embeddings {rows} rows: "
            "they do not belong together."
        )


def check_lengths(name: str, config: Any, longest: int, upper_layers: int) -> None:
    """Raise :class:`UsageError` where rows are longer than the model reads, or it has fewer layers than asked for.

    Args:
        name: the model.
        config: its configuration.
        longest: tokens of the longest row: prompt and completion.
        upper_layers: how many layers shall be trained.
    """
    text = config.get_text_config()
    reads = getattr(text, "max_position_embeddings", None)
    if reads is not None and longest > reads:
        raise UsageError(
            f"prompt_tokens and max_completion_length make {longest} tokens, and {name} reads {reads}. "
            "Lower one of them."
        )
    if upper_layers > text.num_hidden_layers:
        raise UsageError(f"upper_layers is {upper_layers}, and {name} has {text.num_hidden_layers} layers.")


def _check_saved(name: str, folder: Path) -> None:
    if (folder / "adapter_config.json").is_file() and not (folder / "config.json").is_file():
        base = _json(name, folder / "adapter_config.json").get("base_model_name_or_path", "its base model")
        raise UsageError(f"{name} is an adapter; merge it into {base} and name the merged model.")
    missing = [file for file in ("config.json", "tokenizer_config.json") if not (folder / file).is_file()]
    if missing:
        raise UsageError(f"{name}: {' and '.join(missing)} missing: no saved model.")


def _check_weights(name: str, folder: Path) -> None:
    """Every shard is there and as long as its header says."""
    if (folder / _INDEX).is_file():
        shards = _json(name, folder / _INDEX).get("weight_map")
        if not isinstance(shards, dict) or not shards:
            raise UsageError(f"{name}: {_INDEX} names no weights; save the model anew.")
        for shard in sorted(set(map(str, shards.values()))):
            if not (folder / shard).is_file():
                raise UsageError(f"{name}: {_INDEX} names {shard}, which is missing; fetch it.")
            _check_shard(name, folder / shard)
    elif (folder / _WHOLE).is_file():
        _check_shard(name, folder / _WHOLE)
    elif not any((folder / file).is_file() for file in _OTHER_WEIGHTS):
        raise UsageError(f"{name}: there are no weights (no {_WHOLE}, no {_INDEX}); fetch them.")


def _check_shard(name: str, path: Path) -> None:
    """A file of safetensors is eight bytes of length, a JSON header of that length, and the data."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        size = path.stat().st_size
        try:
            header = json.loads(file.read(length)) if 0 < length < size else {}
            end = max(entry["data_offsets"][1] for key, entry in header.items() if key != "__metadata__")
        except (ValueError, AttributeError, TypeError, KeyError):
            raise UsageError(f"{name}: {path.name} is no file of safetensors; fetch it anew.") from None
    if 8 + length + end != size:
        raise UsageError(
            f"{name}: {path.name} has {size} bytes and should have {8 + length + end}; fetch it anew."
        )


def _json(name: str, path: Path) -> dict[str, Any]:
    try:
        read = json.loads(_text(name, path))
    except ValueError as problem:
        raise UsageError(f"{name}: {path.name} is not JSON: {problem}") from problem
    if not isinstance(read, dict):
        raise UsageError(f"{name}: {path.name} holds no JSON object.")
    return read


def _text(name: str, path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise UsageError(f"{name}: {path.name} cannot be read: {problem}") from problem
