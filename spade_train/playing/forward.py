"""One pass of the model over rows of a :class:`~spade_train.playing.cache.SlotCache`, each at its own length."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from spade_envs.errors import UsageError
from spade_train.playing.cache import Aim, SlotCache

_KNOWN = {"full_attention", "sliding_attention"}


class Forward:
    """A model and the cache of its conversations.

    Raises:
        UsageError: the model has layers that remember otherwise than by keys and values.
    """

    def __init__(self, model: Any) -> None:
        self._model = model
        self._config = model.config.get_text_config(decoder=True)
        self._kinds = set(getattr(self._config, "layer_types", None) or ())
        if self._kinds - _KNOWN:
            raise UsageError(
                f"{type(model).__name__} has layers of the kind {', '.join(sorted(self._kinds - _KNOWN))}, which"
                " the trainer's own decoder cannot sample from. Use a model with plain or sliding attention."
            )
        self.cache = SlotCache(self._config.num_hidden_layers)
        self._cache_word = _cache_word(model)

    @torch.no_grad()  # whoever samples learns nothing from it; kept gradients would fill the memory
    def __call__(
        self, slots: Sequence[int], room: int, tokens: Sequence[Sequence[int]], read: Sequence[int]
    ) -> torch.Tensor:
        """Read new tokens; return the float32 logits (rows, vocabulary) after each row's last one.

        Args:
            slots: of the rows.
            room: how many slots are in use.
            tokens: what each row reads, one at least.
            read: how many each has in the cache already.
        """
        width, device = max(map(len, tokens)), self._model.device
        pads = [width - len(row) for row in tokens]
        ids = [[0] * pad + list(row) for pad, row in zip(pads, tokens, strict=True)]
        starts = torch.tensor([at - pad for at, pad in zip(read, pads, strict=True)], device=device)
        columns = starts[:, None] + torch.arange(width, device=device)
        real = torch.arange(width, device=device) >= torch.tensor(pads, device=device)[:, None]
        seen = max(at + len(row) for at, row in zip(read, tokens, strict=True))
        whole = list(slots) == list(range(room))
        self.cache.aim(
            Aim(None if whole else torch.tensor(slots, device=device), columns.where(real, -1), seen, room)
        )
        columns = columns.where(real, 0)
        with _masked_attention(self._config):
            logits = self._model(
                input_ids=torch.tensor(ids, device=device),
                attention_mask=self._mask(columns, seen),
                position_ids=columns,
                use_cache=True,
                logits_to_keep=1,
                **{self._cache_word: self.cache},
            ).logits
        last: torch.Tensor = logits[:, -1].float()
        return last

    def _mask(self, columns: torch.Tensor, seen: int) -> Any:
        """What each token sees: its own row, up to itself; within the window where a layer has one."""
        behind = columns[:, None, :, None] - torch.arange(seen, device=columns.device)
        full = behind >= 0
        window = getattr(self._config, "sliding_window", None)
        masks = {"full_attention": full, "sliding_attention": full & (behind < window) if window else full}
        if self._config._attn_implementation == "eager":
            masks = {kind: _additive(mask, self._model.dtype) for kind, mask in masks.items()}
        if len(self._kinds) > 1:
            return {kind: masks[kind] for kind in self._kinds}
        only = next(iter(self._kinds), "sliding_attention" if window else "full_attention")
        return masks[only]


def _cache_word(model: Any) -> str:
    """Return the name that this transformers gives the cache: an older one would take the new name and pass it on."""
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    return "cache" if "cache" in inspect.signature(type(base).forward).parameters else "past_key_values"


@contextmanager
def _masked_attention(config: Any) -> Iterator[None]:
    """Flash kernels take no mask of this form; sampling goes through PyTorch's own attention instead."""
    chosen = config._attn_implementation
    if chosen in ("eager", "sdpa"):
        yield
        return
    config._attn_implementation = "sdpa"
    try:
        yield
    finally:
        config._attn_implementation = chosen


def _additive(mask: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    return torch.zeros_like(mask, dtype=dtype).masked_fill(~mask, torch.finfo(dtype).min)
