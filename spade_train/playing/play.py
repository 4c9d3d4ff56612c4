"""Many episodes at once, with one policy. Ids are kept as they were sampled; nothing is tokenised twice.

A broken environment is data, not a crash: its episode ends as a ``fault`` and its row has no reward.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from spade_envs.errors import WorkerFault
from spade_train.monitors.echo import echoes
from spade_train.playing.blind import Blind
from spade_train.playing.conversations import Sampled
from spade_train.playing.decoding import Policy
from spade_train.playing.prompts import Example, TextEnvironment, agent_messages, worked_examples

End = Literal["terminated", "truncated", "context", "fault"]

Make = Callable[..., TextEnvironment]
"""Opens an environment's text face: an id, and what :attr:`Task.arguments` says."""

Shown = dict[tuple[str, int], tuple[Example, ...]]
"""Worked examples by id and level: they are taken once."""


@dataclass(frozen=True)
class Task:
    """One episode to be played; ``blind`` where it is shown what another seed would show.

    Attributes:
        level: the environment's difficulty, from 1.
    """

    env_id: str
    seed: int
    hinted: bool = False
    blind: bool = False
    level: int = 1

    @property
    def arguments(self) -> dict[str, int]:
        """What the environment is made with besides its id: nothing for the easiest level, which some lack."""
        return {} if self.level == 1 else {"difficulty": self.level}


@dataclass(frozen=True)
class Limits:
    """Tokens: of the longest prompt that is played, of one turn, of all that follows the prompt.

    Attributes:
        examples: how many worked examples the prompt holds, at most.
    """

    prompt: int = 1024
    turn: int = 24
    completion: int = 256
    examples: int = 2


@dataclass(frozen=True)
class Episode:
    """One episode as it was played and as it is trained on.

    Attributes:
        prompt_ids: the rules, the worked examples and the first observation.
        completion_ids: the agent's turns and what the environment said between them.
        mask: 1 for each id of the completion that the agent sampled, else 0.
        return_: sum of the rewards.
        success: what the last ``info["is_success"]`` said.
        well_formed: share of the agent's turns that could be read as an action, in [0, 1].
        turns: how often the agent spoke.
        end: why it ended: by itself, by its time limit, by the limit of tokens, by a fault.
        actions: what the environment was given, turn by turn.
        turn_limit: the turns that it may take; None where that is unknown.
        echoed: whether an action holds a token that stood in the hint alone.
        unread: which of the agent's turns, counted from 0, could not be read as an action.
        logprobs: of each id of the completion as it was sampled, NaN where the sampler does not say, else 0.
    """

    task: Task
    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    mask: tuple[int, ...]
    return_: float
    success: bool
    well_formed: float
    turns: int
    end: End
    actions: tuple[str, ...] = ()
    turn_limit: int | None = None
    echoed: bool = False
    unread: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()

    def replies(self, policy: Policy) -> list[str]:
        """Return what the agent said, turn by turn, without the end of its turns; its policy reads the tokens."""
        return [policy.chat.said(tokens, policy.stop) for tokens, own in self.turns_taken() if own]

    def turns_taken(self) -> list[tuple[list[int], int]]:
        """Return the completion cut where the mask changes: tokens, and 1 where the agent sampled them, else 0."""
        cut = groupby(zip(self.completion_ids, self.mask, strict=True), key=lambda pair: pair[1])
        return [([token for token, _ in pairs], own) for own, pairs in cut]

    @property
    def counts(self) -> bool:
        """Whether the episode says something about the agent: it was played, and no fault ended it."""
        return self.turns > 0 and self.end != "fault"


@dataclass
class _Running:
    task: Task
    env: TextEnvironment | None = None
    prompt: list[int] = field(default_factory=list)
    completion: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    return_: float = 0.0
    success: bool = False
    readable: int = 0
    unread: list[int] = field(default_factory=list)
    end: End | None = None
    actions: list[str] = field(default_factory=list)
    hint: str | None = None
    shown: list[str] = field(default_factory=list)

    def say(self, tokens: Sequence[int], mask: int, logprobs: Sequence[float] = ()) -> None:
        self.completion += tokens
        self.mask += [mask] * len(tokens)
        self.logprobs += logprobs or [math.nan if mask else 0.0] * len(tokens)


def play(policy: Policy, tasks: Sequence[Task], make: Make, limits: Limits) -> list[Episode]:
    """Play one episode for each task, all side by side, and return them in the tasks' order."""
    shown: Shown = {}
    running = [_Running(task) for task in tasks]
    try:
        for one in running:
            _open(policy, one, make, shown, limits)
        _play_all(policy, [one for one in running if one.end is None], limits)
    finally:
        for one in running:
            if one.env is not None:
                one.env.close()
    return [_episode(policy, one) for one in running]


