"""Runs that never were: records as a run leaves them, of a run that is well or that one subsystem holds back."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spade_train.runs.folder import RunFolder

GIVEN = ("spade/Alpha-v0", "spade/Beta-v0")


@dataclass(frozen=True)
class Story:
    """How a run goes.

    Attributes:
        compiles, runs, admits: shares of the designs that come through each stage.
        begins: between which rates an environment's success begins.
        learns: by how much it rises with each block.
        chooses: what the curriculum draws from: everything, or the oldest ones.
        held_out: by how much held-out success changes over the run.
        forgets: share of its history that is forgotten at the end.
        hint: by how much the hint helps.
        same: whether all plays of a block come to the same.
    """

    rounds: int = 36
    compiles: float = 0.97
    runs: float = 0.97
    admits: float = 0.8
    begins: tuple[float, float] = (0.2, 0.5)
    learns: float = 0.07
    chooses: str = "all"
    held_out: float = 0.2
    forgets: float = 0.0
    hint: float = 0.25
    same: bool = False


HEALTHY = Story()


@dataclass
class Pool:
    """What may be played: environment -> success now."""

    rates: dict[str, float] = field(default_factory=dict)

    def choice(self, rng: random.Random, story: Story) -> str:
        open_ = [name for name, rate in self.rates.items() if rate < 0.9] or list(self.rates)
        return rng.choice(open_[:4] if story.chooses == "old" else open_)


def tell(folder: Path, story: Story, seed: int = 0) -> RunFolder:
    """Write a whole run."""
    run = RunFolder.create(folder.parent, folder.name)
    run.write_config(config(story))
    whole: dict[str, list[str]] = {}
    for files in rounds(story, seed):
        for name, some in files.items():
            whole.setdefault(name, []).extend(map(json.dumps, some))
    for name, written in whole.items():
        (run.path / f"{name}.jsonl").write_text("\n".join(written) + "\n")
    return run


def config(story: Story) -> dict[str, Any]:
    settings = {"rounds": story.rounds, "designer": "slots"}
    return {
        "preset": "configs/demo.yaml",
        "preset_settings": {"rounds": 3, "learning_rate": 3e-5},
        "flags": ["--rounds", str(story.rounds)],
        "model": "/models/Small-1B",
        "curriculum": dict.fromkeys(GIVEN, "0" * 64),
        "versions": {},
        "selfplay": settings,
        "grpo": {"learning_rate": 3e-5},
        "model_config": {},
    }


def rounds(story: Story, seed: int) -> Iterator[dict[str, list[dict[str, Any]]]]:
    """Yield what each round writes, in the order in which it does."""
    rng = random.Random(seed)
    pool = Pool({name: rng.uniform(*story.begins) for name in GIVEN})
    for number in range(story.rounds):
        designs = [_design(rng, story, number, slot) for slot in range(4)]
        new = [one["env_id"] for one in designs if one["env_id"]]
        pool.rates |= {name: rng.uniform(*story.begins) for name in new}
        chosen = [pool.choice(rng, story) for _ in range(8 - len(new))]
        plays, environments = [], []
        for name in (*new, *chosen):
            played, told = _play(rng, story, number, name, pool.rates[name], name in chosen)
            plays += played
            environments.append(told)
            pool.rates[name] = min(0.95, pool.rates[name] + story.learns)
        line = _line(rng, number, designs, new, environments, plays)
        yield {
            "designs": designs,
            "plays": plays,
            "episodes": [episode(number, new[0] if new else chosen[0], hinted) for hinted in (False, True)],
            "contexts": [_context(number)],
            "rounds": [line],
            "evaluations": list(_evaluations(story, number, len(pool.rates))),
        }


def _design(rng: random.Random, story: Story, number: int, slot: int) -> dict[str, Any]:
    compiled = rng.random() < story.compiles
    ran = compiled and rng.random() < story.runs
    admitted = ran and rng.random() < story.admits
    gates = [
        {"name": name, "passed": ran, "saw": {}, "findings": []} for name in ("form", "runs", "determinism")
    ]
    rule = "solvable.expert" if ran else "runs.error" if compiled else "language.name"
    return {
        "round": number,
        "slot": slot,
        "reply": f"reply {number}.{slot}",
        "source": "# /// spade",
        "compiled": compiled,
        "refusal": None if admitted else f"design: it fails [{rule}]",
        "env_id": f"spade/New{number}x{slot}-v0" if admitted else None,
        "report": {"admitted": admitted, "gates": gates} if compiled else None,
        "findings": [] if admitted else [{"rule": rule, "found": "it fails", "severity": "refuse"}],
        "prompt_hash": f"p{number}",
        "reward": 0.3,
    }


def _play(
    rng: random.Random, story: Story, number: int, name: str, rate: float, chosen: bool
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    seed, found = rng.randrange(10**6), []
    for hinted in (False, True):
        chance = min(1.0, rate + story.hint * hinted)
        whole = rng.random() < chance
        for _ in range(8):
            won = whole if story.same else rng.random() < chance
            unread = [0] if rng.random() < 0.1 else []
            found.append(
                {
                    "round": number,
                    "env_id": name,
                    "seed": seed,
                    "hinted": hinted,
                    "blind": False,
                    "level": 1,
                    "reward": None if hinted else float(won),
                    "return": float(won),
                    "success": won,
                    "well_formed": 1.0 - len(unread) / 3,
                    "turns": 3,
                    "unread": unread,
                    "end": "terminated",
                }
            )
    plain, with_hint = (
        sum(one["success"] for one in found if one["hinted"] == hint) / 8 for hint in (False, True)
    )
    told = {
        "env_id": name,
        "level": 1,
        "why": "success lies in the band" if chosen else "",
        "success": plain,
        "hinted_success": with_hint,
        "regret": {"mean": with_hint - plain, "error": 0.1},
        "ends": {"terminated": 16},
        "faults": 0,
    }
    return found, told


def _line(
    rng: random.Random,
    number: int,
    designs: list[dict[str, Any]],
    new: list[str],
    environments: list[dict[str, Any]],
    plays: list[dict[str, Any]],
) -> dict[str, Any]:
    mean = [
        sum(one[name] for one in environments) / len(environments) for name in ("success", "hinted_success")
    ]
    return {
        "round": number,
        "designs": len(designs),
        "compiled": sum(one["compiled"] for one in designs),
        "admitted": new,
        "diversity": {"designs": 4, "effective_ideas": 1 + 3 * rng.random()},
        "regret": mean[1] - mean[0] if new else None,
        "regret_error": 0.08 if new else None,
        "success": mean[0],
        "hinted_success": mean[1],
        "designer_reward": 0.3,
        "agent_reward": mean[0],
        "blocks_with_signal": {"designer": 1, "agent": 8},
        "environments": environments,
        "alarms": [],
        "skipped": None,
        "loss": 0.01 * rng.random(),
        "grad_norm": 0.5,
        "entropy": 0.4,
        "gradient": {"agent": 0.1, "designer": 0.1},
        "seconds": {"design": 10.0, "admit": 5.0, "play": 20.0, "train": 40.0},
    }


def _evaluations(story: Story, number: int, history: int) -> Iterator[dict[str, Any]]:
    done = number + 1
    if done % 12 and done != 1:
        return
    at = 0 if done == 1 else done
    gain = story.held_out * at / story.rounds
    yield {
        "round": at,
        "suite": "heldout",
        "figures": {"items": 20, "avg_k": _estimate(0.4 + gain, 0.08)},
        "gain": _estimate(gain, 0.06),
        "forgotten": [],
        "items": {},
    }
    lost = [{"env_id": f"spade/New{k}x0-v0"} for k in range(int(story.forgets * history))]
    yield {
        "round": at,
        "suite": "history",
        "figures": {"items": history, "avg_k": _estimate(0.6, 0.08)},
        "gain": None,
        "forgotten": lost,
        "items": {f"spade/New{k}x0-v0 #1000000": [1, 2] for k in range(history)},
    }


def _estimate(value: float, room: float) -> dict[str, float]:
    return {"value": value, "low": value - room, "high": value + room}


def _context(number: int) -> dict[str, Any]:
    return {
        "round": number,
        "rank": 0,
        "prompt_hash": f"p{number}",
        "prompt_tokens": 300,
        "reasons": [{"piece": "document", "what": "words.jsonl:7", "why": "drawn by seed 1"}],
    }


def episode(number: int, env_id: str, hinted: bool, text: str = "What is it?") -> dict[str, Any]:
    prompt = f"<|im_start|>user\n{'Hint: 4. ' if hinted else ''}{text}<|im_end|>\n<|im_start|>assistant\n"
    said = f"it is {4 if hinted else 3}"
    return {
        "round": number,
        "env_id": env_id,
        "seed": 7,
        "hinted": hinted,
        "blind": False,
        "level": 1,
        "prompt": prompt,
        "completion": said,
        "pieces": [[said, 1]],
        "return": float(hinted),
        "success": hinted,
        "well_formed": 1.0,
        "turns": 1,
        "unread": [],
        "end": "terminated",
    }


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]
