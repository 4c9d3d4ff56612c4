"""Does a designer that learns with the agent beat fixed environments? Equal budgets of sampled tokens, arm by arm.

    python benchmarks/coevolution.py [--arm spade fixed ...] [--seeds 3] [--tokens 5000] [--jobs 2] [--cells 1]
    python benchmarks/coevolution.py --report

A cell is one arm with one seed: a run of `spade-train` that ends when its tokens are spent, and `spade-train eval` of
what came of it. It takes one core, and at most --minutes. Each cell is a small JSON file below --folder; the command
makes those that are missing, all arms of one seed before the next, and prints the table. A cell that was stopped goes
on from its last checkpoint. reasoning-gym is played where it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table

from spade_train.evaluation.figures import Estimate, mean_of_items
from spade_train.evaluation.suite import Item
from spade_train.models.model import embedded_model
from spade_train.rewards.uncertainty import Tally

ARMS = {
    "spade": "cpu",
    "fixed": "ablation_fixed_environments",
    "no_memory": "ablation_no_memory",
    "no_corpus": "ablation_no_corpus",
    "designer_frozen": "ablation_designer_frozen",
    "learning_potential": "ablation_learning_potential",
}
"""Arm -> the preset that differs from `cpu` in that one thing. Frozen, as in the paper, is without memory, too."""
BASE = "base"
REACH = ("spade/LargestValue-v0", "spade/WordSorter-v0")
"""What every arm may play beside its designs: the seeds within the model's reach."""
COMMON = ["--learning_rate", "3e-5", "--extra_plays", "0", "--rounds", "1000", "--save_rounds", "4"]
SUITES = {"heldout": (10, 1), f"environments={','.join(REACH)}": (40, 2), "reasoning-gym": (40, 1)}
"""Suite -> items and plays of each. Every arm and the base play the same items with the same draws."""
RESAMPLES = 2000


@dataclass(frozen=True)
class Cell:
    """One arm with one seed."""

    arm: str
    seed: int

    def __str__(self) -> str:
        return f"{self.arm}-{self.seed}"


@dataclass(frozen=True)
class Lab:
    """Where cells are kept, and what each may take.

    Attributes:
        tokens: that a run may sample.
        minutes: of a cell.
        flags: further words for the runs.
    """

    folder: Path
    tokens: int
    minutes: float
    flags: tuple[str, ...] = ()

    def file(self, cell: Cell) -> Path:
        """Return where a cell's result lies."""
        return self.folder / f"{cell}.json"

    def run(self, cell: Cell) -> Path:
        """Return the folder of a cell's run, which is of one budget."""
        return self.folder / "runs" / f"{cell}-{self.tokens}"

    def read(self, cell: Cell) -> dict[str, Any] | None:
        """Return a cell's result, if it is there and has this budget."""
        if not self.file(cell).is_file():
            return None
        found = json.loads(self.file(cell).read_text())
        return found if found["budget"] == self.tokens or cell.arm == BASE else None


def fill(lab: Lab, cell: Cell) -> str:
    """Make a cell; return what there is to say of it."""
    began = time.monotonic()
    end = began + 60 * lab.minutes
    try:
        if cell.arm != BASE:
            trained(lab, cell, end)
        suites = {suite: evaluated(lab, cell, suite, end) for suite in SUITES}
    except subprocess.TimeoutExpired:
        return f"{cell}: not done in {lab.minutes:g} minutes; start again to go on"
    except subprocess.CalledProcessError as problem:
        return f"{cell}: {' '.join(map(str, problem.cmd[:4]))} failed: {problem.stderr.decode()[-400:]}"
    result = {
        "arm": cell.arm,
        "seed": cell.seed,
        "budget": lab.tokens,
        "minutes": round((time.monotonic() - began) / 60, 1),
        "versions": json.loads((lab.run(cell) / "config.json").read_text())["versions"]
        if cell.arm != BASE
        else {},
        "rounds": list(curve(lab.run(cell))),
        "suites": suites,
    }
    part = lab.file(cell).with_suffix(".part")
    part.write_text(json.dumps(result) + "\n")
    part.replace(lab.file(cell))
    return f"{cell}: {len(result['rounds'])} rounds, {result['minutes']} minutes"


def trained(lab: Lab, cell: Cell, end: float) -> None:
    """Train to the end of the budget, from the last checkpoint where there is one."""
    run = lab.run(cell)
    if (run / "checkpoint").is_dir():
        return
    words = ["--config", ARMS[cell.arm], "--curriculum", *REACH, *COMMON, *lab.flags]
    words += ["--seed", str(cell.seed), "--token_budget", str(lab.tokens)]
    if any((run / "checkpoints").glob("checkpoint-*/selfplay.json")):
        words = ["resume", str(run)]
    else:
        words += ["--runs", str(run.parent), "--run_name", run.name]
    call(words, end, run.with_suffix(".log"))


def evaluated(lab: Lab, cell: Cell, suite: str, end: float) -> dict[str, list[int]]:
    """Return item -> wins and plays; nothing where the suite cannot be played here."""
    items, plays = SUITES[suite]
    run = lab.run(cell)
    out = run.with_name(f"{run.name}.{suite.partition('=')[0]}.json")
    subject = str(embedded_model() if cell.arm == BASE else run)
    words = ["eval", subject, "--suite", suite, "--base", "none", "--out", str(out)]
    words += ["--items", str(items), "--plays", str(plays)]
    words += ["--seed", "0", "--temperature", "1", "--prompt_tokens", "512", "--turn_tokens", "12"]
    words += ["--completion_tokens", "160"]
    out.parent.mkdir(parents=True, exist_ok=True)
    if not out.is_file():  # else a cell that was stopped goes on
        call(words, end, out.with_suffix(".log"), may_skip=True)
    if not out.is_file():
        return {}
    (found,) = json.loads(out.read_text())["suites"] or [{"items": []}]
    return {name_of(one): tally(one["plays"]) for one in found["items"]}


