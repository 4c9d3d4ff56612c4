"""The keys of the header: one table that says for each what it accepts, in code and in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from spade_envs.contract.ids import ID_FORM, EnvId

Domain = Literal["games", "math", "science", "code", "planning", "language", "tools"]
Origin = Literal["seed", "generated"]
DOMAINS: tuple[str, ...] = get_args(Domain)
ORIGINS: tuple[str, ...] = get_args(Origin)

_TAG = re.compile(r"[a-z0-9](?:[a-z0-9 _+#./-]{0,38}[a-z0-9+#])?")
_LICENSE_SYNTAX = {"(", ")", "AND", "OR", "WITH", "and", "or", "with"}
_LICENSE_WORD = re.compile(r"\(|\)|[A-Za-z0-9.:-]+\+?")


@dataclass(frozen=True, slots=True)
class Key:
    """What one key accepts, what to write in words, and whether every header needs it."""

    accepts: Callable[[Any], bool]
    expected: str
    needed: bool = True


def _is_line(longest: int) -> Callable[[Any], bool]:
    return lambda value: (
        isinstance(value, str) and len(value) <= longest and value.isprintable() and bool(value.strip())
    )


def _is_int(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value <= high


def _is_one_of(words: tuple[str, ...]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and isinstance(EnvId.parse(value), EnvId)


def _are_tags(value: Any) -> bool:
    tags = value if isinstance(value, list) and 1 <= len(value) <= 6 else [None]
    return all(isinstance(tag, str) and _TAG.fullmatch(tag) for tag in tags)


def is_license(value: Any) -> bool:
    """Say whether a value has the form of an SPDX expression. Whether SPDX lists its ids is not asked."""
    if not isinstance(value, str) or not 0 < len(value) <= 100 or _LICENSE_WORD.sub("", value).strip():
        return False
    words = _LICENSE_WORD.findall(value)
    form = " ".join(word.upper() if word in _LICENSE_SYNTAX else "x" for word in words)
    before = ""
    while before != form:
        before, form = form, re.sub(r"x WITH x|\( x \)|x (?:AND|OR) x", "x", form)
    return form == "x"


KEYS: dict[str, Key] = {
    "id": Key(_is_id, ID_FORM),
    "title": Key(_is_line(60), "one line of 1 to 60 characters"),
    "summary": Key(_is_line(200), "one line of 1 to 200 characters"),
    "domain": Key(_is_one_of(DOMAINS), "one of " + ", ".join(f'"{domain}"' for domain in DOMAINS)),
    "skills": Key(_are_tags, 'a list of 1 to 6 lower-case tags, for example ["search", "memory"]'),
    "origin": Key(_is_one_of(ORIGINS), '"generated", or "seed" where a person wrote and checked it'),
    "parent": Key(_is_id, f"the id that it was derived from, {ID_FORM}", needed=False),
    "generation_round": Key(
        _is_int(0, 10**9), "the self-play round that made it, 0 for an import", needed=False
    ),
    "max_episode_steps": Key(_is_int(1, 1000), "a whole number from 1 to 1000"),
    "difficulty_levels": Key(_is_int(1, 100), "the number of levels, from 1 to 100", needed=False),
    "license": Key(is_license, 'an SPDX licence expression, for example "Apache-2.0"'),
    "contract": Key(_is_int(1, 1), "1"),
}
