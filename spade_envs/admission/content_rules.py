"""What no text of a design may hold: rules with a version, each a name, a pattern and a remedy.

They are few and plain on purpose: what they find is there, and an honest design does not meet them. A rule
refuses unless :mod:`spade_envs.admission.severity` says that it warns.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

CONTENT_RULES_VERSION = 1
"""Changes with any rule. It stands in the report."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to look for.

    Attributes:
        name: the finding's rule.
        what: what it is, in a few words.
        pattern: where it may stand.
        remedy: what to write instead.
        real: tells a real one from what only looks like it; gets the match.
    """

    name: str
    what: str
    pattern: re.Pattern[str]
    remedy: str
    real: Callable[[re.Match[str]], bool] = lambda _: True


def _real_address(match: re.Match[str]) -> bool:
    """Names that are reserved for examples belong to nobody (RFC 2606 and 6761)."""
    domain = match[1].lower()
    reserved = re.fullmatch(
        r"(?:.*\.)?(?:example\.(?:com|net|org)|example|test|invalid|localhost|local)", domain
    )
    return reserved is None


def _real_phone(match: re.Match[str]) -> bool:
    """Exchange 555 and area 01632 are kept for fiction; digits that repeat or count up are made up."""
    digits = re.sub(r"\D", "", match[0])
    made_up = len(set(digits[-7:])) <= 2 or digits[-7:] in "0123456789" * 2
    return "555" not in digits[:7] and not digits.startswith(("01632", "441632")) and not made_up


def _real_card(match: re.Match[str]) -> bool:
    """A card's last digit follows from the others (Luhn); the numbers of payment tests are known."""
    digits = [int(digit) for digit in match[0] if digit.isdigit()]
    doubled = sum(d if k % 2 == 0 else sum(divmod(2 * d, 10)) for k, d in enumerate(reversed(digits)))
    return doubled % 10 == 0 and len(set(digits)) > 4


def _real_secret(match: re.Match[str]) -> bool:
    """Keys of manuals say that they are examples, or repeat a few characters."""
    return (
        not re.search(r"example|sample|dummy|fake|test|x{4}|0{6}|1234", match[0], re.I)
        and len(set(match[0])) > 12
    )


def _words(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


_PLAIN = "Leave it out; write rules that people of any age and origin may read."
_MADE_UP = "Write a made-up one that says so, for example"
_TO_MODELS = "Say what the agent may do as a rule of the environment; do not speak to the model behind it."

RULES: tuple[Rule, ...] = (
    Rule(
        "content.secret",
        "a key that opens something",
        re.compile(
            r"\b(?:sk-(?:proj-|ant-)?[A-Za-z0-9_-]{24,}|AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|AIza[\w-]{35}"
            r"|xox[abprs]-[A-Za-z0-9-]{20,}|hf_[A-Za-z0-9]{30,}|glpat-[\w-]{20,})"
            r"|-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----\s*[A-Za-z0-9+/=\s]{40,}"
        ),
        f"{_MADE_UP} KEY-EXAMPLE-1.",
        _real_secret,
    ),
    Rule(
        "content.card",
        "a payment card's number",
        re.compile(
            r"(?<![\d.-])(?:4\d{3}|5[1-5]\d{2}|2[2-7]\d{2}|6011)([ -])\d{4}\1\d{4}\1\d{4}(?!\d|[.-]\d)"
        ),
        f"{_MADE_UP} 4242 4242 4242 4242.",
        _real_card,
    ),
    Rule(
        "content.address",
        "an e-mail address that may be somebody's",
        re.compile(r"\b[A-Za-z0-9][\w.+-]*@((?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,})\b"),
        f"{_MADE_UP} kim@example.com.",
        _real_address,
    ),
    Rule(
        "content.phone",
        "a telephone number that may be somebody's",
        re.compile(
            r"(?<![\w.+-])(?:\+\d{1,3}[ -]?\(?\d{2,4}\)?(?:[ -]\d{2,4}){2,4}|\(\d{3}\) ?\d{3}-\d{4})(?![\w-])"
        ),
        f"{_MADE_UP} (555) 555-0100.",
        _real_phone,
    ),
    Rule(
        "content.takeover",
        "a sentence that would take over the model that plays",
        re.compile(
            r"\b(?:ignore|disregard|forget|override|bypass) (?:\w+ ){0,3}"
            r"(?:previous|prior|above|earlier|preceding|system|all|your) (?:\w+ ){0,2}"
            r"(?:instructions|prompts?|guidelines|system message)\b"
            r"|\b(?:reveal|print|repeat|show)\b[^.\n]{0,20}\b(?:your|the) (?:system|hidden|initial) prompt\b"
            r"|\byou are (?:now )?(?:DAN\b|(?:an? )?(?:unrestricted|uncensored|jailbroken) )"
            r"|\bjailbreak(?:s|ing)?\b|\b(?:enable|enter) developer mode\b",
            re.IGNORECASE,
        ),
        _TO_MODELS,
    ),
    Rule(
        "content.chat-token",
        "a mark of a chat template, which would end the agent's turn or begin another's",
        re.compile(
            r"<\|[A-Za-z_]{2,30}\|>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|</s>|<\uff5c[^>\n]{2,40}\uff5c>"
        ),
        "Write other brackets, or say in words who speaks.",
    ),
    Rule(
        "content.slur",
        "a word that insults people for what they are",
        _words(r"nigg(?:er|a)s?|fagg?ots?|kikes?|spics?|wetbacks?|trann(?:y|ies)|towelheads?|gooks?"),
        _PLAIN,
    ),
    Rule(
        "content.sexual",
        "sexual matter",
        _words(r"porn(?:o|ography|ographic)?|blowjobs?|cumshots?|gangbangs?|hentai|incest|bestiality"),
        _PLAIN,
    ),
    Rule(
        "content.violence",
        "cruelty or harm to oneself",
        _words(
            r"behead(?:s|ed|ing)?|disembowel\w*|tortur(?:e|es|ed|ing)|genocide|suicide|self-harm"
            r"|rap(?:e|es|ed|ist)",
        ),
        _PLAIN,
    ),
)
