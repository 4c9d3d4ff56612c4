"""Oracles on how a design works: nothing raises, hangs, grows or leaves its space; episodes repeat; the expert wins."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

from mutation import actors
from mutation.oracle import oracle
from mutation.playing import Level, Play, Stage, Trial

SEEDS = range(5000, 5012)
MANY = range(8000, 8150)


def tour(trial: Trial) -> Iterator[Play]:
    """Yield varied plays, the cheap ones first: held actions reach late steps, resets reach rare seeds."""
    for level in trial.stage.levels:
        yield from (trial.play(actors.expert, level, seed, look=True) for seed in SEEDS)
        yield from (trial.play(actors.random, level, seed) for seed in SEEDS)
        yield from (trial.play(actors.half_random, level, seed) for seed in SEEDS)
        yield from (trial.play(actors.edge(at), level, SEEDS[0]) for at in range(actors.EDGE_COUNT))
        yield from (trial.play(actors.expert, level, seed) for seed in MANY)


def _fault(trial: Trial, *kinds: str) -> str | None:
    for play in tour(trial):
        if play.fault:
            kind, message = play.fault
            place = f"level {play.level}, seed {play.seed}, step {len(play.actions)}"
            return f"{message} ({place})" if kind in kinds else None
    return None


@oracle("Invalid actions that lie in the space never raise; every call works on every seed", "runs.raised")
def something_raises(trial: Trial) -> str | None:
    return _fault(trial, "raised")


@oracle(
    "Observations, rewards and flags are what spaces and signatures promise", "runs.contract", "runs.protocol"
)
def a_value_is_foreign(trial: Trial) -> str | None:
    return _fault(trial, "contract", "protocol")


@oracle("Any one call within 1 s", "runs.timeout", "runs.slow")
def a_call_hangs(trial: Trial) -> str | None:
    return _fault(trial, "timeout")


@oracle("Memory does not grow from step to step", "runs.memory", "runs.died", "runs.grows")
def memory_grows(trial: Trial) -> str | None:
    stage = Stage(trial.mutant, isolation="none")
    level = stage.levels[-1]
    sizes = []
    tracemalloc.start()
    for seed in range(90):
        stage.play(actors.random, level, seed)
        stage.play(actors.expert, level, seed)
        if seed % 30 == 29:
            sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    early, late = sizes[1] - sizes[0], sizes[2] - sizes[1]
    return f"30 episodes add {late >> 10} KiB, again and again" if min(early, late) > 300_000 else None


@oracle("The same seed and the same actions give the same episode", "determinism.")
def episodes_differ(trial: Trial) -> str | None:
    for level in trial.stage.levels:
        shown = [
            trial.play(actor, level, seed)
            for actor in (actors.expert, actors.half_random)
            for seed in SEEDS[:5]
        ]
        if any(play.fault for play in shown):
            return None
        elsewhere = trial.fresh(hash_seed=5)
        for play in reversed(shown):
            if (found := _differs(elsewhere, play, level)) or (found := _differs(trial.stage, play, level)):
                return found
        for seed in SEEDS[:3]:
            if (found := _looking_changes(elsewhere, level, seed)) is not None:
                return found
    return None


def _differs(stage: Stage, play: Play, level: Level) -> str | None:
    for look in (False, True):
        again = stage.play(actors.replay(play.actions), level, play.seed, look=look)
        if again.seen[:4] != play.seen[:4]:
            return f"level {level}, seed {play.seed}: the same actions give another episode (looking: {look})"
    return None


def _looking_changes(stage: Stage, level: Level, seed: int) -> str | None:
    once, more = (stage.play(actors.replay([]), level, seed, look=True).hints for _ in range(2))
    return None if once == more else f"level {level}, seed {seed}: the hint is another one the second time"


@oracle("Followed from reset, expert_action() succeeds on every seed", "solvable.")
def the_expert_fails(trial: Trial) -> str | None:
    for level in trial.stage.levels:
        for seed in (*SEEDS, *MANY):
            play = trial.play(actors.expert, level, seed, **({"look": True} if seed in SEEDS else {}))
            if play.fault:
                return None
            if not play.success:
                return f"level {level}, seed {seed}: {len(play.actions)} steps without success"
    return None
