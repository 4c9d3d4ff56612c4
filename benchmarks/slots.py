"""How many random fillings of the slot templates are admitted, and why the others are not.

Run it with ``python benchmarks/slots.py [COUNT] [SEED]``; the default is 1,000 fillings, about eight minutes on one
quiet core. Ctrl-C ends it early. Each is judged as any design is; one refused for two reasons counts under both.
"""

from __future__ import annotations

import sys
from collections import Counter
from random import Random

from rich.console import Console
from rich.progress import track
from rich.table import Table

from spade_envs import judge
from spade_envs.admission.rates import wilson
from spade_train.designer.slots import random_specification, render


def main(count: int = 1_000, seed: int = 0) -> None:
    rng = Random(seed)
    judged, admitted, reasons = Counter[str](), Counter[str](), Counter[str]()
    try:
        for _ in track(range(count), f"Judging {count} fillings"):
            specification = random_specification(rng)
            report = judge(render(specification, generation_round=0))
            judged[specification["template"]] += 1
            admitted[specification["template"]] += report.admitted
            reasons.update({finding.rule for gate in report.gates for finding in gate.findings})
    except KeyboardInterrupt:
        pass  # what has been judged so far is shown
    total, console = judged.total(), Console()
    console.print(table("admitted", {name: (admitted[name], judged[name]) for name in sorted(judged)}))
    console.print(table("refused for", {rule: (times, total) for rule, times in reasons.most_common()}))
    console.print(table("in all", {"admitted": (admitted.total(), total)}))


def table(title: str, rates: dict[str, tuple[int, int]]) -> Table:
    rows = Table(title, "designs", "share", "95 % interval")
    for name, (times, of) in rates.items():
        low, high = wilson(times, of)
        rows.add_row(name, f"{times}/{of}", f"{times / of:.3f}", f"{low:.3f} to {high:.3f}")
    return rows


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
