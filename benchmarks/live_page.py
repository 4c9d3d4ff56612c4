"""How far behind a run the live page is: a real server, a real Chromium, a run that some other process trains.

    spade-train --config minimal --rounds 6 --run_name live &
    python benchmarks/live_page.py runs/live 6

Prints, for each round, the seconds from the write of its line until the page shows it, and until the last chart does.
"""

from __future__ import annotations

import shutil
import socket
import sys
import threading
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from spade_envs.web import WebSettings
from spade_envs.web.serving import server

LAST_CHART = "#chart-learning desc"


def rounds(run: Path) -> int:
    try:
        return (run / "rounds.jsonl").read_bytes().count(b"\n")
    except OSError:
        return 0


def shows(tab: Page, place: str, words: str) -> None:
    while words not in (tab.locator(place).text_content() or ""):
        time.sleep(0.05)


def follow(tab: Page, run: Path, until: int) -> None:
    seen = rounds(run)
    while seen < until:
        time.sleep(0.05)
        if (done := rounds(run)) > seen:
            seen, wrote = done, (run / "rounds.jsonl").stat().st_mtime
            shows(tab, "#now", f"{seen} of ")
            page = time.time() - wrote
            shows(tab, LAST_CHART, f"{seen} points")
            print(f"round {seen}: page {page:.1f} s, charts {time.time() - wrote:.1f} s", flush=True)


def main(run: Path, until: int) -> None:
    listening = socket.create_server(("127.0.0.1", 0))
    running = server(WebSettings(runs=run.parent))
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]})
    thread.start()
    began, cpu = time.time(), time.process_time()
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page()
        tab.goto(f"http://127.0.0.1:{listening.getsockname()[1]}/runs/{run.name}")
        follow(tab, run, until)
        browser.close()
    print(f"{time.process_time() - cpu:.0f} CPU-seconds of {time.time() - began:.0f} s")
    running.should_exit = True
    thread.join()


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
