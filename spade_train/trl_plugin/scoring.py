"""Score the tokens that are trained on and no others, on a CPU, too.

TRL projects a row's completion through the head, and on devices without Triton its prompt as well, whose scores it
throws away: with a vocabulary of 49,152 and prompts ten times as long as what was sampled, most of a step. What it
leaves out on a GPU can be left out on a CPU as well; where every shape is compiled anew (Neuron) it cannot.
"""

from __future__ import annotations

import torch
from trl.trainer import utils

_as_on_gpu = utils._use_triton


def _leaves_prompts_out(device: torch.device) -> bool:
    """Whether positions without a label are taken out before the head; ``add_fused_lm_head`` asks nothing else."""
    return device.type == "cpu" or bool(_as_on_gpu(device))


def score_completions_only() -> None:
    """Let every head that TRL has fused, or will fuse, leave prompts out."""
    utils._use_triton = _leaves_prompts_out
