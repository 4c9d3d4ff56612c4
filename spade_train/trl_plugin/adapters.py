"""One adapter for each role over one frozen model: rows of a micro-batch go through the adapter of their role.

TRL knows one trainable adapter, ``default``: here it is the agent's. The designer's stands beside it; both are
trained by one optimiser, and a checkpoint holds both (the designer's in the folder ``designer``).
"""

from __future__ import annotations

from typing import Any

import torch
from peft.tuners.tuners_utils import BaseTunerLayer

from spade_train.trl_plugin.rows import Owner, by_role, joined, only

NAMES = {"agent": "default", "designer": "designer"}


class RoleAdapters:
    """Adds the designer's adapter to a PEFT model and sends each row through its own.

    Args:
        model: TRL's PEFT model, with the adapter ``default``.
        backbone: the module below the language model's head.
        role: whose a row is.

    Attributes:
        designer: the parameters of the designer's adapter.
    """

    def __init__(self, model: Any, backbone: torch.nn.Module, role: Owner) -> None:
        self._role = role
        model.add_adapter(NAMES["designer"], model.peft_config[NAMES["agent"]])
        self._layers = [module for module in model.modules() if isinstance(module, BaseTunerLayer)]
        named = [(name, p) for name, p in model.named_parameters() if "lora_" in name]
        self._trained = [p for _, p in named]
        self.designer = [p for name, p in named if f".{NAMES['designer']}." in name]
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
        output, parts = None, []
        for role, index in by_role(options, self._role).items():
            self.use(role)
            output = self._forward(**only(options, index))
            parts.append((index, output.last_hidden_state))
        assert output is not None  # a micro-batch has a row
        output.last_hidden_state = joined(parts)
        return output
