"""What became of a design: judged by the gates, beside what is known of it."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from mutation.proving import Mutant, proof
from spade_envs import judge

Group = Literal["honest", "flawed", "either", "proved", "review", "nothing"]

# The rules that are the stated reason of each labelled flaw; None where only a reader can see it.
LABELLED: Mapping[str, tuple[str, ...] | None] = {
    "bakery_counter": ("runs.timeout",),
    "beacon_run": None,
    "drone_landing": ("reward.",),
    "harbour_tug": ("runs.contract",),
    "island_trader": ("reward.",),
    "library_desk": ("short-cut.",),
    "paint_mixer": ("runs.memory", "runs.died", "runs.grows"),
    "pancake_flip": ("difficulty.",),
    "region_report": ("short-cut.",),
    "river_raft": ("short-cut.",),
    "tide_walk": ("runs.raised",),
    "unit_fractions": ("runs.raised",),
    "warehouse_paths": ("determinism.", "solvable."),  # a cache that answers for another episode
    "word_detective": ("short-cut.superset",),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """One design's verdict.

    Attributes:
        name: the design, or seed, operator and number of the mutant.
        group: what is known of it.
        kind: the operator's name; empty for a design that stands in a file.
        family: the operator's family.
        reasons: beginnings of the rules that are its own reason.
        known: the proof or the label in a sentence.
        rules: what the first gate that refuses found: the reason that a designer hears.
        warnings: what they found that only warns.
        gates: the gates that refused, in order.
        cpu_s: processor seconds, the workers' too.
        wall_s: seconds by the clock.
    """

    name: str
    group: Group
    kind: str = ""
    family: str = ""
    reasons: tuple[str, ...] = ()
    known: str = ""
    rules: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    gates: tuple[str, ...] = ()
    cpu_s: float = 0.0
    wall_s: float = 0.0

    @property
    def admitted(self) -> bool:
        """Whether no gate refused it."""
        return not self.gates

    @property
    def own_reason(self) -> bool:
        """Whether it is refused for what is known of it."""
        return any(rule.startswith(self.reasons) for rule in self.rules)

    @property
    def only_warned(self) -> bool:
        """Whether it is admitted with a warning for what is known of it."""
        return self.admitted and any(rule.startswith(self.reasons) for rule in self.warnings)


def of_file(path: Path, ok: bool | None, flaw: str) -> Outcome:
    """Judge a design in a file."""
    reasons = () if ok is not False else LABELLED.get(path.stem, ("",))
    group: Group = "either" if ok is None else "honest" if ok else "review" if reasons is None else "flawed"
    return Outcome(
        f"{path.parent.name}/{path.stem}", group, "", "", reasons or (), flaw, **_judged(path.read_text())
    )


def of_mutant(mutant: Mutant) -> Outcome:
    """Prove a mutant and judge it where something is proved."""
    proved = proof(mutant)
    judged = {} if proved.kind == "nothing" else _judged(mutant.source)
    operator, known = mutant.operator, "; ".join(proved.found)
    return Outcome(mutant.name, proved.kind, operator.name, operator.family, proved.reasons, known, **judged)


def _judged(source: str) -> dict[str, Any]:
    cpu, wall = cpu_seconds(), time.monotonic()
    report = judge(source, all_gates=True)
    found = [finding for gate in report.gates for finding in gate.findings]
    refusing = [gate.findings for gate in report.gates if not gate.passed]
    return {
        "rules": tuple(dict.fromkeys(f.rule for f in chain(*refusing[:1]) if f.severity == "refuse")),
        "warnings": tuple(dict.fromkeys(f.rule for f in found if f.severity == "warn")),
        "gates": tuple(gate.name for gate in report.gates if not gate.passed),
        "cpu_s": cpu_seconds() - cpu,
        "wall_s": time.monotonic() - wall,
    }


def cpu_seconds() -> float:
    """Processor time of this process, its children and all that they have waited for; 0 without /proc."""
    family, total = {os.getpid()}, 0
    stats = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        stats.append((int(folder.name), int(fields[1]), sum(map(int, fields[11:15]))))
    for pid, parent, ticks in sorted(stats):
        if pid in family or parent in family:
            family.add(pid)
            total += ticks
    return total / os.sysconf("SC_CLK_TCK")
