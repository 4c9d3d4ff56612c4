"""One adapter for each role over one frozen model: rows of a micro-batch go through the adapter of their role.

TRL knows one trainable adapter, ``default``: here it is the agent's. The designer's stands beside it; both are
trained by one optimiser, and a checkpoint holds both (the designer's in the folder ``designer``).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from peft.tuners.tuners_utils import BaseTunerLayer

NAMES = {"agent": "default", "designer": "designer"}


class RoleAdapters:
    """Adds the designer's adapter to a PEFT model and sends each row through its own.

    Args:
        model: TRL's PEFT model, with the adapter ``default``.
        backbone: the module below the language model's head.
        role: given a row's token ids without padding, whose row it is.
    """

    def __init__(self, model: Any, backbone: torch.nn.Module, role: Callable[[Sequence[int]], str]) -> None:
        self._role = role
        model.add_adapter(NAMES["designer"], model.peft_config[NAMES["agent"]])
        self._layers = [module for module in model.modules() if isinstance(module, BaseTunerLayer)]
        self._trained = [p for name, p in model.named_parameters() if "lora_" in name]
        self._forward = backbone.forward
        backbone.forward = self._routed
        set_adapter = model.set_adapter

        def set_and_train_both(*arguments: Any, **options: Any) -> None:
            set_adapter(*arguments, **options)  # resuming ends with this call, and it freezes all but one
            self._train_both()

        model.set_adapter = set_and_train_both
        self._train_both()

    def use(self, role: str) -> None:
        """Let whatever is computed next go through this role's adapter."""
        for layer in self._layers:
            layer._active_adapter = NAMES[role]  # set_adapter would freeze the other one

    def _train_both(self) -> None:
        for parameter in self._trained:
            parameter.requires_grad_(True)

    def _routed(self, *arguments: Any, **options: Any) -> Any:
        """The backbone's forward pass; while sampling, :meth:`use` has chosen the adapter."""
        if arguments or options.get("use_cache", True) or options.get("attention_mask") is None:
            return self._forward(*arguments, **options)
        rows = zip(options["input_ids"], options["attention_mask"], strict=True)
        roles = [self._role(ids[mask.bool()].tolist()) for ids, mask in rows]
        output, states = None, None
        for role in sorted(set(roles)):
            self.use(role)
            index = torch.tensor([n for n, one in enumerate(roles) if one == role], device=_device(options))
            output = self._forward(**_rows(options, index))
            part = output.last_hidden_state
            states = part.new_zeros(len(roles), *part.shape[1:]) if states is None else states
            states = states.index_copy(0, index, part)
        assert output is not None  # a micro-batch has a row
        output.last_hidden_state = states
        return output


def _rows(options: dict[str, Any], index: torch.Tensor) -> dict[str, Any]:
    cut = {name: options[name][index] for name in ("input_ids", "attention_mask")}
    return options | cut


def _device(options: dict[str, Any]) -> torch.device:
    device: torch.device = options["input_ids"].device
    return device
