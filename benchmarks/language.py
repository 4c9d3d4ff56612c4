"""How fast compiled designs are: steps of compiled against plain Python, and what compiling and loading cost.

Run it as ``python benchmarks/language.py [DESIGN ...]``; without a design it takes those in ``seeds/``. Times
are CPU time; the two kinds are run in turns, and the ratio is of the medians, so that a busy machine disturbs
both alike. Give it designs that you trust: the plain kind is executed in this process.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from spade_envs.contract import Rejection
from spade_envs.language import CompiledSource, compile_source, load

EPISODES, TURNS = 20, 15


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def play(env: Any, actions: list[list[Any]]) -> None:
    for seed, episode in enumerate(actions):
        env.reset(seed=seed)
        for action in episode:
            env.step(action)


def expert_actions(env: Any, limit: int) -> list[list[Any]]:
    """Return the expert's actions of some episodes, so that both kinds play the same steps."""
    episodes = []
    for seed in range(EPISODES):
        env.reset(seed=seed)
        episode: list[Any] = []
        over = False
        while not over and len(episode) < limit:
            episode.append(env.expert_action())
            _, _, terminated, truncated, _ = env.step(episode[-1])
            over = terminated or truncated
        episodes.append(episode)
    return episodes


def measure(path: Path) -> tuple[float, float, float, float]:
    """Return the ratio of speeds, a compiled step in microseconds, and compiling and loading in milliseconds."""
    source = path.read_text()
    compiled = compile_source(source)
    if isinstance(compiled, Rejection):
        raise SystemExit(compiled.text(str(path), source))
    names: dict[str, Any] = {"__name__": "plain"}
    exec(compile(source, str(path), "exec", dont_inherit=True), names)
    plain, ours = names[compiled.class_name](), load(compiled).environment_class()
    actions = expert_actions(ours, compiled.header.max_episode_steps)
    steps = sum(map(len, actions))
    repeats = max(1, 2_000 // steps)
    times: dict[str, list[float]] = {"plain": [], "ours": []}
    for _ in range(TURNS):
        for kind, env in (("plain", plain), ("ours", ours)):
            times[kind].append(cpu_seconds(lambda env=env: [play(env, actions) for _ in range(repeats)]))
    ratio = statistics.median(times["plain"]) / statistics.median(times["ours"])
    step = statistics.median(times["ours"]) / (steps * repeats)
    return ratio, 1e6 * step, 1e3 * _compiling(source), 1e3 * _loading(compiled)


def _compiling(source: str) -> float:
    def work() -> None:
        compile_source.cache_clear()
        compile_source(source)

    return statistics.median(cpu_seconds(work) for _ in range(7))


def _loading(compiled: CompiledSource) -> float:
    return statistics.median(cpu_seconds(lambda: load(compiled)) for _ in range(7))


def main(paths: list[Path]) -> None:
    print(f"{'design':24}{'compiled / plain':>18}{'step, µs':>12}{'compile, ms':>14}{'load, ms':>12}")
    ratios = []
    for path in paths:
        ratio, step, compiling, loading = measure(path)
        ratios.append(ratio)
        print(f"{path.stem:24}{ratio:18.3f}{step:12.1f}{compiling:14.1f}{loading:12.1f}")
    print(f"{'geometric mean':24}{statistics.geometric_mean(ratios):18.3f}")


if __name__ == "__main__":
    given = [Path(name) for name in sys.argv[1:]]
    main(given or sorted(Path(__file__).resolve().parents[1].glob("seeds/*.py")))
