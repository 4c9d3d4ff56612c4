"""Judge labelled designs and print what became of each, the shares, and the time per design.

    python benchmarks/admission.py [FOLDER] [NAME ...]

FOLDER holds `labels.json` (`{"honest/x.py": {"ok": true}, ...}`, ok null where either verdict is right) and
the designs. CPU seconds include the workers' (read from /proc, so on Linux only).
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from spade_envs import judge, seeds_folder

DEFAULT = Path(os.environ.get("SPADE_SHARED", Path(__file__).parents[2] / "shared")) / "designs"


def cpu_seconds() -> float:
    """CPU time of this process, its children and all that they have waited for."""
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


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else DEFAULT
    wanted = sys.argv[2:]
    labels = json.loads((folder / "labels.json").read_text()) if (folder / "labels.json").is_file() else {}
    designs = {folder / name: label["ok"] for name, label in labels.items()}
    designs |= dict.fromkeys(sorted(seeds_folder().glob("*.py")), True)
    judge(
        next(iter(designs)).read_text()
    )  # the first verdict of a process pays for starting two interpreters
    rows = [row(path, ok) for path, ok in designs.items() if not wanted or path.stem in wanted]
    for ok, what in ((True, "honest admitted"), (False, "flawed refused")):
        verdicts = [admitted is ok for good, admitted, _ in rows if good is ok]
        print(f"{what}: {sum(verdicts)}/{len(verdicts)}")
    times = sorted(cpu for good, _, cpu in rows if good)
    if times:
        print(f"CPU seconds of an honest one: median {times[len(times) // 2]:.2f}, most {times[-1]:.2f}")


def row(path: Path, ok: bool | None) -> tuple[bool | None, bool, float]:
    """Judge one design and print its line."""
    cpu, wall = cpu_seconds(), time.monotonic()
    report = judge(path.read_text())
    cpu, wall = cpu_seconds() - cpu, time.monotonic() - wall
    last = report.gates[-1]
    verdict = "admitted" if report.admitted else f"refused: {last.name}"
    mark = "" if ok in (None, report.admitted) else "  <- label says otherwise"
    print(
        f"{path.parent.name + '/' + path.name:30} {verdict:22} {cpu:6.2f} CPU s {wall:6.2f} s{mark}",
        flush=True,
    )
    for finding in last.findings[:1]:
        print(f"{'':30} [{finding.rule}] {finding.found[:160]}")
    return ok, report.admitted, cpu


if __name__ == "__main__":
    main()
