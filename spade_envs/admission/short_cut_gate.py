"""The gate on short cuts: no policy that ignores the task succeeds."""

from __future__ import annotations

from collections import defaultdict

from gymnasium import spaces

from spade_envs.admission.evidence import Episode, Evidence, Level
from spade_envs.admission.rates import against, wilson
from spade_envs.admission.readings import SHOWN, TOLD
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import Sheet, label, rate

HELD = "held "  # the names of policies that repeat one action begin so
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
    "hint's words": (
        "hint-words",
        "playing what the hint names, one after the other,",
        "Let the hint say what to reach, and leave the way to the agent.",
    ),
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


def short_cut(evidence: Evidence, settings: Settings, sheet: Sheet) -> None:
    """No policy that ignores the task succeeds in more than a quarter of the episodes."""
    for level in evidence.levels:
        for kind, plays in short_cuts(evidence, level).items():
            _short_cut(kind, max(plays, key=_least_rate), level, settings, sheet)


def short_cuts(evidence: Evidence, level: Level) -> dict[str, list[list[Episode]]]:
    """Return, for each kind of short cut that was played at a level, the episodes of each of its policies."""
    instance = evidence.instances.get(level)
    in_text = instance is not None and isinstance(instance.action_space, spaces.Text)
    played: defaultdict[str, list[Episode]] = defaultdict(list)
    for episode in evidence.episodes:
        if episode.level == level:
            played[episode.policy].append(episode)
    if any(episode.success for episode in played["empty answer"]):
        played.pop(_VERIFIER, None)  # what is answered does not matter, so a wrong answer proves nothing
    kinds = {
        kind: [plays for policy, plays in played.items() if _kind(policy, in_text) == kind]
        for kind in _SHORT_CUTS
    }
    return {kind: plays for kind, plays in kinds.items() if plays}


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
