"""The gates: pure functions over evidence. Each says what it saw, and for each fault how to mend it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from spade_envs.admission.actions import size
from spade_envs.admission.evidence import RESTART, Episode, Evidence, Level
from spade_envs.admission.rates import against, p_more, p_shorter, wilson
from spade_envs.admission.settings import Settings
from spade_envs.contract.findings import Finding
from spade_envs.contract.plain import plain
from spade_envs.isolation.host import InstanceInfo

TOLERANCE = 1e-6  # of a return: sums of floats

_FAULTS = {
    "timeout": "Make every call finish within its deadline: bound each loop, and search with a budget.",
    "memory": "Keep what is stored bounded: clear it in reset(), and do not grow a list or cache at every step.",
    "died": "Use plain Python and NumPy in moderate sizes; nothing that ends the process.",
    "raised": "Handle every action that lies in the space, at every step up to the time limit: answer it, or end the episode.",
    "contract": "Return exactly what the declared spaces and Gymnasium's signatures promise, on every seed.",
    "protocol": "Return plain values of moderate size: numbers, texts, arrays, and dicts, tuples and lists of these.",
}


@dataclass(frozen=True, slots=True)
class GateResult:
    """A gate's verdict.

    Attributes:
        name: the gate.
        passed: whether nothing was found.
        saw: numbers behind the verdict; ``episode`` is the first failing one as seed and actions.
        findings: what is wrong and how to mend it.
    """

    name: str
    passed: bool
    saw: dict[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return the result as JSON-ready data."""
        found = [finding.as_dict() for finding in self.findings]
        return {"name": self.name, "passed": self.passed, "saw": plain(self.saw), "findings": found}


