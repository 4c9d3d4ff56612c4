"""A run's folder. Lines are appended whole; a checkpoint appears whole or not at all.

``runs/<name>/``
    config.json       every setting, the versions, the command
    rounds.jsonl      one line a round: what the table shows, and more
    designs.jsonl     one line a design: reply, source, refusal or id, the report of its admission
    episodes.jsonl    one unhinted and one hinted episode of every block, as text
    registry/         the environments that were admitted
    checkpoint/       the trained model
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spade_envs.errors import UsageError
from spade_train.decoding import Policy
from spade_train.play import Episode
from spade_train.selfplay import Block, Design, Round


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run; :meth:`create` makes it."""

    path: Path

    @classmethod
    def create(cls, runs: Path, name: str | None) -> RunFolder:
        """Make a new folder below ``runs``.

        Raises:
            UsageError: a run of that name exists.
        """
        wanted = name or time.strftime("%Y-%m-%d-%H%M%S")
        for path in [runs / wanted, *([] if name else (runs / f"{wanted}-{i}" for i in range(2, 100)))]:
            try:
                path.mkdir(parents=True)
            except FileExistsError:
                continue
            return cls(path)
        raise UsageError(f"{runs / wanted} exists; choose another --run_name.")

    @property
    def registry(self) -> Path:
        """Where admitted environments go."""
        return self.path / "registry"

    @property
    def checkpoint(self) -> Path:
        """Where the trained model goes."""
        return self.path / "checkpoint"

    def write_config(self, settings: dict[str, Any]) -> None:
        """Keep the settings; what is not JSON is kept as its text."""
        text = json.dumps(settings, indent=2, default=str)
        (self.path / "config.json").write_text(text + "\n")

    def append(self, file: str, entry: dict[str, Any]) -> None:
        """Append one line and see it onto the disk."""
        with (self.path / file).open("a") as lines:
            lines.write(json.dumps(entry, default=str) + "\n")
            lines.flush()
            os.fsync(lines.fileno())

    def save_checkpoint(self, save: Callable[[str], None]) -> Path:
        """Let ``save`` write into a scratch folder, then give it its name."""
        scratch = self.path / ".checkpoint.partial"
        shutil.rmtree(scratch, ignore_errors=True)
        save(str(scratch))
        scratch.rename(self.checkpoint)
        return self.checkpoint


def design_entry(design: Design, number: int, slot: int) -> dict[str, Any]:
    """Return the line of ``designs.jsonl``."""
    kept = asdict(design)
    del kept["prompt_ids"], kept["completion_ids"], kept["mask"]
    own = sum(design.mask)
    return {"round": number, "slot": slot, "tokens": len(design.mask), "sampled": own, **kept}


def episode_entry(episode: Episode, policy: Policy, number: int) -> dict[str, Any]:
    """Return the line of ``episodes.jsonl``: the episode as the model read and wrote it."""
    return {
        "round": number,
        **asdict(episode.task),
        "prompt": policy.tokenizer.decode(episode.prompt_ids),
        "completion": policy.tokenizer.decode(episode.completion_ids),
        "return": episode.return_,
        "success": episode.success,
        "well_formed": episode.well_formed,
        "turns": episode.turns,
        "end": episode.end,
    }


def block_entry(block: Block) -> dict[str, Any]:
    """Return one block's measures."""
    ends = [one.end for one in (*block.plain, *block.hinted)]
    return {
        "env_id": block.env_id,
        "seed": block.seed,
        "success": block.success,
        "hinted_success": block.hinted_success,
        "regret": block.regret.mean if block.regret else None,
        "regret_error": block.regret.error if block.regret else None,
        "well_formed": _mean([one.well_formed for one in block.plain if one.counts]),
        "faults": ends.count("fault"),
        "ends": {end: ends.count(end) for end in sorted(set(ends))},
    }


def round_entry(played: Round, group: int) -> dict[str, Any]:
    """Return the line of ``rounds.jsonl``, but for what training adds (loss, gradients, seconds)."""
    blocks = [block_entry(block) for block in played.blocks]
    new = [entry for entry, design in zip(blocks, played.designs, strict=True) if design.env_id]
    errors = [entry["regret_error"] for entry in new]
    rewards = [row.reward for row in played.rows]
    spread = [_spread(rewards[at : at + group]) for at in range(0, len(rewards), group)]
    return {
        "round": played.number,
        "designs": len(played.designs),
        "compiled": sum(design.compiled for design in played.designs),
        "admitted": [design.env_id for design in played.designs if design.env_id],
        # Over the admitted designs: the curriculum's environments are no designer's merit.
        "regret": _mean([entry["regret"] for entry in new]),
        "regret_error": sum(e * e for e in errors) ** 0.5 / len(errors)
        if errors and None not in errors
        else None,
        "success": _mean([entry["success"] for entry in blocks]),
        "hinted_success": _mean([entry["hinted_success"] for entry in blocks]),
        "designer_reward": _mean(rewards[:group]),
        "agent_reward": _mean(rewards[group:]),
        "blocks_with_signal": {"designer": int(spread[0]), "agent": sum(spread[1:])},
        "blocks": blocks,
    }


def _mean(values: list[Any]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _spread(rewards: list[float | None]) -> bool:
    """Whether a block's rewards differ, so that GRPO learns from it."""
    return len({reward for reward in rewards if reward is not None}) > 1
