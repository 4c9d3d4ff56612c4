"""The lines of a run's records: what is kept of a design, a play, an episode, an environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any

from spade_train.playing.decoding import Policy
from spade_train.playing.play import Episode
from spade_train.rounds import Design, Played, Round, Row


@dataclass(frozen=True)
class Earned:
    """What a row came to.

    Attributes:
        reward: None where the row is left out.
        advantage: what GRPO multiplies its tokens' gradient with; None where it is no row of the batch.
    """

    reward: float | None
    advantage: float | None


NOTHING = Earned(None, None)


def earnings(played: Round, advantages: Sequence[float]) -> tuple[list[Earned | None], list[Earned | None]]:
    """Return what each design and each unhinted play of a block earned; None where the role does not learn."""
    found = [Earned(row.reward, worth) for row, worth in zip(played.rows, advantages, strict=True)]
    of_designs = [one for one, row in zip(found, played.rows, strict=True) if row.role == "designer"]
    of_plays = [one for one, row in zip(found, played.rows, strict=True) if row.role == "agent"]
    plays = sum(len(block.plain) for each in played.played for block in each.blocks)
    return (
        list(of_designs) or [None] * len(played.designs),
        list(of_plays) or [None] * plays,
    )


def design_entry(design: Design, number: int, slot: int, earned: Earned | None) -> dict[str, Any]:
    """Return the line of ``designs.jsonl``; ``earned`` is None where the designer does not learn."""
    kept = asdict(design)
    del kept["prompt_ids"], kept["completion_ids"], kept["mask"], kept["logprobs"]
    prompt = _hash(design.prompt_ids)
    return {
        "round": number,
        "slot": slot,
        "tokens": len(design.mask) if design.completion_tokens is None else design.completion_tokens,
        "sampled": design.sampled,
        "prompt_hash": prompt,
        "reply_hash": _hash([*design.completion_ids, *design.mask]),
        **asdict(earned or NOTHING),
        **kept,
    }


def context_entry(played: Round, rank: int) -> dict[str, Any]:
    """Return the line of ``contexts.jsonl``: what a process's prompt told, and why; its hash names the prompt."""
    prompt = played.designs[0].prompt_ids
    return {
        "round": played.number,
        "rank": rank,
        "prompt_hash": _hash(prompt),
        "prompt_tokens": len(prompt),
        "reasons": [asdict(reason) for reason in played.reasons],
    }


def play_entry(episode: Episode, policy: Policy, number: int, earned: Earned | None) -> dict[str, Any]:
    """Return the line of ``plays.jsonl``; ``earned`` is None for a play that is measured only.

    What was said stands there where there was no hint: it can be learned from.
    """
    return {
        "round": number,
        **asdict(episode.task),
        "prompt_hash": _hash(episode.prompt_ids),
        "reply_hash": _hash([*episode.completion_ids, *episode.mask]),
        "tokens": len(episode.mask),
        "sampled": sum(episode.mask),
        **asdict(earned or NOTHING),
        **_outcome(episode),
        **({} if episode.task.hinted else {"replies": episode.replies(policy)}),
    }


def episode_entry(episode: Episode, policy: Policy, number: int) -> dict[str, Any]:
    """Return the line of ``episodes.jsonl``: the episode as the model read and wrote it.

    ``pieces`` is the completion cut where the mask changes: text, and 1 where the agent sampled it, else 0.
    """
    decode = policy.tokenizer.decode
    return {
        "round": number,
        **asdict(episode.task),
        "prompt": decode(episode.prompt_ids),
        "completion": decode(episode.completion_ids),
        "pieces": [[decode(tokens), own] for tokens, own in episode.turns_taken()],
        **_outcome(episode),
    }


def environment_entry(played: Played, code: str | None) -> dict[str, Any]:
    """Return one environment's measures in a round; ``code`` is the SHA-256 of its code."""
    plain = list(played.episodes(hinted=False))
    ends = [one.end for block in played.all for one in (*block.plain, *block.hinted)]
    return {
        "env_id": played.env_id,
        "level": played.level,
        "why": played.why,
        "code_sha256": code,
        "seeds": [block.seed for block in played.all],
        "success": played.success,
        "hinted_success": played.hinted_success,
        "blind_success": played.blind_success,
        "regret": asdict(played.regret) if played.regret else None,
        "well_formed": mean([one.well_formed for one in plain]),
        "faults": played.faults,
        "ends": {end: ends.count(end) for end in sorted(set(ends))},
    }


def tokens(played: Round) -> dict[str, int]:
    """Return how many tokens each role sampled; ``measured`` are those that nobody is trained on."""
    blocks = [block for one in played.played for block in one.blocks]
    extra = [block for one in played.played for block in one.extra]
    measured = [
        *(one for b in blocks for one in b.hinted),
        *(one for b in extra for one in (*b.plain, *b.hinted)),
        *(one for each in played.played for one in each.blind),
    ]
    return {
        "designer": sum(design.sampled for design in played.designs),
        "agent": sum(sum(one.mask) for block in blocks for one in block.plain),
        "measured": sum(sum(one.mask) for one in measured),
    }


def rewards(rows: Sequence[Row], role: str) -> list[float]:
    """Return the rewards of a role's rows that count."""
    return [row.reward for row in rows if row.role == role and row.reward is not None]


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean of what is known; None where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _outcome(episode: Episode) -> dict[str, Any]:
    return {
        "return": episode.return_,
        "success": episode.success,
        "well_formed": episode.well_formed,
        "turns": episode.turns,
        "unread": list(episode.unread),
        "end": episode.end,
    }


def _hash(ids: Sequence[int]) -> str:
    """A short name of tokens: the same for the same ones."""
    return sha256(",".join(map(str, ids)).encode()).hexdigest()[:16]
