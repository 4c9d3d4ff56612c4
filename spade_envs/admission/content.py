"""The gate on content: nothing toxic or personal, nothing that speaks to the model, no long copies of the document."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from spade_envs.admission.behaviour import transcripts
from spade_envs.admission.content_rules import CONTENT_RULES_VERSION, RULES
from spade_envs.admission.evidence import Episode, Evidence
from spade_envs.admission.lab import Lab
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import Sheet

QUOTED = 60  # characters of what was found that a finding shows

Passage = tuple[str, str, int | None, Episode | None]
"""A text of a design: what it is, the text, its line in the file, the episode in which it was shown."""


def read(lab: Lab) -> None:
    """Write down some episodes as an agent reads them, and ask the model that reads texts, if one was given."""
    transcripts(lab)
    ask = lab.evidence.around.opinion
    if ask is not None:
        lab.evidence.opinion = ask("\n\n".join(dict.fromkeys(text for _, text, *_ in passages(lab.evidence))))


def content(evidence: Evidence, settings: Settings, sheet: Sheet) -> None:
    """No text of a design breaks a rule, and none is copied at length from its document."""
    texts = list(passages(evidence))
    sheet.saw |= {"rules": CONTENT_RULES_VERSION, "texts": len(texts), "opinion": evidence.opinion}
    for passage in texts:
        _rules(passage, sheet)
    if evidence.around.document is not None:
        _copies(texts, evidence.around.document, settings.copied_words, sheet)
    if evidence.opinion is not None:
        found = f"the model that reads texts objects: {evidence.opinion[:300]}"
        sheet.fail("content.opinion", found, "Leave out what it objects to.")


def passages(evidence: Evidence) -> Iterator[Passage]:
    """Yield every text of a design: its header's, its source's strings, and what its episodes show."""
    yield "the title", evidence.header.title, None, None
    yield "the summary", evidence.header.summary, None, None
    yield from _strings(evidence.source)
    for transcript in evidence.transcripts:
        shown = "\n".join(dict.fromkeys((*transcript.texts, *transcript.episode.hints)))
        yield "an episode", shown, None, transcript.episode
    for episode in evidence.episodes:
        if episode.hints:
            yield "a hint", "\n".join(dict.fromkeys(episode.hints)), None, episode


def _strings(source: str) -> Iterator[Passage]:
    """Yield the strings of a source with their lines, pieces of one formatted string together, and its comments."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            pieces = [
                v.value for v in node.values if isinstance(v, ast.Constant) and isinstance(v.value, str)
            ]
            yield "a string", "\u2026".join(pieces), node.lineno, None
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield "a string", node.value, node.lineno, None


def _rules(passage: Passage, sheet: Sheet) -> None:
    """Note each rule that a text breaks, once for the whole design."""
    what, text, line, episode = passage
    for rule in RULES:
        if any(finding.rule == rule.name for finding in sheet.findings):
            continue
        match = next((m for m in rule.pattern.finditer(text) if rule.real(m)), None)
        if match:
            found = f"{what} holds {rule.what}: {_quoted(match[0])}"
            sheet.fail(rule.name, found, rule.remedy, episode, line)


def _copies(texts: list[Passage], document: str, most: int, sheet: Sheet) -> None:
    """Note the longest copy; strings count together too, since a passage may be cut into lines."""
    written = " ".join(text for _, text, _, episode in texts if episode is None)
    wholes: list[Passage] = [("the source", written, None, None), *texts]
    lengths = [_longest(text, document, most) for _, text, *_ in wholes]
    length = max(lengths)
    what, _, line, episode = wholes[
        len(lengths) - 1 - lengths[::-1].index(length)
    ]  # the last one is the most exact
    sheet.saw["words copied"] = length
    if length >= most:
        found = f"{what} shares {length} words in a row with the document; fewer than {most} may stand there"
        sheet.fail("content.copy", found, "Use what the document says in words of your own.", episode, line)


def _longest(text: str, document: str, least: int) -> int:
    """Return how many words in a row two texts share at most; 0 where fewer than ``least``."""
    words, theirs = _words(text), _words(document)
    known = {tuple(theirs[at : at + least]) for at in range(len(theirs) - least + 1)}
    best = run = 0
    for at in range(len(words) - least + 1):
        run = run + 1 if tuple(words[at : at + least]) in known else 0
        best = max(best, run)
    return best + least - 1 if best else 0


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _quoted(text: str) -> str:
    return repr(text if len(text) <= QUOTED else text[: QUOTED - 3] + "...")
