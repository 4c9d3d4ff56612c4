"""Environments of one question, in which an episode is one answer: it must follow from what is shown.

Where there is more to do than to answer, an agent may find out what it is not shown. Where there is not, and two seeds
show the same and want different answers, no agent can do better than guess.
"""

from __future__ import annotations

from spade_envs.admission.evidence import Episode, Evidence, Level
from spade_envs.admission.sheet import Sheet, label

ANSWERS = "the answer of another seed that shows the same"
"""Name of the plays that tell whether several answers are right."""


def asks_once(evidence: Evidence, level: Level) -> bool:
    """Say whether an episode is one action: a time limit of one step, or no tool but the answer."""
    instance = evidence.instances.get(level)
    tools = instance.tools if instance else []
    return evidence.header.max_episode_steps == 1 or len(tools) == 1


def doubles(shown: list[Episode]) -> tuple[Episode, Episode] | None:
    """Return two of the expert's episodes that begin with the same and end with different answers, if there are any."""
    known: dict[int, Episode] = {}
    for episode in shown:
        if episode.trace and episode.actions:
            first = known.setdefault(episode.trace[0], episode)
            if str(first.actions) != str(episode.actions):
                return first, episode
    return None


def determined(evidence: Evidence, level: Level, sheet: Sheet) -> None:
    """Refuse a question whose text does not decide what is right."""
    wrong = next((one for one in evidence.by(ANSWERS, level) if one.complete and not one.success), None)
    pair = doubles(evidence.by("expert", level)) if wrong is not None else None
    if wrong is None or pair is None:
        return
    first, other = pair
    sheet.saw[label("one text, several answers", level)] = f"seeds {first.seed} and {other.seed}"
    sheet.fail(
        "solvable.undetermined",
        f"seeds {first.seed} and {other.seed} show the same, and what is right on one is wrong on the other: "
        "the answer does not follow from what is shown",
        "Let the observation tell everything that the answer is made of.",
        wrong,
    )
