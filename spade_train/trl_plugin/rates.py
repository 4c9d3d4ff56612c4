"""A learning rate of the designer's own, where it has weights of its own: a model or an adapter."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from trl import GRPOTrainer


def scale_learning_rate(
    trainer: GRPOTrainer, parameters: Iterable[torch.nn.Parameter], factor: float
) -> None:
    """Let the trainer's optimiser, when it is made, train these parameters at ``factor`` times its learning rate.

    Advantages that are scaled would not do: Adam divides a gradient by its own size.
    """
    own = {id(parameter) for parameter in parameters}
    create = trainer.create_optimizer

    def create_and_part(*arguments: Any, **options: Any) -> torch.optim.Optimizer:
        new = trainer.optimizer is None
        optimizer: torch.optim.Optimizer = create(*arguments, **options)
        for group in list(optimizer.param_groups) if new else ():
            mine = [one for one in group["params"] if id(one) in own]
            group["params"] = [one for one in group["params"] if id(one) not in own]
            if mine:
                optimizer.add_param_group({**group, "params": mine, "lr": group["lr"] * factor})
        return optimizer

    trainer.create_optimizer = create_and_part
