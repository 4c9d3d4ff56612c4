"""How often the 95 % interval of regret holds the true regret, beside the textbook's Student interval.

    python benchmarks/interval.py [--runs 2000]

Plays succeed or fail. Coverage, then half width (of the textbook's: cut to [-2, 2]).
"""

from __future__ import annotations

import argparse
import math
import random
from collections.abc import Callable
from statistics import fmean, variance

from rich.console import Console
from rich.table import Table

from spade_train.rewards.regret import paired_regret

Rates = Callable[[random.Random], tuple[float, float]]
"""Of one seed: success without the hint and with it."""

WORLDS: dict[str, Rates] = {
    "every seed .3, .7": lambda _rng: (0.3, 0.7),
    "easy: .9, .97": lambda _rng: (0.9, 0.97),
    "hard: .02, .9": lambda _rng: (0.02, 0.9),
    "hopeless: 0, .05": lambda _rng: (0.0, 0.05),
    "seeds differ": lambda rng: (lambda p: (p, (1 + p) / 2))(rng.random()),
    "half of the seeds": lambda rng: (0.0, 0.95) if rng.random() < 0.5 else (0.95, 0.97),
    "one seed in ten": lambda rng: (0.0, 0.95) if rng.random() < 0.1 else (0.95, 0.97),
}
T95 = {2: 12.706, 3: 4.303, 4: 3.182, 8: 2.365, 16: 2.131}


def coverage(rates: Rates, group: int, seeds: int, runs: int) -> tuple[float, float, float, float]:
    """Return coverage and half width of this project's interval, then of the textbook's."""
    rng = random.Random(0)
    pairs = [rates(rng) for _ in range(20_000)]
    truth = fmean(hinted - plain for plain, hinted in pairs)
    seen = [0.0] * 4
    for _ in range(runs):
        chosen = [rates(rng) for _ in range(seeds)]
        plain, hinted = (
            {at: [float(rng.random() < pair[side]) for _ in range(group)] for at, pair in enumerate(chosen)}
            for side in (0, 1)
        )
        regret = paired_regret(plain, hinted)
        assert regret is not None
        each = [fmean(hinted[at]) - fmean(plain[at]) for at in range(seeds)]
        half = T95[seeds] * math.sqrt(variance(each) / seeds)
        seen[0] += regret.low <= truth <= regret.high
        seen[1] += regret.half_width
        seen[2] += abs(regret.mean - truth) <= half
        seen[3] += (min(2.0, regret.mean + half) - max(-2.0, regret.mean - half)) / 2
    return seen[0] / runs, seen[1] / runs, seen[2] / runs, seen[3] / runs


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=2000)
    runs = parser.parse_args().runs
    table = Table("seeds are", "G", *(f"{seeds} seeds" for seeds in T95), caption="ours | textbook")
    for name, rates in WORLDS.items():
        for group in (1, 4, 8):
            cells = [coverage(rates, group, seeds, runs) for seeds in T95]
            texts = [f"{a:.2f} ±{b:.2f} | {c:.2f} ±{d:.2f}" for a, b, c, d in cells]
            table.add_row(name, str(group), *texts)
    Console(width=160).print(table)


if __name__ == "__main__":
    main()
