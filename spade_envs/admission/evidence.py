"""What was seen of a design: episodes, each with all that is needed to play it again. Only values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import Header

if TYPE_CHECKING:
    from spade_envs.admission.fingerprint import Course
    from spade_envs.admission.neighbours import Neighbour
    from spade_envs.admission.review import Reviewer, Verdict
    from spade_envs.isolation import InstanceInfo

Level = int | None


@dataclass(frozen=True, slots=True)
class Memory:
    """What a worker held after it had played one episode again and again.

    Attributes:
        steps: that it took since the look before.
        episodes: that it played since then.
        blocks: pieces of memory that Python holds.
        peak_mb: the most megabytes that were resident so far.
    """

    steps: int
    episodes: int
    blocks: int
    peak_mb: int


class Restart(Enum):
    """Stands among the actions where an instance was reset without a seed."""

    RESTART = "reset without a seed"


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an episode could not go on: the worker's fault kind and its message, which names the call."""

    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Episode:
    """One episode as it was seen from outside.

    Attributes:
        policy: who played, for example ``"expert"`` or ``"held 3"``.
        level: difficulty level, None where the design has none.
        seed: seed of the reset.
        actions: what was played, in order; seed and actions make the same episode again.
        total: sum of the rewards.
        terminated: whether the design ended it.
        truncated: whether it ran on to the time limit or the design cut it off.
        success: what ``info["is_success"]`` said at the end.
        breaches: what broke the contract without stopping the episode, each as (rule, sentence).
        trace: a checksum of what each turn gave back, the reset first.
        views: a checksum of the text and the hint of each state, where they were asked for.
        hints: the hint of each state, where it was asked for.
        fault: what stopped it, if anything did.
        first: the reset's observation and info.
    """

    policy: str
    level: Level
    seed: int
    actions: tuple[Any, ...] = ()
    total: float = 0.0
    terminated: bool = False
    truncated: bool = False
    success: bool = False
    breaches: tuple[tuple[str, str], ...] = ()
    trace: tuple[int, ...] = ()
    views: tuple[int, ...] = ()
    hints: tuple[str, ...] = ()
    fault: Fault | None = None
    first: tuple[Any, dict[str, Any]] | None = field(default=None, compare=False)

    @property
    def complete(self) -> bool:
        """Whether it was played to its end."""
        return self.fault is None and (self.terminated or self.truncated)


@dataclass(frozen=True, slots=True)
class Search:
    """Which is the shortest way to success of all short sequences of actions, each tried from the reset.

    Attributes:
        tried: sequences.
        depth: actions of the longest ones.
        shortest: actions of the first that succeeded, None where none did.
    """

    tried: int
    depth: int
    shortest: tuple[Any, ...] | None


@dataclass(frozen=True, slots=True)
class Transcript:
    """An episode with what an agent reads: ``texts`` has one text a turn, the first and the last state included."""

    episode: Episode
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a design is judged against, beside the contract.

    Attributes:
        neighbours: the versions of the registries and the held-out environments.
        document: the text that its designer was given, if any.
        opinion: a model that reads texts and says what should keep them out, or None; see ``content``.
        reviewer: a model that is asked for a verdict where the settings say so; see ``review``.
    """

    neighbours: tuple[Neighbour, ...] = ()
    document: str | None = None
    opinion: Callable[[str], str | None] | None = None
    reviewer: Reviewer | None = None


@dataclass(slots=True)
class Evidence:
    """All that was seen of one design so far. Probes add to it, gates read it.

    Attributes:
        header: the design's header.
        rejection: what the language policy found, if it refused the source.
        instances: what each level's instance says of itself.
        episodes: everything that was played in the first worker.
        pairs: an episode and the same actions played again, elsewhere or later.
        memory: what was played over and over -> what the worker held each time after it.
        searched: what a search without the expert found, by level.
        too_slow: whether the time for one design was used up.
        source: the design itself.
        around: what it is compared with.
        courses: level -> what its fixed streams of actions gave back.
        transcripts: episodes with what an agent reads in them.
        opinion: what the model that reads texts objects to, if one was asked and does.
        verdict: what the reviewing model said, if one was asked.
    """

    header: Header
    rejection: Rejection | None = None
    instances: dict[Level, InstanceInfo] = field(default_factory=dict)
    episodes: list[Episode] = field(default_factory=list)
    pairs: list[tuple[Episode, Episode]] = field(default_factory=list)
    memory: dict[str, list[Memory]] = field(default_factory=dict)
    searched: dict[Level, Search] = field(default_factory=dict)
    too_slow: bool = False
    source: str = ""
    around: Surroundings = field(default_factory=Surroundings)
    courses: dict[Level, tuple[Course, ...]] = field(default_factory=dict)
    transcripts: list[Transcript] = field(default_factory=list)
    opinion: str | None = None
    verdict: Verdict | None = None

    @property
    def levels(self) -> tuple[Level, ...]:
        """The difficulty levels, easiest first; (None,) where there are none."""
        count = self.header.difficulty_levels
        return tuple(range(1, count + 1)) if count else (None,)

    def by(self, policy: str, level: Level) -> list[Episode]:
        """Return the episodes of one policy at one level, in the order they were played."""
        return [e for e in self.episodes if e.policy == policy and e.level == level]