class Sheet:
    """A gate's notes: what it saw and found."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.saw: dict[str, Any] = {}
        self.findings: list[Finding] = []

    def fail(self, rule: str, found: str, remedy: str, episode: Episode | None = None) -> None:
        """Note a finding; the first episode that shows one is kept so that it can be played again."""
        if episode is not None:
            found = f"{found} ({place(episode)})"
            self.saw.setdefault("episode", replay(episode))
        self.findings.append(Finding(rule, found, remedy))

    def result(self) -> GateResult:
        """Return the verdict."""
        return GateResult(self.name, not self.findings, self.saw, tuple(self.findings))


def place(episode: Episode) -> str:
    """Say which episode it was, in a few words."""
    level = "" if episode.level is None else f"level {episode.level}, "
    return f"{level}seed {episode.seed}, {episode.policy}, step {len(episode.actions)}"


def replay(episode: Episode) -> dict[str, Any]:
    """Return what is needed to play an episode again."""
    return {
        "policy": episode.policy,
        "level": episode.level,
        "seed": episode.seed,
        "actions": plain(list(episode.actions)),
    }


def faults(evidence: Evidence, sheet: Sheet) -> None:
    """Note what stopped an episode: at most one thing, since nothing is played after it."""
    for episode in evidence.episodes:
        if episode.fault:
            found = f"{episode.fault.call}(): {episode.fault.message}"
            remedy = _FAULTS.get(episode.fault.kind, _FAULTS["raised"])
            sheet.fail(f"runs.{episode.fault.kind}", found, remedy, episode)
    if evidence.too_slow:
        found = f"the time for one design was used up after {len(evidence.episodes)} episodes"
        sheet.fail("runs.slow", found, "Make reset() and step() cheaper; precompute what does not change.")


def form(evidence: Evidence, _: Settings, sheet: Sheet) -> None:
    """The source compiles, and every level builds with rules that an agent can read."""
    if evidence.rejection:
        sheet.findings.extend(evidence.rejection.findings)
    for instance in list(evidence.instances.values())[:1]:
        sheet.saw |= {"rules": instance.rules}
        sheet.saw |= {"observation_space": str(instance.observation_space)[:300]}
        sheet.saw |= {"action_space": str(instance.action_space)[:300], "tools": len(instance.tools)}
        if not instance.rules.strip():
            sheet.fail(
                "form.rules", "the class has no docstring", "Write the rules there, as the agent reads them."
            )


def runs(evidence: Evidence, _: Settings, sheet: Sheet) -> None:
    """Nothing stops an episode: no exception, no value outside its space, no hang, no growth, no reward without end."""
    sheet.saw |= {"episodes": len(evidence.episodes), "steps": sum(len(e.actions) for e in evidence.episodes)}
    _bound(evidence, sheet)


def determinism(evidence: Evidence, _: Settings, sheet: Sheet) -> None:
    """The same seed and actions give the same episode, wherever and in whatever order they are played."""
    sheet.saw |= {"pairs": len(evidence.pairs)}
    differ = [
        (first, again) for first, again in evidence.pairs if _first_difference(first, again) is not None
    ]
    sheet.saw |= {"different": len(differ)}
    for first, again in differ[:1]:
        turn = _first_difference(first, again)
        sheet.fail(
            "determinism.differs",
            f"the same seed and actions gave something else at turn {turn}, played again as {again.policy!r}",
            "Draw only from self.np_random or random, keep no state over episodes outside what reset() sets, iterate"
            " over sorted(...) instead of sets, and let render(), hint() and expert_action() change nothing.",
            first,
        )


def _first_difference(first: Episode, again: Episode) -> int | None:
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
        sheet.saw[_label("expert", level)] = f"{len(won)}/{len(shown)}"
        sheet.saw[_label("steps", level)] = max((len(e.actions) for e in won), default=None)
        lost = [e for e in shown if not e.success and not e.fault]
        if lost:
            sheet.fail(
                "solvable.expert",
                f"expert_action(), followed from reset(), fails on {len(lost)} of {len(shown)} seeds",
                f"Make it reach the goal on every seed within max_episode_steps = {limit}, or draw only such instances.",
                lost[0],
            )
        _breaches(
            shown,
            "solvable.",
            "Return an action of the action space, of the kind that step() receives.",
            sheet,
        )


def reward(evidence: Evidence, _: Settings, sheet: Sheet) -> None:
    """Returns lie in [-1, 1], success is stated, and every success returns more than every failure."""
    whole = [e for e in evidence.episodes if e.complete and RESTART not in e.policy]
    _bound(evidence, sheet)
    _breaches(
        whole,
        "reward.",
        "State the goal in every step: end with terminated=True exactly when it is reached.",
        sheet,
    )
    for level in evidence.levels:
        _success_above_failure([e for e in whole if e.level == level], sheet)


def _bound(evidence: Evidence, sheet: Sheet) -> None:
    whole = [e for e in evidence.episodes if e.complete and RESTART not in e.policy]
    sheet.saw |= {"lowest return": min((e.total for e in whole), default=None)}
    sheet.saw |= {"highest return": max((e.total for e in whole), default=None)}
    worst = max(whole, key=lambda e: abs(e.total), default=None)
    if worst and abs(worst.total) > 1 + TOLERANCE:
        found = f"the rewards of an episode add up to {worst.total:.3g}, outside [-1, 1]"
        sheet.fail(
            "reward.bound", found, "Pay for the goal only, or pay each sub-goal once; scale the sum.", worst
        )


def _success_above_failure(whole: list[Episode], sheet: Sheet) -> None:
    least = min((e for e in whole if e.success), key=lambda e: e.total, default=None)
    most = max((e for e in whole if not e.success), key=lambda e: e.total, default=None)
    if least and most and least.total <= most.total + TOLERANCE:
        found = f"a failed episode returns {most.total:.3g}, a successful one {least.total:.3g}"
        sheet.fail("reward.order", found, "Let every success return more than every failure.", most)


def _breaches(episodes: Iterable[Episode], prefix: str, remedy: str, sheet: Sheet) -> None:
    """Note each kind of breach once, with the first episode that shows it."""
    seen: set[str] = set()
    for episode in episodes:
        for rule, found in episode.breaches:
            if rule.startswith(prefix) and rule not in seen:
                seen.add(rule)
                sheet.fail(rule, found, remedy, episode)


_SHORT_CUTS = {
    "uniform": ("random", "random play", "Ask for more: a longer way, more choices, or an answer that cannot be guessed."),
    "another's actions": ("replay", "replaying another episode's expert", "Let the seed decide what the right actions are."),
    "hint's text": ("hint", "playing the hint's own words", "Let the hint give a strategy instead of the answer."),
    "every answer at once": ("superset", "one answer that lists every possible one", "Compare with ==, not with `in`."),
    "wrong answer": ("verifier", "the expert's answer with its numbers changed", "Compare the values of the answer, not only its shape."),
    "held": ("constant", "one action repeated", "Let the right action depend on the state and the seed."),
}  # fmt: skip


def short_cut(evidence: Evidence, settings: Settings, sheet: Sheet) -> None:
    """No policy that ignores the task succeeds in more than a quarter of the episodes."""
    for level in evidence.levels:
        rates = {name: (sum(e.success for e in es), len(es), es) for name, es in _short_cuts(evidence, level)}
        answer_counts = rates.pop("empty answer", (0, 0, []))[0] == 0
        for name, (won, played, episodes) in rates.items():
            sheet.saw[_label(name, level)] = _rate(won, played)
            broken = against(won, played, settings.short_cut_limit) == "broken"
            if broken and (name != "wrong answer" or answer_counts):
                rule, what, remedy = _SHORT_CUTS.get(name) or _SHORT_CUTS["held"]
                what = what if rule != "constant" else f"{what} ({name.removeprefix('held ')})"
                found = f"{what} succeeds in {_rate(won, played)} of the episodes; at most a quarter may"
                sheet.fail(f"short-cut.{rule}", found, remedy, next(e for e in episodes if e.success))


def _short_cuts(evidence: Evidence, level: Level) -> Iterator[tuple[str, list[Episode]]]:
    played: dict[str, list[Episode]] = {}
    for episode in evidence.episodes:
        cut = episode.policy in _SHORT_CUTS or episode.policy.startswith(("held ", "empty answer"))
        if cut and episode.level == level and not episode.fault:
            played.setdefault(episode.policy, []).append(episode)
    yield from played.items()


def hint(evidence: Evidence, settings: Settings, sheet: Sheet) -> None:
    """Hints are short texts that do not name the expert's action."""
    shown = [e for e in evidence.episodes if e.hints]
    longest = max(shown, key=lambda e: max(len(h.split()) for h in e.hints), default=None)
    words = max((len(h.split()) for h in longest.hints), default=0) if longest else 0
    sheet.saw |= {"longest": words, "example": shown[0].hints[0][:300] if shown else None}
    if words > settings.hint_words:
        sheet.fail("hint.long", f"a hint has {words} words; at most {settings.hint_words} may stand there",
                   "Say the strategy in one to three sentences.", longest)  # fmt: skip
    empty = next((e for e in shown if not all(h.strip() for h in e.hints)), None)
    if empty:
        sheet.fail("hint.empty", "hint() gives an empty text", "Say what helps in this state.", empty)
    for level, instance in evidence.instances.items():
        experts = [e for e in evidence.by("expert", level) if e.actions and e.hints]
        leaks = [e for e in experts if leaked(e, instance)]
        sheet.saw[_label("leaks", level)] = f"{len(leaks)}/{len(experts)}"
        if wilson(len(leaks), len(experts))[0] > settings.leak_limit:
            what = leaked(leaks[0], instance)
            found = f"the hint names the expert's action {what!r} in {len(leaks)} of {len(experts)} episodes"
            sheet.fail("hint.leak", found, "Say how to find the action, not which one it is.", leaks[0])


