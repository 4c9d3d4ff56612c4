"""The gates on what a design is worth as a task: hints that do not tell, no short cut, levels in order."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

from gymnasium import spaces

from spade_envs.admission.actions import size
from spade_envs.admission.evidence import Episode, Evidence, Level
from spade_envs.admission.rates import against, p_more, p_shorter, wilson
from spade_envs.admission.readings import SHOWN, TOLD
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import Sheet, label, rate
from spade_envs.contract.plain import plain

if TYPE_CHECKING:
    from spade_envs.isolation import InstanceInfo

HELD = "held "  # the names of policies that repeat one action begin so
GUESSED = 10  # an action of so few is guessed easily, so that naming it gives nothing away
NEARLY_NOUGHT = 0.04  # share of random play that wins by luck alone: then the expert's steps decide
USUAL_FROM = 8  # episodes that show what is the same in all
_VERIFIER = "wrong answer"
_PREFIXES = (HELD, TOLD, SHOWN)
# Where the agent answers in text, an answer that is seen is no task; a number may be meant to be acted on.
_SHOWN_IN_TEXT = "reads the observation, and answers in text"

# policy -> rule, what it does, how to mend it
_SHORT_CUTS = {
    "uniform": ("random", "random play", "Ask for more: a longer way, or an answer that is hard to guess."),
    "another's actions": (
        "replay",
        "another episode's expert",
        "Let the seed decide which actions are right.",
    ),
    "hint's text": ("hint", "the hint's own words", "Let the hint give a strategy instead of the answer."),
    "hints, step by step": (
        "hint-steps",
        "doing what each state's hint names first",
        "Let the hint say what to reach, and leave the way to the agent.",
    ),
    "every answer at once": (
        "superset",
        "one text that lists every answer",
        "Compare with ==, not with `in`.",
    ),
    _VERIFIER: (
        "verifier",
        "the right answer with its numbers changed",
        "Compare the values, not the shape.",
    ),
    HELD: ("constant", "repeating", "Let the right action depend on the state and the seed."),
    TOLD: ("info", "playing what", "Leave out of info what helps to act: it is for people and for tests."),
    _SHOWN_IN_TEXT: ("shown", "playing what", "Leave the answer out of what is seen."),
    SHOWN: ("observation", "playing what", "Show what the task is, and let the agent find the answer."),
}


def hint(evidence: Evidence, settings: Settings, sheet: Sheet) -> None:
    """Hints are short texts that do not name the expert's action."""
    shown = [e for e in evidence.episodes if e.hints]
    longest = max(shown, key=_longest, default=None)
    words = _longest(longest) if longest else 0
    sheet.saw |= {"most words": words, "example": shown[0].hints[0][:300] if shown else None}
    if words > settings.hint_words:
        found = f"a hint has {words} words; at most {settings.hint_words} may stand there"
        sheet.fail("hint.long", found, "Say the strategy in one to three sentences.", longest)
    empty = next((e for e in shown if not all(text.strip() for text in e.hints)), None)
    if empty:
        sheet.fail("hint.empty", "hint() gives an empty text", "Say what helps in this state.", empty)
    for level, instance in evidence.instances.items():
        _leaks([e for e in evidence.by("expert", level) if e.hints], level, instance, settings, sheet)


def _longest(episode: Episode) -> int:
    return max(len(text.split()) for text in episode.hints)


def _leaks(
    experts: list[Episode], level: Level, instance: InstanceInfo, settings: Settings, sheet: Sheet
) -> None:
    usual = _usual(experts, instance)
    leaks = [e for e in experts if leaked(e, instance, usual) is not None]
    sheet.saw[label("hints that name an action", level)] = f"{len(leaks)}/{len(experts)}"
    if wilson(len(leaks), len(experts))[0] > settings.leak_limit:
        named = leaked(leaks[0], instance, usual)
        found = f"the hint names the expert's action {named!r} in {len(leaks)} of {len(experts)} episodes"
        sheet.fail("hint.leak", found, "Say how to find the action, not which one it is.", leaks[0])


def _usual(experts: list[Episode], instance: InstanceInfo) -> frozenset[str]:
    """Return the texts that stand in every episode's calls of tools: who says them gives nothing away."""
    if not instance.tools:
        return frozenset()
    said = [{text for action in e.actions for text in spoken(action, instance)} for e in experts]
    return frozenset(set.intersection(*said)) if len(said) >= USUAL_FROM else frozenset()


def leaked(episode: Episode, instance: InstanceInfo, usual: frozenset[str] = frozenset()) -> str | None:
    """Return the text of an expert's action that stands in the hint of its state, or in the first hint."""
    task = str(episode.first[0]) if instance.tools and episode.first else ""
    for turn, action in enumerate(episode.actions):
        hints = {episode.hints[0], episode.hints[min(turn, len(episode.hints) - 1)]}
        for text in spoken(action, instance):
            if (
                text not in usual
                and text not in task
                and any(re.search(rf"(?<!\w){re.escape(text)}(?!\w)", said, re.IGNORECASE) for said in hints)
            ):
                return text
    return None


