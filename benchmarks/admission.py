"""The gates' own test: labelled designs, seeds, and mutants that are proved to be broken.

    python benchmarks/admission.py [FOLDER] [--mutants N | --all] [--seed S] [--jobs J] [--json]

FOLDER holds `labels.json` (`{"honest/x.py": {"ok": true}, ...}`, ok null where either verdict is right) and
the designs. Mutants of all seeds are drawn in turn from each operator until N are proved to break the
contract; what proves nothing is discarded, and where only rules and code disagree it is counted apart. Processor
seconds include the workers' (read from /proc, so on Linux only).
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

from mutation import tables
from mutation.outcomes import Outcome, of_file, of_mutant
from mutation.sampling import stratified

from spade_envs import seeds_folder

DEFAULT = Path(os.environ.get("SPADE_SHARED", Path(__file__).parents[2] / "shared")) / "designs"
Job = Callable[[], Outcome]


def main() -> None:
    options = arguments()
    files = list(file_jobs(options.folder, set(options.only)))
    candidates = stratified(sorted(seeds_folder().glob("*.py")), options.seed)
    mutants = (partial(of_mutant, mutant) for mutant in candidates)
    wanted = sys.maxsize if options.all else options.mutants
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        outcomes = taken(done(pool, iter(files), options.jobs), len(files), lambda _: True)
        proved = taken(done(pool, mutants, options.jobs), wanted, lambda outcome: outcome.group == "proved")
        pool.shutdown(cancel_futures=True)
    figures = tables.summary(outcomes + proved)
    print(json.dumps(figures, indent=1) if options.json else f"\n{tables.text(figures)}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT, help="labelled designs")
    parser.add_argument("--mutants", type=int, default=120, help="proved mutants to judge (0: none)")
    parser.add_argument("--all", action="store_true", help="all mutants; this takes hours")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    parser.add_argument("--jobs", type=int, default=idle(), help="designs judged at once")
    parser.add_argument(
        "--only", nargs="*", default=[], help="names of designs and seeds to judge as they stand"
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    return parser.parse_args()


def idle() -> int:
    """Return how many processors have nothing to do, at least one."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, round((os.cpu_count() or 1) - load))


def file_jobs(folder: Path, only: set[str]) -> Iterator[Job]:
    """Yield the judging of labelled designs, seeds and held-out ones."""
    labels = folder / "labels.json"
    known = json.loads(labels.read_text()) if labels.is_file() else {}
    seeds = [*sorted(seeds_folder().glob("*.py")), *sorted((seeds_folder() / "heldout").glob("*.py"))]
    designs = [(folder / name, label["ok"], label.get("flaw", "")) for name, label in known.items()]
    for path, ok, flaw in [*designs, *((path, True, "") for path in seeds)]:
        if not only or path.stem in only:
            yield partial(of_file, path, ok, flaw)


def done(pool: ProcessPoolExecutor, jobs: Iterator[Job], at_once: int) -> Iterator[Outcome]:
    """Yield outcomes as they come, with one job begun ahead."""
    running: set[Future[Outcome]] = set()
    while running := running | {pool.submit(job) for job in islice(jobs, at_once + 1 - len(running))}:
        finished, running = wait(running, return_when=FIRST_COMPLETED)
        yield from (future.result() for future in finished)


def taken(outcomes: Iterator[Outcome], wanted: int, counts: Callable[[Outcome], bool]) -> list[Outcome]:
    """Return outcomes until as many of those that count are there as are wanted, and tell of each."""
    start, count, kept = time.monotonic(), 0, list[Outcome]()
    while count < wanted and (outcome := next(outcomes, None)) is not None:
        kept.append(outcome)
        count += counts(outcome)
        progress(outcome, count, wanted, start)
    return kept


def progress(outcome: Outcome, count: int, wanted: int, start: float) -> None:
    """Print a design's line to the error stream, with the time left."""
    left = (time.monotonic() - start) / max(1, count) * (wanted - count)
    verdict = "admitted" if outcome.admitted else f"refused: {', '.join(outcome.rules[:3])}"
    if outcome.group == "nothing":
        verdict = "discarded"
    broken = outcome.group in ("flawed", "proved")
    mark = "  <- " if outcome.admitted is broken and outcome.group in ("honest", "flawed", "proved") else ""
    mark = mark or ("  <- another reason" if broken and not outcome.own_reason else "")
    print(
        f"[{count}/{wanted}, {left / 60:.0f} min left] {outcome.group:8} {outcome.name:64} {verdict}"
        f" {outcome.cpu_s:.1f} CPU s {outcome.wall_s:.1f} s{mark}",
        file=sys.stderr,
        flush=True,
    )


if __name__ == "__main__":
    main()