def leaked(episode: Episode, instance: InstanceInfo) -> str | None:
    """Return the expert's action that stands in its hint, if one does that is not easily guessed."""
    for turn, action in enumerate(episode.actions):
        texts = spoken(action, instance)
        for text in texts:
            if re.search(
                rf"(?<!\w){re.escape(text)}(?!\w)", episode.hints[min(turn, len(episode.hints) - 1)], re.I
            ):
                return text
    return None


def spoken(action: Any, instance: InstanceInfo) -> list[str]:
    """Return the texts that would give an action away; none where one guess in ten hits it."""
    if instance.tools and isinstance(action, dict):
        values = action.get("arguments", {}).values()
        return [
            text for text in (str(v) for v in values if not isinstance(v, (dict, list))) if len(text) >= 3
        ]
    if isinstance(action, str):
        return [action.strip()] if len(action.strip()) >= 3 or action.strip().isdigit() else []
    if size(instance.action_space) <= 10:
        return []
    if isinstance(action, int) and instance.action_names:
        return [instance.action_names[action - int(getattr(instance.action_space, "start", 0))]]
    numbers = re.findall(r"-?\d+", str(plain(action)))
    return [text for text in (", ".join(numbers), " ".join(numbers)) if text]


def difficulty(evidence: Evidence, settings: Settings, sheet: Sheet) -> None:
    """No higher level is easier: by random success or, where that is nought, by the expert's steps."""
    levels = [
        (level, evidence.by("uniform", level), evidence.by("expert", level)) for level in evidence.levels
    ]
    for level, random, experts in levels:
        sheet.saw[_label("random", level)] = _rate(sum(e.success for e in random), len(random))
        steps = [len(e.actions) for e in experts]
        sheet.saw[_label("expert steps", level)] = round(sum(steps) / len(steps), 2) if steps else None
    for (low, low_random, low_experts), (high, high_random, high_experts) in combinations(levels, 2):
        low_won, high_won = (sum(e.success for e in es) for es in (low_random, high_random))
        if low_won or high_won:
            p, by = (
                p_more(high_won, len(high_random), low_won, len(low_random)),
                "random play succeeds more often",
            )
        else:
            p = p_shorter([len(e.actions) for e in high_experts], [len(e.actions) for e in low_experts])
            by = "the expert needs fewer steps"
        if p < settings.order_p:
            found = f"level {high} is easier than level {low}: {by} (p = {p:.2g})"
            sheet.fail(
                "difficulty.order",
                found,
                "Make 1 the easiest level.",
                high_experts[0] if high_experts else None,
            )


def _label(what: str, level: Level) -> str:
    return what if level is None else f"{what}, level {level}"


def _rate(won: int, played: int) -> str:
    low, high = wilson(won, played)
    return f"{won}/{played} [{low:.2f}, {high:.2f}]"
