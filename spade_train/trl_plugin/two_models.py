"""A model for each role, both in training: rows of a micro-batch go through the model of their role.

TRL trains one model, the agent's. The designer's hangs below it as a module: so one optimiser has the parameters of
both, and devices, precision, clipping and several processes take both for one. A checkpoint holds the agent's where
TRL looks for it and the designer's, with its tokenizer, in the folder ``designer``.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from trl.trainer.utils import add_fused_lm_head

from spade_train.playing.decoding import Policy
from spade_train.trl_plugin.rows import Owner, by_role, joined, only

FOLDER = "designer"
"""Of a checkpoint; and the name of the designer's model below the agent's."""

_SCORES = ("log_probs", "entropy")


class TwoModels:
    """Hangs the designer's model below the agent's and sends each row through its own.

    Args:
        agent: the model that TRL trains.
        designer: the designer's, as a policy: its model is trained, its tokenizer saved with it.
        role: whose a row is.
        exact_head: TRL's ``cast_lm_head_to_fp32``.
    """

    def __init__(self, agent: Any, designer: Policy, role: Owner, *, exact_head: bool = False) -> None:
        self._role, self._designer = role, designer
        add_fused_lm_head(
            designer.model,
            temperature=designer.temperature,  # tokens are scored as they were sampled
            cast_lm_head_to_fp32=exact_head,
            outputs=_SCORES,
        )
        self._forward, self._save, self._agent = agent.forward, agent.save_pretrained, agent
        agent.add_module(FOLDER, designer.model)
        agent.forward, agent.save_pretrained = self._routed, self._save_both

    def _routed(self, *arguments: Any, **options: Any) -> Any:
        """TRL's scoring pass, row by row; whatever else is computed goes through the agent's model."""
        if not options.get("fused_lm_head"):
            return self._forward(*arguments, **options)
        output: Any = None
        parts = []
        for role, index in by_role(options, self._role).items():
            output = self._scored(role, only(options, index))
            parts.append((index, output))
        for name in _SCORES:
            found = [(index, getattr(part, name)) for index, part in parts]
            if found[0][1] is not None:
                setattr(output, name, joined(found))
        return output

    def _scored(self, role: str, inputs: dict[str, Any]) -> Any:
        if role == "agent":
            return self._forward(**inputs)
        # Padding is the agent's token: the designer's vocabulary may not reach so far.
        ids = inputs["input_ids"].masked_fill(inputs["attention_mask"] == 0, 0)
        return self._designer.model(**{**inputs, "input_ids": ids})

    def _save_both(
        self, folder: Any, *, state_dict: Mapping[str, torch.Tensor] | None = None, **options: Any
    ) -> None:
        whole = self._agent.state_dict() if state_dict is None else state_dict
        mark = f"{FOLDER}."
        own = {name: tensor for name, tensor in whole.items() if not name.startswith(mark)}
        other = {name.removeprefix(mark): tensor for name, tensor in whole.items() if name.startswith(mark)}
        self._save(folder, state_dict=own, **options)
        self._designer.model.save_pretrained(Path(folder) / FOLDER, state_dict=other, **options)
        self._designer.tokenizer.save_pretrained(Path(folder) / FOLDER)
