"""Leave out what is padding in every row of a micro-batch: exact, and on a CPU a third of a round's time.

TRL pads a whole generation batch to its longest prompt and its longest completion before it is split. The two roles'
rows differ much in length, so most micro-batches hold columns that no row uses.
"""

from __future__ import annotations

from typing import Any

import torch


def skip_padding(backbone: torch.nn.Module) -> None:
    """Let the module below the language model's head compute used columns only; the others' states are zero.

    Positions move together with their tokens, which rotary embeddings do not notice. Sampling is left alone.
    """
    used: list[torch.Tensor] = []

    def narrow(_: Any, inputs: tuple[Any, ...], options: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        mask = options.get("attention_mask")
        if options.get("use_cache", True) or mask is None or "position_ids" in options:
            return inputs, options
        used[:] = [mask.any(0)]
        cut = {name: options[name][:, used[0]] for name in ("input_ids", "attention_mask")}
        return inputs, options | cut

    def widen(_: Any, __: tuple[Any, ...], output: Any) -> Any:
        if used:
            columns, narrow_states = used.pop(), output.last_hidden_state
            rows, _, size = narrow_states.shape
            states = narrow_states.new_zeros(rows, len(columns), size)
            states[:, columns] = narrow_states
            output.last_hidden_state = states
        return output

    backbone.register_forward_pre_hook(narrow, with_kwargs=True)
    backbone.register_forward_hook(widen)