def play_expert(policy: Policy, tasks: Sequence[Task], make: Make, limits: Limits) -> list[Episode]:
    """Play with each environment's expert in the agent's place: what it writes counts as sampled.

    An episode ends as ``context`` where the expert writes more than a turn may hold.
    """
    shown: Shown = {}
    return [_expert_episode(policy, _Running(task), make, shown, limits) for task in tasks]


def _expert_episode(
    policy: Policy,
    one: _Running,
    make: Make,
    shown: Shown,
    limits: Limits,
) -> Episode:
    try:
        _open(policy, one, make, shown, limits)
        while one.end is None:
            assert one.env is not None
            said = policy.chat.reply(one.env.expert_text(), policy.tokenizer.eos_token_id)
            if len(said) > limits.turn:
                one.end = "context"
            else:
                _turn(policy, one, Sampled(said), limits)
    except WorkerFault:
        one.end = "fault"
    finally:
        if one.env is not None:
            one.env.close()
    return _episode(policy, one)


def _open(
    policy: Policy,
    one: _Running,
    make: Make,
    shown: Shown,
    limits: Limits,
) -> None:
    """Make and reset the environment and write the prompt. Worked examples are taken once for each id and level."""
    task = one.task
    try:
        one.env = env = _make(task, make)
        if (task.env_id, task.level) not in shown:
            shown[task.env_id, task.level] = worked_examples(env, limits.examples)
        observation, _ = env.reset(seed=task.seed)
        one.hint = env.hint() if task.hinted else None
    except WorkerFault:
        one.end = "fault"
        return
    examples = shown[task.env_id, task.level]
    one.shown = [env.rules, observation, *(text for e in examples for text in (e.observation, e.answer))]
    messages = agent_messages(env, examples, observation, one.hint)
    one.prompt = policy.ids(policy.chat.render(messages, env.tools))
    if len(one.prompt) > limits.prompt:
        one.end = "context"


def _make(task: Task, make: Make) -> TextEnvironment:
    env = make(task.env_id, **task.arguments)
    if not task.blind:
        return env
    try:
        return Blind(env, make(task.env_id, **task.arguments))
    except WorkerFault:
        env.close()
        raise


def _play_all(policy: Policy, live: list[_Running], limits: Limits) -> None:
    decoder = policy.decoder([one.prompt for one in live]) if live else None
    while decoder and decoder.running:
        for row, reply in decoder.speak(limits.turn).items():
            answer = _turn(policy, live[row], reply, limits)
            if live[row].end is None:
                decoder.hear(row, answer)
            else:
                decoder.drop(row)


def _turn(policy: Policy, one: _Running, reply: Sampled, limits: Limits) -> list[int]:
    """Take one reply to the environment; return the tokens in which the environment answers."""
    said = reply.tokens
    one.say(said, 1, reply.logprobs)
    one.actions.append(policy.chat.action(said, policy.stop))
    assert one.env is not None  # who plays has been opened
    try:
        observation, reward, terminated, truncated, info = one.env.step(one.actions[-1])
    except WorkerFault:  # the step itself went well, but not what tells of it
        one.end = "fault"
        return []
    one.shown.append(observation)
    one.return_ += reward
    if info.get("invalid_action", False):
        one.unread.append(len(one.actions) - 1)
    else:
        one.readable += 1
    one.success = bool(info.get("is_success", False))
    if terminated or truncated:
        one.end = "fault" if "fault" in info else "terminated" if terminated else "truncated"
        return []
    tools = [] if info.get("invalid_action", False) else one.env.tools
    answer = _answer(policy, policy.chat.between(observation, tools), said)
    if len(one.completion) + len(answer) + limits.turn > limits.completion:
        one.end = "context"
        return []
    one.say(answer, 0)
    return answer


def _answer(policy: Policy, text: str, said: Sequence[int]) -> list[int]:
    """The template's text between two replies; a reply that closed its turn already holds the close."""
    answer = policy.ids(text)
    return answer[1:] if said[-1] in policy.stop and said[-1] == answer[0] else answer


def _episode(policy: Policy, one: _Running) -> Episode:
    turns = len(one.actions)
    played = turns > 0
    nothing = (policy.tokenizer.eos_token_id,)  # no row of a batch may be empty: an unplayed one is masked
    return Episode(
        task=one.task,
        prompt_ids=tuple(one.prompt) if played else nothing,
        completion_ids=tuple(one.completion) if played else nothing,
        mask=tuple(one.mask) if played else (0,),
        return_=one.return_,
        success=one.success,
        well_formed=one.readable / turns if played else 0.0,
        turns=turns,
        end=one.end or "truncated",
        actions=tuple(one.actions),
        turn_limit=one.env.turn_limit if one.env else None,
        echoed=one.hint is not None and echoes(one.actions, one.hint, one.shown),
        unread=tuple(one.unread),
        logprobs=tuple(one.logprobs) if played else (math.nan,),
    )