def name_of(item: dict[str, Any]) -> str:
    return Item(item["env_id"], item["seed"], item["level"]).name


def tally(plays: Sequence[dict[str, Any]]) -> list[int]:
    """Return wins and plays, of those that count."""
    known = [one["success"] for one in plays if one["counts"]]
    return [sum(known), len(known)]


def call(words: Sequence[str], end: float, log: Path, may_skip: bool = False) -> None:
    """Run `spade-train` on one thread; its output goes to a file."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        done = subprocess.run(
            [sys.executable, "-m", "spade_train", *words],
            stdout=output,
            stderr=subprocess.STDOUT,
            timeout=max(1.0, end - time.monotonic()),
            env=environment,
            check=False,
        )
    if done.returncode and not (may_skip and "SKIPPED" in log.read_text()):
        raise subprocess.CalledProcessError(done.returncode, words, stderr=log.read_bytes())


def curve(run: Path) -> Iterator[dict[str, Any]]:
    """Yield what a run was in each round: enough to draw it."""
    path = run / "rounds.jsonl"
    for line in path.read_text().splitlines() if path.is_file() else ():
        one = json.loads(line)
        yield {
            "tokens": one["tokens"],
            "success": one["success"],
            "regret": one["regret"],
            "designs": one["designs"],
            "admitted": len(one["admitted"]),
        }


def over_seeds(
    found: Sequence[dict[str, Any]], base: dict[str, Any], suite: str
) -> tuple[Estimate, Estimate]:
    """Return an arm's success on a suite, and what it lies above the base's over the same items.

    Means over seeds and items; intervals of 95 % by a bootstrap that draws seeds, and items within them.
    """
    own = [rates(one, suite) for one in found]
    start = rates(base, suite)
    gains = [{item: rate - start[item] for item, rate in of_seed.items() if item in start} for of_seed in own]
    return two_level(own, 0.0), two_level(gains, -1.0)


def two_level(values: Sequence[dict[str, float]], low: float) -> Estimate:
    """Return the mean with its interval; that of a single seed, or where all is equal, is of one seed's items alone."""
    lists = [list(one.values()) for one in values if one]
    if len(lists) == 1 or len({value for one in lists for value in one}) == 1:
        return mean_of_items(lists[0], low)
    draw = random.Random(0)
    means = sorted(
        fmean(fmean(draw.choices(one, k=len(one))) for one in draw.choices(lists, k=len(lists)))
        for _ in range(RESAMPLES)
    )
    at = round(0.025 * RESAMPLES)
    return Estimate(fmean(map(fmean, lists)), means[at], means[-1 - at])


def rates(result: dict[str, Any], suite: str) -> dict[str, float]:
    """Return item -> rate of success, of items that have plays that count."""
    items = result["suites"].get(suite) or {}
    return {item: Tally(*tally).rate for item, tally in items.items() if tally[1]}


def report(lab: Lab, arms: Sequence[str], seeds: int, console: Console) -> None:
    base = lab.read(Cell(BASE, 0))
    if base is None:
        console.print("the base model has not been evaluated yet")
        return
    table = Table(title=f"success after {lab.tokens:,} sampled tokens, and gain over the base")
    for column in ("arm", "seeds", "rounds", "admitted", *(suite.partition("=")[0] for suite in SUITES)):
        table.add_column(column)
    shown = [two_level([rates(base, suite)], 0.0) for suite in SUITES if rates(base, suite)]
    table.add_row(BASE, "", "", "", *(one.text() for one in shown))
    for arm in arms:
        found = [one for seed in range(seeds) if (one := lab.read(Cell(arm, seed)))]
        if not found:
            continue
        rounds = [len(one["rounds"]) for one in found]
        admitted = [sum(of["admitted"] for of in one["rounds"]) for one in found]
        cells = []
        for suite in SUITES:
            if rates(found[0], suite):
                value, gain = over_seeds(found, base, suite)
                cells.append(f"{value.text()}\n{gain.text(sign=True)}")
        table.add_row(arm, str(len(found)), f"{fmean(rounds):.0f}", f"{fmean(admitted):.1f}", *cells)
    console.print(table)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--arm", nargs="*", default=list(ARMS), choices=list(ARMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=5_000, help="sampled by both roles and for measuring")
    parser.add_argument("--folder", type=Path, default=Path("benchmarks/results/coevolution"))
    parser.add_argument("--minutes", type=float, default=40.0, help="the most that a cell may take")
    parser.add_argument("--jobs", type=int, default=1, help="cells at once, a core each")
    parser.add_argument("--cells", type=int, help="make so many at most")
    parser.add_argument(
        "--flag", nargs="*", default=[], help="further words for the runs, without the dashes"
    )
    parser.add_argument("--report", action="store_true", help="print what is there and make nothing")
    return parser.parse_args()


def main() -> None:
    options, console = arguments(), Console(width=140)
    flags = tuple(word if at % 2 else f"--{word}" for at, word in enumerate(options.flag))
    lab = Lab(options.folder, options.tokens, options.minutes, flags)
    if not options.report:
        wanted = [Cell(BASE, 0), *(Cell(arm, seed) for seed in range(options.seeds) for arm in options.arm)]
        missing = [cell for cell in wanted if lab.read(cell) is None][: options.cells]
        with ThreadPoolExecutor(options.jobs) as pool:
            for said in pool.map(lambda cell: fill(lab, cell), missing):
                console.print(said, markup=False, soft_wrap=True)
    report(lab, options.arm, options.seeds, console)


if __name__ == "__main__":
    main()
