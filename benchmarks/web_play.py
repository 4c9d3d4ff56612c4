"""Fifty people play in the browser at once: what a move takes, and what server and workers hold.

Run it with ``python benchmarks/web_play.py [players] [seconds]``: a server of the shipped environments, each player
with a game of another design and seed, moved by forms as its script sends them, as far as its expert goes, then the
next seed. First they think for a second before each move, as people do; then not at all. Memory is proportional: a
page that several processes share counts once. Where other work runs on the machine, the times say little, and the
server's CPU for each move more.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
import statistics
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

import httpx2

from spade_envs.registry import shipped_registry

SEEDS = 3
_SERVER = """
import socket, sys
from spade_envs.registry import Registry, shipped_registry
from spade_envs.web import Rate, WebSettings
from spade_envs.web.serving import run
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
run(WebSettings(stack=[Registry(shipped_registry(), True)], rate=Rate(1e6, 10**6)), listening)
"""


@dataclass
class Player:
    """One visitor, who plays games of one design.

    Attributes:
        games: seed -> what an expert says.
        took: seconds of each move.
    """

    address: str
    name: str
    games: dict[int, list[str]]
    took: list[float] = field(default_factory=list)
    opened: list[float] = field(default_factory=list)

    def play(self, until: float, think: float) -> None:
        """Play until a moment, thinking up to twice as long as that before each move."""
        with httpx2.Client(base_url=self.address, follow_redirects=True, timeout=60) as client:
            while time.monotonic() < until:
                for seed, words in self.games.items():
                    self._game(client, seed, words, until, think)

    def _game(self, client: httpx2.Client, seed: int, words: list[str], until: float, think: float) -> None:
        begin = time.perf_counter()
        page = client.get(f"/play/{self.name}?seed={seed}")
        self.opened.append(time.perf_counter() - begin)
        csrf = re.search(r'name="csrf_token" value="(\w+)"', page.text)
        assert csrf, page.text
        for turn, said in enumerate(words):
            time.sleep(random.uniform(0, 2 * think))
            if time.monotonic() > until:
                break
            sent = {"csrf_token": csrf[1], "turn": str(turn), "said": said}
            begin = time.perf_counter()
            page = client.post(page.url, data=sent, headers={"HX-Request": "true"})
            self.took.append(time.perf_counter() - begin)
            assert f"Turn {turn + 1} of" in page.text, unescape(page.text)
        done = {"csrf_token": csrf[1], "turn": "0", "do": "leave"}
        client.post(page.url, data=done)


def descendants(process: int) -> list[int]:
    own: list[int] = []
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):  # it has ended
            own += map(int, task.read_text().split())
    return own + [one for child in own for one in descendants(child)]


def pss(process: int) -> float:
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def cpu(process: int) -> float:
    """Seconds that a process has computed for."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(server: int, stop: threading.Event, seen: list[tuple[float, float, int]]) -> None:
    while not stop.wait(0.5):
        others = descendants(server)
        seen.append((pss(server), sum(map(pss, others)), len(others)))


def measured(server: int, players: list[Player], seconds: float, think: float) -> None:
    before = cpu(server)
    stop, seen = threading.Event(), list[tuple[float, float, int]]()
    watcher = threading.Thread(target=watch, args=(server, stop, seen))
    watcher.start()
    until = time.monotonic() + seconds
    with ThreadPoolExecutor(len(players)) as threads:
        for player in players:
            player.took.clear()
            player.opened.clear()
        for done in [threads.submit(player.play, until, think) for player in players]:
            done.result()
    stop.set()
    watcher.join()
    used = cpu(server) - before
    moves = sorted(one for player in players for one in player.took)
    opened = sorted(one for player in players for one in player.opened)
    host, workers, processes = max(seen, key=lambda one: one[0] + one[1])
    print(f"  thinking {think:g} s: {len(moves):,} moves in {seconds:g} s")
    print(
        f"    a move: median {_ms(moves, 50)}, 95th percentile {_ms(moves, 95)}, most {1e3 * moves[-1]:.0f} ms"
    )
    print(f"    opening a game: median {_ms(opened, 50)}, 95th percentile {_ms(opened, 95)}")
    print(f"    the server's CPU for a move, all it did counted: {1e3 * used / len(moves):.1f} ms")
    print(
        f"    memory: server {host:.0f} MB, {processes} others {workers:.0f} MB, together {host + workers:.0f} MB"
    )


def _ms(times: list[float], percent: int) -> str:
    return f"{1e3 * statistics.quantiles(times, n=100)[percent - 1]:.0f} ms"


def main(count: int = 50, seconds: float = 20.0) -> None:
    server = subprocess.Popen([sys.executable, "-c", _SERVER], stdout=subprocess.PIPE, text=True)
    assert server.stdout
    address = f"http://127.0.0.1:{server.stdout.readline().strip()}"
    try:
        names = sorted(path.name for path in shipped_registry().iterdir() if (path / "v0.py").is_file())
        with httpx2.Client(base_url=address, timeout=60) as client:
            players = []
            for number in range(count):
                name = names[number % len(names)]
                games = {}
                for seed in range(number * SEEDS, number * SEEDS + SEEDS):
                    steps = client.get(f"/replay/{name}?seed={seed}&format=json").json()["steps"]
                    games[seed] = [step["said"] for step in steps[1:]]
                players.append(Player(address, f"{name}-v0", games))
        print(f"{count} players of {min(count, len(names))} designs")
        for think in (1.0, 0.0):
            measured(server.pid, players, seconds, think)
    finally:
        server.terminate()
        server.wait(20)


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:]))
