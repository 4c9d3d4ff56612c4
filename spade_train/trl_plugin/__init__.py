"""The only room that imports TRL: its flags, and what is plugged into its ``GRPOTrainer``.

How a round becomes a batch of TRL's: the data set holds one row for each block, in order; TRL repeats each G
times, so one generation batch is one round of each process, and takes its baselines over consecutive groups of G
rows, which are the blocks. The rollout function sees the rows' text only, so a row's text is its task.
"""

from __future__ import annotations

from spade_train.trl_plugin.rollout import sampling
from spade_train.trl_plugin.settings import Settings, known_settings, parser, settings
from spade_train.trl_plugin.training import Start, train, world

__all__ = ["Settings", "Start", "known_settings", "parser", "sampling", "settings", "train", "world"]
