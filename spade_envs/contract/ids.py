"""Environment ids: ``spade/<Name>-v<N>``, Gymnasium's own form with one namespace."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from spade_envs.contract.findings import Finding

NAMESPACE = "spade"
ID_FORM = (
    "`spade/<Name>-v<N>` with a CamelCase name (at most 60 letters and digits) and a whole version number"
)

_NAME = re.compile(r"[A-Z][A-Za-z0-9]{0,59}")
_ID = re.compile(rf"{NAMESPACE}/({_NAME.pattern})-v(0|[1-9][0-9]{{0,8}})")

_DRESS = re.compile(rf"^\s*{NAMESPACE}\s*/|[\s_-]*v\d+\s*$", re.IGNORECASE)  # all of an id but its name


@dataclass(frozen=True, slots=True, order=True)
class EnvId:
    """One version of one environment. Orders by name, then by version; ``str()`` gives Gymnasium's id.

    Raises:
        ValueError: the name is not CamelCase or the version is negative.
    """

    name: str
    version: int

    def __post_init__(self) -> None:
        if not _ID.fullmatch(str(self)):
            raise ValueError(f"{str(self)!r} is no environment id. Write {ID_FORM}.")

    def __str__(self) -> str:
        return f"{NAMESPACE}/{self.name}-v{self.version}"

    @classmethod
    def parse(cls, text: str) -> EnvId | Finding:
        """Read an id, or say what is wrong with it."""
        match = _ID.fullmatch(text)
        if match is None:
            return Finding("header.id", f"{text[:80]!r} is no environment id.", f"Write {ID_FORM}.")
        return cls(match[1], int(match[2]))


def with_namespace(text: str) -> str:
    """Return an id as people shorten it with the namespace that it lacks: ``LampRow-v0`` as ``spade/LampRow-v0``."""
    return text if "/" in text else f"{NAMESPACE}/{text}"


def near_ids(text: str, known: Iterable[EnvId]) -> list[EnvId]:
    """Return up to three known ids that ``text`` may have meant: versions of the very name, the newest first, before
    the newest versions of names much like it.
    """
    versions: dict[str, list[EnvId]] = {}
    for env_id in sorted(known, reverse=True):
        versions.setdefault(env_id.name, []).append(env_id)
    asked, near = _DRESS.sub("", text), near_names(text, versions)
    return [i for name in near for i in versions[name][: 3 if _key(name) == _key(asked) else 1]][:3]


def near_names(text: str, known: Iterable[str]) -> list[str]:
    """Return up to three known names that the one in ``text``, an id, may have meant."""
    return near_matches(_DRESS.sub("", text), known, cutoff=0.7)


def near_matches(text: str, known: Iterable[str], cutoff: float = 0.6) -> list[str]:
    """Return up to three known words that ``text`` may have meant, the nearest first.

    Spellings that differ in case, dashes and underscores only come before spellings that differ in letters.

    Args:
        text: what was written.
        known: the words.
        cutoff: how like it they are at least, from 0 to 1.
    """
    by_key: dict[str, list[str]] = {}
    for word in known:
        by_key.setdefault(_key(word), []).append(word)
    keys = get_close_matches(_key(text), by_key, n=3, cutoff=cutoff)
    return [word for key in keys for word in sorted(by_key[key])][:3]


def _key(text: str) -> str:
    return re.sub(r"[\s_-]", "", text).casefold()
