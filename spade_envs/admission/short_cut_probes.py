"""What is played for the gate on short cuts: policies that ignore the task, until each one's rate is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from spade_envs.admission import hint_policies, policies
from spade_envs.admission.evidence import Episode, Level
from spade_envs.admission.lab import Lab
from spade_envs.admission.probes import TEST_SEEDS, experts, held_policies
from spade_envs.admission.rates import Verdict, against
from spade_envs.admission.readings import readings
from spade_envs.admission.scene import Policy
from spade_envs.admission.short_cut_gate import limit_of


def short_cuts(lab: Lab) -> None:
    """Play what must not succeed, up to the first that does."""
    for level in lab.evidence.levels:
        for name, turns in cuts(lab, level):
            if settle(lab, name, level, turns) == "broken" and name != "empty answer":
                return


def cuts(lab: Lab, level: Level) -> Iterator[tuple[str, Sequence[Policy]]]:
    """Yield the short cuts: random play, another's actions, the hint's text, every answer, one action ..."""
    shown, instance = experts(lab, level), lab.evidence.instances[level]
    yield "uniform", [policies.uniform]
    yield "another's actions", [policies.script(episode.actions) for episode in shown]
    yield "hint's text", [hint_policies.hint_text]
    yield "hints, step by step", [hint_policies.hints_followed]
    if known := _moves(shown):
        yield "hint's words", [hint_policies.hint_words(known)]
    stuffed = policies.superset(shown, instance.action_space)
    if stuffed is not None:
        yield "every answer at once", [policies.held(stuffed)]
    for name, policy in held_policies(lab, level):
        yield name, [impatient(lab, level, name, policy)]
    if instance.tools:
        yield "empty answer", [policies.changed_end(shown_on(lab, level), policies.without_answer)]
    if instance.tools or _answers(shown):
        yield "wrong answer", [policies.changed_end(shown_on(lab, level), policies.other_numbers)]
    for name in readings(shown, instance):
        yield name, [policies.reading(name)]


def _answers(shown: Sequence[Episode]) -> bool:
    """Say whether the expert answers in one text. Of several, the last may be a move and its numbers a choice."""
    return all(len(e.actions) == 1 and isinstance(e.actions[0], str) for e in shown)


def _moves(shown: Sequence[Episode]) -> frozenset[str]:
    """Return the texts by which the expert acts, where its episodes have several."""
    several = any(len(episode.actions) > 1 for episode in shown)
    return frozenset(a for e in shown for a in e.actions if several and isinstance(a, str))


def shown_on(lab: Lab, level: Level) -> Callable[[int], Episode]:
    """Return the function from a seed to the expert's episode on it."""
    return lambda seed: lab.play("expert", policies.expert, level, seed)


def impatient(lab: Lab, level: Level, name: str, policy: Policy) -> Policy:
    """Return what repeats an action only while that changes something, unless holding on has won."""
    first = lab.play(name, policy, level, TEST_SEEDS)
    return (
        policy if first.success or not first.actions else policies.held(first.actions[0], policies.PATIENCE)
    )


def settle(lab: Lab, name: str, level: Level, turns: Sequence[Policy]) -> Verdict:
    """Let policies play in turn until their rate lies on one side of the limit, or the last look."""
    verdict: Verdict = "undecided"
    won = played = 0
    for look in lab.settings.looks:
        for k in range(played, look):
            won += lab.play(name, turns[k % len(turns)], level, TEST_SEEDS + k).success
        played = look
        verdict = against(won, played, limit_of(name, lab.settings))
        if verdict == "within" or (verdict == "broken" and played >= lab.settings.broken_from):
            break
    return verdict