def spoken(action: Any, instance: InstanceInfo) -> list[str]:
    """Return the texts that would give an action away; none where it is easily guessed."""
    if isinstance(action, dict) and instance.tools:
        given = action.get("arguments", {}).items()
        values = [
            str(v)
            for key, v in given
            if not isinstance(v, (bool, dict, list)) and not _few(action, key, instance)
        ]
        return [text for text in values if len(text) >= 3]
    if isinstance(action, str):
        return [action.strip()] if len(action.strip()) >= 3 or action.strip().isdigit() else []
    if size(instance.action_space) <= GUESSED:
        return []
    if isinstance(action, int) and instance.action_names:
        return [instance.action_names[action - int(getattr(instance.action_space, "start", 0))]]
    numbers = re.findall(r"-?\d+", str(plain(action)))
    return [", ".join(numbers), " ".join(numbers)]


def _few(action: dict[str, Any], argument: str, instance: InstanceInfo) -> bool:
    """Say whether a tool's argument has so few values that it is easily guessed."""
    for function in (tool["function"] for tool in instance.tools):
        if function["name"] == action.get("name"):
            schema = function.get("parameters", {}).get("properties", {}).get(argument, {})
            return 0 < len(schema.get("enum", ())) <= GUESSED
    return False


def short_cut(evidence: Evidence, settings: Settings, sheet: Sheet) -> None:
    """No policy that ignores the task succeeds in more than a quarter of the episodes."""
    for level in evidence.levels:
        instance = evidence.instances.get(level)
        in_text = instance is not None and isinstance(instance.action_space, spaces.Text)
        played: defaultdict[str, list[Episode]] = defaultdict(list)
        for episode in evidence.episodes:
            if episode.level == level:
                played[episode.policy].append(episode)
        if any(episode.success for episode in played["empty answer"]):
            played.pop(_VERIFIER, None)  # what is answered does not matter, so a wrong answer proves nothing
        for kind in _SHORT_CUTS:
            plays = [episodes for policy, episodes in played.items() if _kind(policy, in_text) == kind]
            if plays:
                _short_cut(kind, max(plays, key=_least_rate), level, settings, sheet)


def _short_cut(kind: str, episodes: list[Episode], level: Level, settings: Settings, sheet: Sheet) -> None:
    """Judge the most successful policy of a kind."""
    won, policy = [e for e in episodes if e.success], episodes[0].policy
    share = rate(len(won), len(episodes))
    sheet.saw[label(policy, level)] = share
    limit = limit_of(policy, settings)
    if against(len(won), len(episodes), limit) == "broken":
        rule, what, remedy = _SHORT_CUTS[kind]
        what = f"{what} {policy.removeprefix(HELD)}" if policy.startswith(_PREFIXES) else what
        found = f"{what} succeeds in {share} of the episodes; at most {limit:.0%} may"
        sheet.fail(f"short-cut.{rule}", found, remedy, won[0])


def limit_of(policy: str, settings: Settings) -> float:
    """Return the share of episodes that a short cut may win.

    What the observation shows may be meant to be acted on: only where that is nearly all is it noted.
    """
    return settings.shown_limit if policy.startswith(SHOWN) else settings.short_cut_limit


def _kind(policy: str, in_text: bool) -> str:
    kind = next((prefix for prefix in _PREFIXES if policy.startswith(prefix)), policy)
    return _SHOWN_IN_TEXT if kind == SHOWN and in_text else kind


def _least_rate(episodes: list[Episode]) -> float:
    return wilson(sum(e.success for e in episodes), len(episodes))[0]


def difficulty(evidence: Evidence, settings: Settings, sheet: Sheet) -> None:
    """No higher level is easier: by random success or, where that is nought, by the expert's steps."""
    for level in evidence.levels:
        random, steps = evidence.by("uniform", level), _steps(evidence, level)
        sheet.saw[label("random play", level)] = rate(sum(e.success for e in random), len(random))
        sheet.saw[label("expert's mean steps", level)] = round(sum(steps) / max(1, len(steps)), 2)
    for low, high in combinations(evidence.levels, 2):
        p, by = _easier(evidence, low, high)
        if p < settings.order_p:
            found = f"level {high} is easier than level {low}: {by} (p = {p:.2g})"
            sheet.fail("difficulty.order", found, "Make 1 the easiest level and the last one the hardest.")


def _easier(evidence: Evidence, low: Level, high: Level) -> tuple[float, str]:
    """Return how likely it is by chance that the high level looks so easy, and by what it does."""
    low_random, high_random = evidence.by("uniform", low), evidence.by("uniform", high)
    low_won, high_won = (sum(e.success for e in episodes) for episodes in (low_random, high_random))
    if low_won + high_won > NEARLY_NOUGHT * (len(low_random) + len(high_random)):
        p = p_more(high_won, len(high_random), low_won, len(low_random))
        return p, "random play succeeds more often"
    return p_shorter(_steps(evidence, high), _steps(evidence, low)), "the expert needs fewer steps"


def _steps(evidence: Evidence, level: Level) -> list[int]:
    return [len(episode.actions) for episode in evidence.by("expert", level)]
