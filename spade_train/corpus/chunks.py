"""A document in pieces, cut at the borders that it has: headings, paragraphs, code, lines, sentences, words.

A piece is a part of the document's text as it stands there. A block of code that fits into a piece is never cut,
and a heading stays with what it heads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from random import Random

from spade_train.corpus.blocks import Block, blocks
from spade_train.corpus.junk import why_junk
from spade_train.corpus.words import WORD, count_words

_SENTENCES, _LINES, _WORDS = re.compile(r"(?<=[.!?])\s+"), re.compile(r"\n"), re.compile(r"\s+")
_BORDERS = {"prose": (_SENTENCES, _LINES, _WORDS), "heading": (_WORDS,), "code": (_LINES, _WORDS)}

Part = tuple[Block, int]
"""A block, or a part of one, with its length in words."""


def chunks(text: str, words: int) -> tuple[str, ...]:
    """Return the whole text in pieces of at most ``words`` words each, in order."""
    parts = [part for block in blocks(text) for part in _fitting(text, block, words)]
    return tuple(_piece(text, run) for run in _packed(parts, words))


def pieces(text: str, words: int) -> tuple[str, ...]:
    """Return the pieces that a design can be grounded on: no junk, no remnant; all of them where none is left."""
    found = chunks(text, words)
    sound = [piece for piece in found if why_junk(piece, least=1) is None] or found
    longest = max(map(count_words, sound), default=0)
    return tuple(piece for piece in sound if count_words(piece) * 4 >= longest)


def excerpt(text: str, words: int, rng: Random) -> str:
    """Return a random piece of at most ``words`` words, on one line; nothing of an empty text."""
    found = pieces(text, words)
    return " ".join(rng.choice(found).split()) if found else ""


def _fitting(text: str, block: Block, words: int) -> Iterator[Part]:
    """Yield a block whole, or in parts that fit, cut at the coarsest borders that do it."""
    yield from _cut(text, block, words, _BORDERS[block.kind])


def _cut(text: str, block: Block, words: int, borders: Sequence[re.Pattern[str]]) -> Iterator[Part]:
    length = count_words(text[block.start : block.end])
    if length <= words:
        yield block, length
    elif not borders:
        yield from _by_words(text, block, words)
    else:
        ends = [match.end() for match in borders[0].finditer(text, block.start, block.end)]
        for start, end in zip([block.start, *ends], [*ends, block.end], strict=True):
            if text[start:end].strip():
                opens = block.opens and start == block.start
                yield from _cut(text, Block(start, end, block.kind, opens), words, borders[1:])


def _by_words(text: str, block: Block, words: int) -> Iterator[Part]:
    """Yield single words, as many together as fit: nothing coarser cuts them."""
    spans = [match.span() for match in WORD.finditer(text, block.start, block.end)]
    for first in range(0, len(spans), words):
        run = spans[first : first + words]
        yield Block(run[0][0], run[-1][1], block.kind, block.opens and first == 0), len(run)


def _packed(parts: Sequence[Part], words: int) -> Iterator[list[Block]]:
    """Yield runs of parts that fill a piece; from half of it on, one ends where something new begins."""
    run: list[Part] = []
    for block, length in parts:
        filled = sum(size for _, size in run)
        if run and (filled + length > words or (block.opens and filled * 2 >= words)):
            heads = _trailing_heads(run, words - length)
            yield [one for one, _ in run[: len(run) - heads]]
            run = run[len(run) - heads :]
        run.append((block, length))
    if run:
        yield [one for one, _ in run]


def _trailing_heads(run: Sequence[Part], room: int) -> int:
    """Return how many headings at a run's end go on to the next one, where they have room and leave something."""
    heads = 0
    while heads + 1 < len(run) and run[-1 - heads][0].kind == "heading":
        heads += 1
    while heads and sum(size for _, size in run[len(run) - heads :]) > room:
        heads -= 1
    return heads


def _piece(text: str, run: Sequence[Block]) -> str:
    """Return the text from the first block to the last; only code keeps how far its first line is indented."""
    return text[run[0].start : run[-1].end].strip("\r\n").rstrip()
