"""How often the monitors speak in honest runs, and how soon they catch scripted cheats; no model is needed.

python benchmarks/monitors.py [--runs 500] [--rounds 20]
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from statistics import median

from rich.console import Console
from rich.table import Table
from simulated_rounds import CHEATS, HONEST, Cheat, Simulation

from spade_train.monitors import Alarm, History, watch
from spade_train.rewards.uncertainty import wilson


def alarms(cheat: Cheat, seed: int, group: int, rounds: int) -> list[Alarm]:
    """Return all alarms of one run."""
    run = Simulation(random.Random(seed), group)
    cheat.change(run)
    history, heard = History(), []
    for number in range(rounds):
        history, new = watch(history, run.round(number, cheat.shape))
        heard += new
    return heard


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    runs, rounds = arguments.runs, arguments.rounds
    console = Console(width=110)
    for group in (4, 8):
        table = Table(f"honest, G = {group}", "runs with an alarm", "95 %", "of which monitors")
        for name, honest in HONEST.items():
            heard = [{one.monitor for one in alarms(honest, seed, group, rounds)} for seed in range(runs)]
            wrong = sum(map(bool, heard))
            low, high = wilson(wrong, runs)
            whose = ", ".join(f"{key} {n}" for key, n in Counter(k for each in heard for k in each).items())
            table.add_row(name, f"{wrong} of {runs}", f"[{low:.4f}, {high:.4f}]", whose)
        console.print(table)
        table = Table(f"cheat, G = {group}", "monitor", "caught", "rounds until (median, most)")
        for name, cheat in CHEATS.items():
            found = [_wait(cheat, seed, group, rounds) for seed in range(runs // 10)]
            caught = [wait for wait in found if wait is not None]
            until = f"{median(caught):g}, {max(caught)}" if caught else "-"
            table.add_row(name, cheat.monitor, f"{len(caught)} of {len(found)}", until)
        console.print(table)


def _wait(cheat: Cheat, seed: int, group: int, rounds: int) -> int | None:
    """Rounds of cheating until the monitor speaks, its first included."""
    when = [one.round for one in alarms(cheat, seed, group, rounds) if one.monitor == cheat.monitor]
    return when[0] - cheat.start + 1 if when else None


if __name__ == "__main__":
    main()
