"""What a document is about: its domain and the skills that it may train, by the rules of ``labels.toml``.

The rules are words and modules, so that each label can be explained by what stands in the text.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

from spade_train.corpus.document import Document

ENOUGH, FOR_WORDS = 2, 500
"""So many different words of a rule show that a text is about it, and one more for every so many words it has."""

_TOKEN = re.compile(r"[a-z][a-z0-9-]*")


@dataclass(frozen=True, slots=True)
class Rule:
    """How a label is recognised.

    Attributes:
        tags: other names of it.
        words: singular, lower case; one word or two.
        modules: of packages.
    """

    name: str
    words: frozenset[str]
    modules: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Labels:
    """What one document is about.

    Attributes:
        domain: one of the header's domains; None where nothing tells.
        skills: those that it is most about first.
        because: label -> the words, or the module, that led to it.
    """

    domain: str | None
    skills: tuple[str, ...]
    because: dict[str, tuple[str, ...]]


@cache
def skills() -> dict[str, Rule]:
    """Return the rules of all skills, by name."""
    return _rules("skills")


@cache
def domains() -> dict[str, Rule]:
    """Return the rules of all domains, by name."""
    return _rules("domains")


def skill_of(tag: str) -> str:
    """Return the skill that a header's tag means; a tag that no rule has is a skill of its own."""
    plain = _plain(tag)
    return _names().get(plain, plain)


def label(document: Document) -> Labels:
    """Return what a document is about."""
    there, enough = _words(document.text), ENOUGH + len(document.text.split()) // FOR_WORDS
    module = document.source.rpartition(":")[2] if document.source.startswith("installed:") else ""
    because: dict[str, tuple[str, ...]] = {}
    for name, rule in skills().items():
        found = _modules(rule, module)[-1:] or sorted(rule.words & there)
        if len(found) >= enough or (found and found[0] in rule.modules):
            because[name] = tuple(found)
    domain, reason = _domain(there, module)
    order = sorted(because, key=lambda name: (-len(because[name]), name))
    if domain is not None:
        because[domain] = reason
    return Labels(domain, tuple(order), because)


def is_about(document: Document, labels: Labels, focus: str) -> bool:
    """Whether a document with these labels is about a domain or a skill, as headers name it.

    A skill that no rule has is looked for by its own words.
    """
    if focus in domains():
        return labels.domain == focus
    if (skill := skill_of(focus)) in skills():
        return skill in labels.skills
    tokens = {_singular(token) for token in _TOKEN.findall(skill)}
    return bool(tokens) and tokens <= _words(document.text)


def _domain(there: frozenset[str], module: str) -> tuple[str | None, tuple[str, ...]]:
    modules = [(len(one), name, one) for name, rule in domains().items() for one in _modules(rule, module)]
    if modules:
        _, name, one = max(modules)
        return name, (one,)
    found = {name: sorted(rule.words & there) for name, rule in domains().items()}
    name = max(found, key=lambda one: len(found[one]))
    return (name, tuple(found[name])) if len(found[name]) >= ENOUGH else (None, ())


def _modules(rule: Rule, module: str) -> list[str]:
    return sorted((one for one in rule.modules if f"{module}.".startswith(f"{one}.")), key=len)


def _words(text: str) -> frozenset[str]:
    """Return the words of a text and its pairs of neighbours, in the singular."""
    tokens = [_singular(token) for token in _TOKEN.findall(text.lower())]
    return frozenset(tokens) | {f"{a} {b}" for a, b in pairwise(tokens) if a in _firsts()}


def _singular(token: str) -> str:
    return token[:-1] if len(token) > 3 and token.endswith("s") and not token.endswith("ss") else token


@cache
def _firsts() -> frozenset[str]:
    """The first words of the rules' pairs."""
    words = {word for rules in (skills(), domains()) for rule in rules.values() for word in rule.words}
    return frozenset(word.split()[0] for word in words if " " in word)


@cache
def _names() -> dict[str, str]:
    """Every plain name and tag -> the skill."""
    tags = {_plain(tag): name for name, rule in skills().items() for tag in rule.tags}
    return tags | {_plain(name): name for name in skills()}


def _plain(tag: str) -> str:
    return " ".join(re.split(r"[\s_-]+", tag.lower().strip()))


def _rules(kind: str) -> dict[str, Rule]:
    table = tomllib.loads(files(__package__).joinpath("labels.toml").read_text("utf-8"))[kind]
    return {
        name: Rule(
            name,
            frozenset(map(_singular_phrase, rule["words"])),
            tuple(rule.get("modules", ())),
            tuple(rule.get("tags", ())),
        )
        for name, rule in table.items()
    }


def _singular_phrase(phrase: str) -> str:
    """Rules go through what texts go through: "modulus" and "class" are cut in both or in neither."""
    return " ".join(map(_singular, phrase.split()))
