"""Limits on a source before Python's parser sees it: small, flat, and plain text."""

from __future__ import annotations

import ast
import re
import warnings

from spade_envs.contract import Finding, Rejection

MAX_BYTES = 64 * 1024
MAX_TOKENS = 20_000
MAX_BRACKETS = 40
"""How many brackets may be open at once."""
MAX_RUN = 500
"""The most tokens of one expression, commas apart: a chain nests as deep as it is long."""

MAX_ALONE = 20
"""The most quotation marks that begin no text."""

_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)")
_HIDDEN = re.compile(  # control characters, those that change the direction of text, lone surrogates
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]|\r(?!\n)"
)
# Not Python's own tokens, but as many: white space and comments skipped, a text is one.
_TOKEN = re.compile(
    r"""
    [ \t\r\\]+ | \#[^\n]*
    | ( ""\"(?:[^"\\]|\\.|"(?!""))*""\" | '''(?:[^'\\]|\\.|'(?!''))*'''
      | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*' | \w+ | [^\w ] )
    """,
    re.DOTALL | re.VERBOSE,
)


def parse(source: str) -> ast.Module | Rejection:
    """Return the syntax tree of a source that keeps the limits, or what is wrong with its text."""
    if rejection := length_rejection(source):
        return rejection
    if finding := _text_finding(source) or _token_finding(source):
        return Rejection((finding,))
    try:
        with warnings.catch_warnings(action="ignore"):  # an escape such as "\d" is no reason to speak
            return ast.parse(source)
    except SyntaxError as error:
        return Rejection((syntax_finding(error),))
    except (RecursionError, MemoryError, ValueError, OverflowError) as error:
        found = f"Python's parser gives up on this source ({type(error).__name__})."
        return Rejection((Finding("language.limit", found, "Write shorter, flatter expressions."),))


def syntax_finding(error: SyntaxError) -> Finding:
    """Return the finding for an error of Python's parser or compiler."""
    found = f"Python cannot read this: {error.msg}."
    return Finding("language.syntax", found, "Mend the syntax.", error.lineno, error.offset)


def length_rejection(source: str) -> Rejection | None:
    """Return what is wrong with the length of a source, if anything."""
    size = len(source.encode("utf-8", "surrogatepass"))
    if size <= MAX_BYTES:
        return None
    found = f"The source has {size:,} bytes; at most {MAX_BYTES:,} are allowed."
    return Rejection(
        (Finding("language.limit", found, "Shorten it: compute tables instead of listing them."),)
    )


def _text_finding(source: str) -> Finding | None:
    if hidden := _HIDDEN.search(source):
        place = _place(source, hidden.start())
        found = f"An invisible character, U+{ord(hidden[0]):04X}, stands here."
        return Finding("language.characters", found, "Write it as an escape, or leave it out.", *place)
    for number, text in enumerate(source.split("\n")[:2], 1):
        cookie = _COOKIE.match(text)
        if cookie and cookie[1].lower().replace("_", "-") not in ("utf-8", "utf8"):
            found = f"The source declares the encoding {cookie[1][:40]}."
            return Finding("language.characters", found, "Delete the declaration: sources are UTF-8.", number)
    return None


def _token_finding(source: str) -> Finding | None:
    count = run = alone = 0
    outer: list[int] = []  # how far the runs outside of the open brackets have come
    for token in _TOKEN.finditer(source):
        text = token[1]
        if text is None or text == "\n":
            run = run if outer or text is None else 0
            continue
        count, run, alone = count + 1, run + 1, alone + (text in "\"'")
        if text in "([{":
            outer.append(run)
            run = 0
        elif text in ")]}":
            run = outer.pop() if outer else 0
        elif text == ",":
            run = 0
        if alone > MAX_ALONE:  # for each the rest of the source is searched
            found = f"More than {MAX_ALONE} quotation marks stand alone."
            return Finding("language.limit", found, "Close each text.", *_place(source, token.start()))
        if run > MAX_RUN or len(outer) > MAX_BRACKETS or count > MAX_TOKENS:
            return _exceeded(_place(source, token.start()), count, len(outer), run)
    return None


def _exceeded(place: tuple[int, int], tokens: int, brackets: int, run: int) -> Finding:
    if run > MAX_RUN:
        found, remedy = f"One expression has more than {MAX_RUN} tokens.", "Split it."
    elif brackets > MAX_BRACKETS:
        found, remedy = f"More than {MAX_BRACKETS} brackets are open here.", "Give the inner parts names."
    else:
        found, remedy = f"The source has more than {tokens - 1:,} tokens.", "Shorten it."
    return Finding("language.limit", found, remedy, *place)


def _place(source: str, position: int) -> tuple[int, int]:
    """Return the line and the column, both from 1, of a position."""
    return source.count("\n", 0, position) + 1, position - source.rfind("\n", 0, position)
