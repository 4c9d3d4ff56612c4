"""What pages over a large registry cost: how long eight visitors at a time wait, and what a page weighs.

    python benchmarks/web.py --folder DIR [--names 20000] [--versions 5] [--seconds 20] [--clients 8] [--json]

The registry is made as `benchmarks/registry.py` makes it, in the folder that is named, kept there, and used again; part
of it gets measurements. A server of its own process is asked by clients over loopback, each from an address of its own
and without a pause: the index narrowed, sorted and turned over at random, words searched for, environments opened. Few
addresses are asked twice: the share that are asked once is printed. A page's weight is that of its HTML and of all
files that it names, none of them compressed. What a page costs is the CPU time of the server's process, asked by one
client before the others come; `--seconds 0` stops after that, and does not mind what else the machine does.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import platform
import random
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from rich.console import Console
from rich.table import Table
from sqlalchemy import insert, select, text, update

from registry import _WORDS, DOMAINS, fill
from spade_envs.records.tables import MEASUREMENTS, VERSIONS
from spade_envs.registry import Registry

MEASURED, ROUNDS = 2_000, 20
"""How many environments have measurements, and of how many rounds."""
ALONE = 300
"""How many pages of each kind one client asks for."""
KINDS = ("index", "search", "environment")


def prepare(root: Path, names: int, versions: int) -> None:
    """Make the registry where there is none; measure part of it where nothing is."""
    if not root.is_dir() or not any(root.iterdir()):
        fill(root, names, versions)
    records = Registry(root).own_records
    with records.writing() as connection:
        if connection.execute(select(MEASUREMENTS.c.key).limit(1)).first():
            return
        rng = random.Random(1)
        newest = list(connection.execute(select(VERSIONS.c.id).where(VERSIONS.c.newest)).scalars())
        for env_id in rng.sample(newest, min(MEASURED, len(newest))):
            rows = [_row(env_id, number, rng) for number in range(ROUNDS)]
            connection.execute(insert(MEASUREMENTS), rows)
            last = {name: rows[-1][name] for name in ("plays", "success", "hinted_success", "regret")}
            connection.execute(update(VERSIONS).where(VERSIONS.c.id == env_id).values(**last))
        connection.execute(text("ANALYZE"))
    records.close()


def _row(env_id: str, number: int, rng: random.Random) -> dict[str, object]:
    success = rng.random()
    return {
        "id": env_id,
        "run": "benchmark",
        "round": number,
        "at": f"2026-01-01T00:00:{number:02d}+00:00",
        "plays": 8,
        "hinted_plays": 8,
        "faults": 0,
        "mean_return": success,
        "success": success,
        "hinted_success": min(1.0, success + 0.2),
        "regret": 0.2,
        "regret_low": 0.1,
        "regret_high": 0.3,
        "mean_steps": 6.0,
    }


@contextlib.contextmanager
def served(root: Path) -> Iterator[tuple[str, int, subprocess.Popen[str]]]:
    """Serve the registry; give host, port and the process."""
    command = [sys.executable, "-m", "spade_envs.cli", "serve", "--port", "0", "--registry", str(root)]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stderr is not None
        line = next(line for line in server.stderr if "pages at" in line)
        address = urlsplit(line.split()[2])
        yield str(address.hostname), int(address.port or 0), server
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(20)


class Client(threading.Thread):
    """One visitor, who asks without a pause."""

    def __init__(self, number: int, host: str, port: int, names: list[str], until: float) -> None:
        super().__init__()
        self.took: dict[str, list[float]] = {kind: [] for kind in KINDS}
        self.asked: list[str] = []
        self._rng = random.Random(number)
        self._names, self._until = names, until
        self._connection = http.client.HTTPConnection(host, port, source_address=(f"127.0.0.{number + 2}", 0))

    def run(self) -> None:
        while time.monotonic() < self._until:
            for kind in KINDS:
                began = time.monotonic()
                self.ask(kind)
                self.took[kind].append(time.monotonic() - began)
        self._connection.close()

    def ask(self, kind: str) -> None:
        self.asked.append(self._address(kind))
        ask(self._connection, self.asked[-1])

    def _address(self, kind: str) -> str:
        rng = self._rng
        if kind == "index":
            return "/?" + urlencode(_narrowed(rng))
        if kind == "search":
            words = [
                rng.choice(_WORDS)[: rng.randint(3, 6)],
                *rng.choice([[], [rng.choice(_WORDS)], ["lamp"]]),
            ]
            return "/?" + urlencode({"q": " ".join([*words, *rng.choice([[], [str(rng.randint(1, 999))]])])})
        return f"/environments/{rng.choice(self._names)}"


def _narrowed(rng: random.Random) -> dict[str, object]:
    """Return what one visitor asks of the index: the list from anywhere, or up to four facets and one of ten pages."""
    look = {"view": rng.choice(["cards", "cards", "table"]), **({"all": "1"} if rng.random() < 0.1 else {})}
    if rng.random() < 0.3:
        return {**look, "page": rng.randint(1, 800)}
    low = rng.randint(0, 16) / 20
    narrowing: dict[str, object] = {
        "domain": rng.choice(DOMAINS),
        "skill": rng.choice(["planning", "logical deduction"]),
        "difficulty": f"{low:g}..{low + 0.2:.2g}",
        "status": "active",
        "origin": "seed",
        "steps": "11..20",
    }
    chosen = rng.sample(sorted(narrowing), rng.randint(1, 4))
    sort = rng.choice(["", "newest", "difficulty", "regret", "success", "diversity"])
    return {name: narrowing[name] for name in chosen} | look | {"sort": sort, "page": rng.randint(1, 10)}


def ask(connection: http.client.HTTPConnection, address: str) -> bytes:
    connection.request("GET", address, headers={"Accept": "text/html"})
    answer = connection.getresponse()
    body = answer.read()
    assert answer.status == 200, (address, answer.status, body[-500:])
    return body


def weight(connection: http.client.HTTPConnection, address: str) -> int:
    """Return what a page and its files weigh, in bytes."""
    page = ask(connection, address)
    files = set(re.findall(rb'(?:src|href)="(/static/[^"]+)"', page))
    return len(page) + sum(len(ask(connection, file.decode())) for file in files)


def measure(root: Path, clients: int, seconds: float) -> dict[str, float]:
    names = sorted(path.name for path in root.iterdir() if path.name[0].isupper())
    with served(root) as (host, port, server):
        first = http.client.HTTPConnection(host, port)
        began = time.monotonic()
        ask(first, "/")
        figures = {"the very first page, ms": 1e3 * (time.monotonic() - began)}
        paths = {"index": "/", "search": "/?q=amber+lamp", "environment": f"/environments/{names[99]}"}
        figures |= {f"{kind}: weight, kB": weight(first, path) / 1e3 for kind, path in paths.items()}
        ask(first, "/?all=1")
        first.close()
        figures |= costs(Client(clients, host, port, names, 0.0), server.pid)
        if seconds:
            until = time.monotonic() + seconds
            visitors = [Client(number, host, port, names, until) for number in range(clients)]
            figures |= waits(visitors, server.pid)
        figures["memory of the server, MB"] = memory(server.pid)
    return figures


def costs(visitor: Client, pid: int) -> dict[str, float]:
    """Return what one page of each kind costs the server, which nobody else asks."""
    figures = {}
    for kind in KINDS:
        before = cpu(pid)
        for _ in range(ALONE):
            visitor.ask(kind)
        figures[f"{kind}: CPU of the server, ms"] = 1e3 * (cpu(pid) - before) / ALONE
    return figures


def waits(visitors: list[Client], pid: int) -> dict[str, float]:
    """Return how long visitors wait who ask at the same time."""
    before, began = cpu(pid), time.monotonic()
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    figures: dict[str, float] = {}
    for kind in KINDS:
        cuts = statistics.quantiles([one for visitor in visitors for one in visitor.took[kind]], n=20)
        figures |= {f"{kind}: median, ms": 1e3 * cuts[9], f"{kind}: 95th percentile, ms": 1e3 * cuts[18]}
    asked = Counter(address for visitor in visitors for address in visitor.asked)
    figures["addresses asked once, %"] = 100 * sum(n == 1 for n in asked.values()) / len(asked)
    figures["requests a second"] = asked.total() / (time.monotonic() - began)
    figures["CPU of the server a request, ms"] = 1e3 * (cpu(pid) - before) / asked.total()
    return figures


def cpu(pid: int) -> float:
    """Return the CPU time of a process, in seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid: int) -> float:
    """Return the greatest resident size of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))) / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--folder", type=Path, required=True, help="where the large registry is kept")
    parser.add_argument("--names", type=int, default=20_000)
    parser.add_argument("--versions", type=int, default=5)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    root = options.folder.absolute()
    prepare(root, options.names, options.versions)
    show(measure(root, options.clients, options.seconds), options)


def show(figures: dict[str, float], options: argparse.Namespace) -> None:
    machine = f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    machine += f", Python {platform.python_version()}"
    packages = ", ".join(
        f"{name} {version(name)}" for name in ("fastapi", "uvicorn", "sqlalchemy", "spade-envs")
    )
    if options.json:
        print(json.dumps({"machine": machine, "packages": packages, **figures}))
        return
    title = f"{options.names * options.versions:,} versions, {options.clients} clients"
    table = Table("figure", "value", title=title)
    for name, value in figures.items():
        table.add_row(name, f"{value:,.1f}")
    Console().print(table)
    print(f"{machine}; {packages}")


if __name__ == "__main__":
    main()
