"""The gates on how a design works: pure functions over evidence, each noting what it saw and how to mend it.

Those on what a design is worth as a task stand in :mod:`hint_gate`, :mod:`short_cut_gate` and :mod:`level_gate`.
"""

from __future__ import annotations

from itertools import pairwise

from spade_envs.admission.evidence import Episode, Evidence, Level, Memory, Search
from spade_envs.admission.questions import determined
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import Sheet, label
from spade_envs.contract.plain import plain

TOLERANCE = 1e-6  # of a return: sums of floats
KEPT_BLOCKS = 0.5  # pieces of memory per step; an interpreter's own habits keep less than a tenth of that
SETTLED = 1  # looks at the memory until caches are full
KEPT_BY_RESET, KEPT_AT_LEAST = 2.5, 40  # pieces of memory per episode, and in all
UNSTEADY = 0.05  # what the same episodes keep is the same each time; what libraries cache becomes less
KEPT_MB = 4
SEARCHED_SEED = 0

_FAULTS = {
    "timeout": "Make every call finish in time: bound each loop, and search with a budget.",
    "memory": "Keep what is stored bounded: clear it in reset(), and let nothing grow from step to step.",
    "died": "Use plain Python and NumPy in moderate sizes; nothing that ends the process.",
    "raised": "Answer every action of the space at every step up to the time limit, or end the episode.",
    "contract": "Return exactly what the declared spaces and Gymnasium's signatures promise, on every seed.",
    "protocol": "Return plain values of moderate size: numbers, texts, arrays, dicts, tuples and lists.",
}


def faults(evidence: Evidence, sheet: Sheet) -> None:
    """Note what stopped an episode: at most one thing, since nothing is played after it."""
    for episode in evidence.episodes:
        if episode.fault:
            kind, message = episode.fault.kind, episode.fault.message
            sheet.fail(f"runs.{kind}", message, _FAULTS.get(kind, _FAULTS["raised"]), episode)
    if evidence.too_slow:
        found = f"the time for one design was used up after {len(evidence.episodes)} episodes"
        sheet.fail("runs.slow", found, "Make reset() and step() cheaper; precompute what does not change.")


def form(evidence: Evidence, _: Settings, sheet: Sheet) -> None:
    """The source compiles, and every level builds with rules that an agent can read."""
    if evidence.rejection:
        sheet.findings.extend(evidence.rejection.findings)
    for instance in list(evidence.instances.values())[:1]:
        sheet.saw |= {"rules": instance.rules, "tools": len(instance.tools)}
        sheet.saw |= {"observation space": str(instance.observation_space)[:300]}
        sheet.saw |= {"action space": str(instance.action_space)[:300]}
        if not instance.rules.strip():
            remedy = "Write the rules there, as the agent reads them."
            sheet.fail("form.rules", "the class has no docstring", remedy)


def runs(evidence: Evidence, _: Settings, sheet: Sheet) -> None:
    """Nothing stops an episode: no exception, no value outside its space, no hang. Returns are bounded."""
    steps = sum(len(episode.actions) for episode in evidence.episodes)
    sheet.saw |= {"episodes": len(evidence.episodes), "steps": steps}
    _bound(_whole(evidence), sheet)
    _stated(_whole(evidence), sheet)
    for played, memory in evidence.memory.items():
        _growth(played, memory, sheet)


def _growth(played: str, memory: list[Memory], sheet: Sheet) -> None:
    """The same episode over and over must leave no more behind each time."""
    blocks, megabytes = _kept(memory)
    sheet.saw |= {f"objects kept per step, {played}": round(max(0.0, blocks), 1)}
    if grows(memory):
        found = f"each repetition of {played} keeps {blocks:.1f} more objects per step, {megabytes} MB more"
        sheet.fail("runs.memory", found, _FAULTS["memory"])


def grows(memory: list[Memory]) -> bool:
    """Say whether every repetition kept more; further ones can only show that one does not.

    What is judged is the least that any repetition keeps, after the first ones, which may fill caches.
    """
    each = [later.blocks - sooner.blocks for sooner, later in pairwise(memory[SETTLED:])]
    if not each:
        return False
    kept, steady = min(each), max(each) - min(each) <= UNSTEADY * max(each)
    many = steady and kept >= KEPT_AT_LEAST and kept / max(1, memory[-1].episodes) > KEPT_BY_RESET
    blocks, megabytes = _kept(memory)
    return blocks > KEPT_BLOCKS or many or megabytes >= KEPT_MB


def _kept(memory: list[Memory]) -> tuple[float, int]:
    """Return the least that a repetition keeps: pieces of memory for each step, and megabytes."""
    pairs = list(pairwise(memory[SETTLED:]))
    blocks = min((later.blocks - sooner.blocks for sooner, later in pairs), default=0)
    megabytes = min((later.peak_mb - sooner.peak_mb for sooner, later in pairs), default=0)
    return blocks / max(1, memory[-1].steps), megabytes


