"""What a prompt tells of the document, the agent, the pool and earlier designs, each within its share of the window."""

from __future__ import annotations

import re
from collections.abc import Iterator

from spade_train.designer.context import DesignContext
from spade_train.designer.window import Window

DOCUMENT_SHARE, TOLD_SHARE = 0.25, 0.2
"""The most of the token budget that the document, and what is told of earlier designs and the agent, may take."""
QUOTED_WORDS = 30
"""The most words of a document that a small model is shown."""
NAMING_WORDS = 15
"""The same for an edit: shown more, a small model writes about the document instead of changing the method."""


def document(context: DesignContext, window: Window, left: int) -> str:
    """Return the document, cut to its share of the window and to what is left of that."""
    if context.document is None:
        return ""
    return window.cut(f"# Document\n{context.document.text}", min(left, int(window.tokens * DOCUMENT_SHARE)))


def quoted(context: DesignContext, window: Window, most: int = QUOTED_WORDS) -> str:
    """Return the beginning of the document in one line, as short as those of the examples: a small model copies."""
    if context.document is None:
        return ""
    words = " ".join(context.document.text.split()[:most])
    sentence = re.match(r".*[.!?](?=\s|$)", words)
    return window.cut(sentence[0] if sentence else words, int(window.tokens * DOCUMENT_SHARE))


def told(context: DesignContext, window: Window) -> str:
    """Return what is told of the agent, the pool and earlier designs, as many lines as its share holds."""
    lines, left = [], int(window.tokens * TOLD_SHARE)
    for line in _lines(context):
        left -= window.count(line)
        if left < 0:
            break
        lines.append(line)
    return "\n".join(lines)


def _lines(context: DesignContext) -> Iterator[str]:
    """Yield the lines, what matters most first."""
    yield from context.digest.splitlines()
    yield from _guidance(context)
    for one in context.profile:
        measured = {
            "success": one.success,
            "with the hint": one.hinted,
            "regret": one.regret,
            "trend": one.trend,
        }
        known = [f"{name} {value:.2f}" for name, value in measured.items() if value is not None]
        yield f"The agent at {one.skill}: {', '.join([f'{one.plays} plays', *known])}."
    if context.pool is not None:
        pool = context.pool
        yield f"The pool: {pool.active} environments, {pool.mastered} mastered, {pool.too_hard} too hard."
        if pool.domains:
            yield f"Its domains: {', '.join(f'{name} {count}' for name, count in pool.domains.items())}."
    for lesson in context.lessons:
        yield f"Refused before: {lesson}"


def _guidance(context: DesignContext) -> Iterator[str]:
    """Say in which direction the difficulty should go, from what the agent achieves."""
    rates = [(one.success, one.plays) for one in context.profile if one.success is not None and one.plays]
    if not rates:
        return
    mean = sum(rate * plays for rate, plays in rates) / sum(plays for _, plays in rates)
    wish = "harder" if mean > 0.7 else "easier" if mean < 0.3 else "as hard"
    yield f"The agent succeeds in {mean:.0%} of its plays: make this one {wish}{' again' if wish == 'as hard' else ''}."


def target(context: DesignContext) -> str:
    """Return the line that names the skill to be trained, if one is."""
    return f"It trains {context.target}." if context.target else ""


def parents(context: DesignContext) -> str:
    """Return the line that names what to derive from, if anything is."""
    return f"Derive it from one of {', '.join(context.parents)}." if context.parents else ""
