"""A round on record: every process tells its part, the first one writes all of them."""

from __future__ import annotations

import contextlib
import resource
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spade_train.backends import Spent
from spade_train.diversity import diversity
from spade_train.monitors import Alarm
from spade_train.playing.decoding import Policy
from spade_train.playing.play import Episode
from spade_train.reports import report_of
from spade_train.rewards.advantages import Advantages
from spade_train.rounds import Round
from spade_train.runs.entries import (
    Earned,
    context_entry,
    design_entry,
    earnings,
    environment_entry,
    episode_entry,
    mean,
    play_entry,
    rewards,
    tokens,
)
from spade_train.runs.folder import RunFolder
from spade_train.world import World

ROLES = ("designer", "agent")
LISTS = ("designs", "plays", "episodes", "contexts")


@dataclass(frozen=True)
class Records:
    """Writes what happened into the run's folder."""

    run: RunFolder
    world: World

    def keep(self, played: Round, worth: Advantages, policy: Policy) -> dict[str, Any]:
        """Write a round's designs, plays and sample episodes; return the round's entry so far."""
        parts = self.world.gather(_part(played, worth, policy, self.world.rank))
        if self.world.first:
            for name in LISTS:
                self.run.append(f"{name}.jsonl", [entry for part in parts for entry in part[name]])
            self.run.append("alarms.jsonl", [asdict(alarm) for alarm in played.alarms])
        alarms = [_said(alarm) for alarm in played.alarms]
        stock = asdict(played.stock) if played.stock else None
        told = {"alarms": alarms, "stock": stock, "skipped": played.skipped}
        return {**_joined(played.number, parts), **told}

    def finish(self, entry: dict[str, Any]) -> None:
        """Write the line of ``rounds.jsonl``, with what the process and the folder have grown to."""
        entry |= {"memory_mb": _memory_mb(), "disk_mb": _disk_mb(self.run.path)}
        if self.world.first:
            self.run.append("rounds.jsonl", [entry])

    def failed(self, number: int, attempt: int, problem: Exception) -> None:
        """Note that this machine could not finish a round; where the disk is full, nothing can be noted."""
        fault = {"round": number, "attempt": attempt, "kind": type(problem).__name__, "error": str(problem)}
        with contextlib.suppress(OSError):
            self.run.append("faults.jsonl", [fault])


def measures(entry: dict[str, Any]) -> dict[str, float]:
    """Return what TRL's ``report_to`` shows of a round, beside its own figures."""
    shown = {
        "designer/reward": entry["designer_reward"],
        "designer/admitted": float(len(entry["admitted"])),
        "designer/regret": entry["regret"],
        "designer/ideas": entry["diversity"]["effective_ideas"] if entry["designs"] else None,
        "agent/reward": entry["agent_reward"],
        "agent/success": entry["success"],
        "agent/success_with_hint": entry["hinted_success"],
        "agent/well_formed": mean([one["well_formed"] for one in entry["environments"]]),
    }
    return {name: value for name, value in shown.items() if value is not None}


def _said(alarm: Alarm) -> str:
    about = f" {alarm.env_id}" if alarm.env_id else ""
    return f"{alarm.monitor}{about}: {alarm.what} ({alarm.consequence})"


def _part(played: Round, worth: Advantages, policy: Policy, rank: int) -> dict[str, Any]:
    """What one process tells of its round."""
    number = played.number
    designs, plays = earnings(played, worth.rows)
    paid = iter(plays)
    return {
        "designs": [
            design_entry(design, number, slot, earned)
            for slot, (design, earned) in enumerate(zip(played.designs, designs, strict=True))
        ],
        "plays": [play_entry(one, policy, number, earned) for one, earned in _plays(played, paid)],
        "episodes": [
            episode_entry(one, policy, number)
            for each in played.played
            for one in (each.blocks[0].plain[0], each.blocks[0].hinted[0])
        ],
        "contexts": [context_entry(played, rank)] if _asked(played) else [],
        "environments": [environment_entry(one, _code(one.env_id)) for one in played.played],
        "rewards": {role: rewards(played.rows, role) for role in ROLES},
        "signal": {role: worth.counted.get(role, 0) - worth.flat.get(role, 0) for role in ROLES},
        "tokens": tokens(played),
        "spent": played.spent,
    }


def _asked(played: Round) -> bool:
    """Whether this process has a prompt to tell of: what is designed beside training has one for all processes."""
    return bool(played.designs) and (played.stock is None or bool(played.reasons))


def _joined(number: int, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the round's entry, but for what training adds (loss, gradients, seconds)."""
    designs = [design for part in parts for design in part["designs"]]
    environments = [one for part in parts for one in part["environments"]]
    admitted = {design["env_id"] for design in designs if design["env_id"]}
    # Over the admitted designs: the curriculum's environments are no designer's merit.
    new = [one["regret"] for one in environments if one["env_id"] in admitted and one["regret"]]
    errors = [one["error"] for one in new]
    return {
        "round": number,
        "designs": len(designs),
        "compiled": sum(design["compiled"] for design in designs),
        "admitted": [design["env_id"] for design in designs if design["env_id"]],
        "diversity": diversity(
            [(design["source"], design["report"]) for design in designs if design["source"] is not None]
        ).as_dict(),
        "regret": mean([one["mean"] for one in new]),
        "regret_error": sum(e * e for e in errors) ** 0.5 / len(errors)
        if errors and None not in errors
        else None,
        "success": mean([one["success"] for one in environments]),
        "hinted_success": mean([one["hinted_success"] for one in environments]),
        "designer_reward": mean([r for part in parts for r in part["rewards"]["designer"]]),
        "agent_reward": mean([r for part in parts for r in part["rewards"]["agent"]]),
        "blocks_with_signal": _summed(parts, "signal"),
        "tokens": _summed(parts, "tokens"),
        "backend": _spent([part["spent"] for part in parts]),
        "environments": environments,
    }


def _spent(parts: list[Spent | None]) -> dict[str, Any] | None:
    """What a designer outside took, over all processes."""
    known = [part for part in parts if part is not None]
    return asdict(sum(known, Spent())) if known else None


def _summed(parts: list[dict[str, Any]], key: str) -> dict[str, int]:
    return {name: sum(part[key][name] for part in parts) for name in parts[0][key]}


def _plays(played: Round, paid: Iterator[Earned | None]) -> Iterator[tuple[Episode, Earned | None]]:
    """Yield every play of a round, and what those of the batch earned."""
    for each in played.played:
        for block in each.blocks:
            yield from ((one, next(paid)) for one in block.plain)
            yield from ((one, None) for one in block.hinted)
        for block in each.extra:
            yield from ((one, None) for one in (*block.plain, *block.hinted))
        yield from ((one, None) for one in each.blind)


def _code(env_id: str) -> str | None:
    """The hash of an environment's code."""
    report = report_of(env_id)
    return None if report is None else str(report["code_sha256"])


def _memory_mb() -> dict[str, int]:
    """The most memory that this process, and any of its children that has ended, has used, in MB."""
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    own, children = (
        resource.getrusage(who).ru_maxrss * unit // 2**20
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return {"trainer": own, "children": children}


def _disk_mb(run: Path) -> dict[str, float]:
    """What the run's folder holds, in MB."""
    parts = {"registry": run / "registry", "checkpoints": run / "checkpoints"}
    sizes = {name: _size(path) for name, path in parts.items()}
    records = sum(path.stat().st_size for path in run.glob("*.jsonl"))
    return {name: round(size / 2**20, 1) for name, size in {**sizes, "records": records}.items()}


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
