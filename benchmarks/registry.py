"""What a large registry costs: importing, making, listing, admitting, opening.

    python benchmarks/registry.py [--names 20000] [--versions 5] [--folder DIR] [--repeats 7] [--json]

The versions are copies of a shipped environment under made-up names, written as admission writes them; the folder is
kept where it is named, and used again. Every figure is a median of interleaved repetitions; processes are started anew
where importing is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from spade_envs.contract import code_sha256, file_sha256, set_version
from spade_envs.records import Query
from spade_envs.registry import Registry, shipped_registry
from spade_envs.registry.overview import ask

DOMAINS = ("code", "games", "language", "math", "planning", "science", "tools")
_WORDS = (
    "Amber", "Birch", "Cedar", "Delta", "Ember", "Fjord", "Grove", "Heron",
    "Ivory", "Jade", "Kelp", "Lotus", "Maple", "Nimbus", "Onyx", "Pearl",
)  # fmt: skip


def fill(root: Path, names: int, versions: int) -> None:
    """Write versions as files, then have the records made from them: as a registry that was copied in."""
    source = (shipped_registry() / "LampRow" / "v0.py").read_text()
    report = json.loads((shipped_registry() / "LampRow" / "v0.json").read_text())
    rng = random.Random(0)
    for number in track(range(names), "writing files", disable=not sys.stderr.isatty()):
        name = f"{_WORDS[number % 16]}{_WORDS[number // 16 % 16]}{number}"
        folder = root / name
        folder.mkdir(parents=True)
        for k in range(versions):
            text = source.replace("spade/LampRow-v0", f"spade/{name}-v0").replace(
                "Lamp row", f"Lamp row {number}"
            )
            text = re.sub('domain = "[a-z]+"', f'domain = "{DOMAINS[number % 7]}"', text)
            text = set_version(f"{text}\n# {number} {k}\n", k)
            report |= {
                "id": f"spade/{name}-v{k}",
                "code_sha256": code_sha256(text),
                "file_sha256": file_sha256(text),
            }
            report["scores"] = {**report["scores"], "difficulty": round(rng.random(), 3)}
            (folder / f"v{k}.py").write_text(text)
            (folder / f"v{k}.json").write_text(json.dumps(report))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--names", type=int, default=20_000)
    parser.add_argument("--versions", type=int, default=5)
    parser.add_argument(
        "--folder", type=Path, help="where the large registry is kept; default: a temporary one"
    )
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="registry-"))
    try:
        figures = measure(folder.absolute(), options)
    finally:
        if options.folder is None:
            shutil.rmtree(folder)
    show(figures, options)


def measure(root: Path, options: argparse.Namespace) -> dict[str, float]:
    figures: dict[str, float] = {}
    if not root.is_dir() or not any(root.iterdir()):
        fill(root, options.names, options.versions)
    began = time.perf_counter()
    Registry(root).own_records.close()
    figures["records made from the files, s"] = time.perf_counter() - began
    figures |= importing(root, options.repeats) | making(root, options.repeats)
    figures |= opening_and_listing(root, options.repeats) | admitting(root, options.repeats)
    return figures


def importing(root: Path, repeats: int) -> dict[str, float]:
    """Ratio of CPU times of new processes."""
    code = {name: f"import {name}" for name in ("gymnasium", "spade_envs")}
    times: dict[str, list[float]] = {name: [] for name in code}
    for _ in range(repeats):
        for name, line in code.items():
            times[name].append(cpu([sys.executable, "-c", line], {"SPADE_REGISTRY": str(root)}))
    return {
        "import spade_envs / import gymnasium, CPU": median(times["spade_envs"]) / median(times["gymnasium"])
    }


def making(root: Path, repeats: int) -> dict[str, float]:
    """Ratio of wall times from ``make`` to a ready environment: an id among many, and one of the shipped thirty."""
    name = sorted(path.name for path in root.iterdir() if path.name[0].isupper())[len(_WORDS)]
    ids = {"many": f"spade/{name}-v2", "thirty": "spade/LampRow-v0"}
    script = (
        "import gymnasium, spade_envs, sys, time\n"
        "gymnasium.make('spade/WordSorter-v0').close()\n"
        "t = time.perf_counter()\n"
        "for _ in range(10): gymnasium.make(sys.argv[1]).close()\n"
        "print((time.perf_counter() - t) / 10)"
    )
    times: dict[str, list[float]] = {"many": [], "thirty": []}
    for _ in range(repeats):
        for key, env_id in ids.items():
            environment = {**os.environ, "SPADE_REGISTRY": str(root) if key == "many" else "/nonexistent"}
            command = [sys.executable, "-c", script, env_id]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            times[key].append(float(done.stdout))
    many, thirty = median(times["many"]), median(times["thirty"])
    return {"make, ms": 1e3 * many, "make / make with thirty": many / thirty}


def opening_and_listing(root: Path, repeats: int) -> dict[str, float]:
    questions = {
        "filtered by domain and difficulty": Query(domain="games", difficulty=(0.4, 0.6), limit=50),
        "newest first": Query(sort="newest", limit=50),
        "hardest first": Query(sort="difficulty", limit=50),
        "by words": Query(text="lamp row 777", limit=50),
        "by status": Query(status="active", limit=50, offset=1000),
    }
    figures = {"opening, ms": 1e3 * median([timed(lambda: Registry(root).records) for _ in range(repeats)])}
    stack = [Registry(shipped_registry(), read_only=True), Registry(root)]
    for name, query in questions.items():

        def question(query: Query = query) -> None:
            ask(query, stack)

        figures[f"list {name}, ms"] = 1e3 * median([timed(question) for _ in range(repeats)])
    return figures


def admitting(root: Path, repeats: int) -> dict[str, float]:
    """The write of an admission: both files, the records, all that waits for the disk."""
    registry = Registry(root)
    stamp = time.time_ns()
    name = f"Admitted{stamp}"  # of its own: in a folder that is kept, one name would get ever more versions
    source = (shipped_registry() / "LampRow" / "v0.py").read_text().replace("LampRow", name)
    added = [
        timed(lambda k=k: registry.add(f"{source}\n# {stamp} {k}\n", {"gates": []}))  # type: ignore[misc]
        for k in range(3 * repeats)
    ]
    return {"an admission's write, ms": 1e3 * median(added), "best": 1e3 * min(added)}


def cpu(command: list[str], variables: dict[str, str]) -> float:
    before = os.times()
    subprocess.run(command, env={**os.environ, **variables}, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def timed(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


median = statistics.median


def show(figures: dict[str, float], options: argparse.Namespace) -> None:
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    machine += f", Python {platform.python_version()}"
    packages = ", ".join(f"{name} {version(name)}" for name in ("gymnasium", "sqlalchemy", "spade-envs"))
    if options.json:
        print(json.dumps({"machine": machine, "packages": packages, **figures}))
        return
    table = Table(
        "figure", "median", title=f"{options.names * options.versions:,} versions of {options.names:,}"
    )
    for name, value in figures.items():
        table.add_row(name, f"{value:.2f}")
    Console().print(table)
    print(f"{machine}; {packages}")


if __name__ == "__main__":
    main()
