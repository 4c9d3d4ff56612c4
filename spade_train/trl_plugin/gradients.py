"""How much gradient each role sends into the model: real, and nearly free.

Roles are mixed within a micro-batch and their gradients add up in the weights, so a norm by role cannot be
read off the weights. At the last hidden state they are still apart, row by row; there the norm is taken.
"""

from __future__ import annotations

from typing import Any

import torch

from spade_train.trl_plugin.rows import Owner, roles


class RoleGradients:
    """Sums the squared gradient at the last hidden state over all backward passes of a round.

    Args:
        role: whose a row is.
        backbones: the modules below the language models' heads: one, or one for each role.
    """

    def __init__(self, role: Owner, *backbones: torch.nn.Module) -> None:
        self._role = role
        self._squares: dict[str, float] = {}
        for backbone in backbones:
            backbone.register_forward_hook(self._after_forward, with_kwargs=True)

    def take(self) -> dict[str, float]:
        """Return the norm by role since the last call, and start anew."""
        norms = {role: square**0.5 for role, square in self._squares.items()}
        self._squares = {}
        return norms

    def _after_forward(self, _: Any, __: Any, inputs: dict[str, Any], output: Any) -> None:
        hidden = output.last_hidden_state
        if not hidden.requires_grad:
            return  # sampling
        owners = roles(inputs, self._role)

        def add(gradient: torch.Tensor) -> None:
            squares = gradient.detach().float().pow(2).sum(dim=(1, 2)).tolist()
            for role, square in zip(owners, squares, strict=True):
                self._squares[role] = self._squares.get(role, 0.0) + square

        hidden.register_hook(add)
