"""The gate on hints: short texts that do not tell the answer, neither whole nor in pieces."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from spade_envs.admission.actions import size
from spade_envs.admission.evidence import Episode, Evidence, Level
from spade_envs.admission.rates import wilson
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import Sheet, label
from spade_envs.contract.plain import plain

if TYPE_CHECKING:
    from spade_envs.isolation import InstanceInfo

GUESSED = 10  # an action of so few is guessed easily, so that naming it gives nothing away
USUAL_FROM = 8  # episodes that show what is the same in all
PIECES_FROM = 4  # letters and digits
MOST_WORDS = 300  # of an episode's hints: more come together to anything


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
    """Return the text of an expert's action that its hints tell, or None.

    The hint of its state or the first one may hold it whole; all hints so far may hold it in pieces.
    """
    task = str(episode.first[0]) if instance.tools and episode.first else ""
    for turn, action in enumerate(episode.actions):
        so_far = episode.hints[: turn + 1]
        hints = {so_far[0], episode.hints[min(turn, len(episode.hints) - 1)]}
        for text in spoken(action, instance):
            if text not in usual and text not in task and _told(text, hints, so_far):
                return text
    return None


def _told(text: str, hints: Collection[str], so_far: Sequence[str]) -> bool:
    whole = re.compile(rf"(?<!\w){re.escape(text)}(?!\w)", re.IGNORECASE)
    return any(whole.search(said) for said in hints) or in_pieces(text, " ".join(dict.fromkeys(so_far)))


def in_pieces(text: str, said: str) -> bool:
    """Say whether a text is made of words of another in their order: letters, numbers, halves of a word.

    Other words may stand between. Texts of fewer than ``PIECES_FROM`` letters and digits are not looked for:
    they come together by chance.
    """
    wanted = "".join(_words(text))
    ends = {0}  # how much of it the words so far can make
    for word in _words(said)[:MOST_WORDS]:
        ends |= {end + len(word) for end in ends if wanted.startswith(word, end)}
    return len(wanted) >= PIECES_FROM and len(wanted) in ends


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


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