def determinism(evidence: Evidence, _: Settings, sheet: Sheet) -> None:
    """The same seed and actions give the same episode, wherever and in whatever order they are played."""
    differ = [pair for pair in evidence.pairs if first_difference(*pair) is not None]
    sheet.saw |= {"pairs": len(evidence.pairs), "different": len(differ)}
    for first, again in differ[:1]:
        sheet.fail(
            "determinism.differs",
            f"{again.policy}, gave something else at turn {first_difference(first, again)}",
            "Draw only from self.np_random or random, keep no state that reset() does not set, iterate over"
            " sorted(...) instead of sets, and let render(), hint() and expert_action() change nothing.",
            first,
        )


def first_difference(first: Episode, again: Episode) -> int | None:
    """Return the turn at which two episodes part, or None; texts count where both have them."""
    streams = [(first.trace, again.trace), (first.views, again.views) if again.views else ((), ())]
    turns = [
        next((k for k, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
        for one, two in streams
        if one != two
    ]
    return min(turns, default=None)


def solvable(evidence: Evidence, _: Settings, sheet: Sheet) -> None:
    """The expert succeeds on every seed of every level."""
    limit = evidence.header.max_episode_steps
    for level in evidence.levels:
        shown = evidence.by("expert", level)
        won = [e for e in shown if e.success]
        sheet.saw[label("expert", level)] = f"{len(won)}/{len(shown)}"
        sheet.saw[label("most steps", level)] = max((len(e.actions) for e in won), default=None)
        lost = [e for e in shown if not e.success]
        if lost:
            sheet.fail(
                "solvable.expert",
                f"expert_action(), followed from reset(), fails on {len(lost)} of {len(shown)} seeds",
                f"Let it succeed on every seed within max_episode_steps = {limit}; draw only such instances.",
                lost[0],
            )
        _peeks(shown, level, sheet)
        determined(evidence, level, sheet)
        if level in evidence.searched:
            _search(evidence.searched[level], label("search without the expert", level), sheet)


def _peeks(shown: list[Episode], level: Level, sheet: Sheet) -> None:
    """Find two episodes that look alike so far, in which the expert does not do the same."""
    does: dict[tuple[int, ...], tuple[str, Episode]] = {}
    for episode in shown:
        for turn, action in zip(range(len(episode.trace)), episode.actions, strict=False):
            said = str(plain(action))
            other, first = does.setdefault(episode.trace[: turn + 1], (said, episode))
            if other != said:
                found = (
                    f"expert_action() does different things on seeds {first.seed} and {episode.seed}, "
                    f"which show the same up to step {turn}"
                )
                remedy = "Show what decides it, or let the expert look first, as an agent must."
                sheet.saw[label("expert knows more than is shown", level)] = f"step {turn}"
                sheet.fail("solvable.peeks", found, remedy, episode)
                return


def _search(search: Search, name: str, sheet: Sheet) -> None:
    if search.shortest is None:
        sheet.saw[name] = f"none of {search.tried} sequences of up to {search.depth} actions succeeds"
        return
    length = len(search.shortest)
    sheet.saw[name] = f"seed {SEARCHED_SEED}: {length} actions, {plain(list(search.shortest))}"


def reward(evidence: Evidence, _: Settings, sheet: Sheet) -> None:
    """Returns lie in [-1, 1], success is stated, and every success returns more than every failure."""
    whole = _whole(evidence)
    _bound(whole, sheet)
    _stated(whole, sheet)
    for level in evidence.levels:
        _success_above_failure([e for e in whole if e.level == level], sheet)


def _whole(evidence: Evidence) -> list[Episode]:
    return [episode for episode in evidence.episodes if episode.complete]


def _bound(whole: list[Episode], sheet: Sheet) -> None:
    sheet.saw |= {"lowest return": min((e.total for e in whole), default=None)}
    sheet.saw |= {"highest return": max((e.total for e in whole), default=None)}
    worst = max(whole, key=lambda e: abs(e.total), default=None)
    if worst and abs(worst.total) > 1 + TOLERANCE:
        found = f"the rewards of an episode add up to {worst.total:.3g}, outside [-1, 1]"
        remedy = "Pay for the goal only, or pay each sub-goal once, and scale the sum."
        sheet.fail("reward.bound", found, remedy, worst)


def _stated(whole: list[Episode], sheet: Sheet) -> None:
    sheet.breaches(whole, "State info['is_success'] as a bool, and end the episode at the goal.")


def _success_above_failure(whole: list[Episode], sheet: Sheet) -> None:
    least = min((e for e in whole if e.success), key=lambda e: e.total, default=None)
    most = max((e for e in whole if not e.success), key=lambda e: e.total, default=None)
    if least and most and least.total <= most.total + TOLERANCE:
        found = f"a failed episode returns {most.total:.3g}, a successful one {least.total:.3g}"
        sheet.fail("reward.order", found, "Let every success return more than every failure.", most)
