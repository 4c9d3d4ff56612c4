"""Limits on a source before Python's own parser sees it: it must be small, flat and plain text."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings

from spade_envs.contract.findings import Finding, Rejection

MAX_BYTES = 64 * 1024
MAX_TOKENS = 20_000
MAX_BRACKETS = 40  # nested in each other
MAX_INDENTS = 30
MAX_RUN = 500  # tokens of one expression; beyond it, long chains exhaust the parser's stack
MAX_DEPTH = 100  # of the syntax tree: each level costs the compiler several frames
MAX_DIGITS = 400

_COOKIE = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-_.a-zA-Z0-9]+)")
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]|\r(?!\n)"
)
_NO_TEXT = frozenset({tokenize.INDENT, tokenize.DEDENT, tokenize.NL, tokenize.COMMENT})


class _LimitError(Exception):
    def __init__(self, found: str, remedy: str, place: tuple[int, int]) -> None:
        super().__init__(found)
        self.finding = Finding("language.limit", found, remedy, place[0], place[1] + 1)


def parse(source: str) -> ast.Module | Rejection:
    """Return the syntax tree of a source within the limits, or what is wrong with the text."""
    if finding := _text_finding(source):
        return Rejection((finding,))
    try:
        _check_tokens(source)
        with warnings.catch_warnings(action="ignore"):  # an invalid escape such as "\d" is no reason to speak
            tree = ast.parse(source, feature_version=(3, 11))
        _check_depth(tree)
    except _LimitError as error:
        return Rejection((error.finding,))
    except (SyntaxError, tokenize.TokenError) as error:
        return Rejection((syntax_finding(error),))
    except (RecursionError, MemoryError, ValueError, OverflowError) as error:
        found = f"Python's parser gives up on this source ({type(error).__name__})."
        return Rejection((Finding("language.limit", found, "Write shorter, flatter expressions."),))
    return tree


def syntax_finding(error: SyntaxError | tokenize.TokenError) -> Finding:
    """Return the finding for an error of Python's parser or compiler."""
    if isinstance(error, SyntaxError):
        line, column, message = error.lineno, error.offset, error.msg
    else:
        (message, (line, column)) = error.args
    return Finding(
        "language.syntax", f"Python cannot read this: {message}.", "Mend the syntax.", line, column
    )


def _text_finding(source: str) -> Finding | None:
    size = len(source.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        found = f"The source has {size:,} bytes; at most {MAX_BYTES:,} are allowed."
        return Finding("language.limit", found, "Shorten it: compute tables instead of listing them.")
    if hidden := _HIDDEN.search(source):
        line = source.count("\n", 0, hidden.start()) + 1
        column = hidden.start() - source.rfind("\n", 0, hidden.start())
        found = f"An invisible character, U+{ord(hidden[0]):04X}, stands here."
        return Finding("language.characters", found, "Write it as an escape, or leave it out.", line, column)
    for number, text in enumerate(source.split("\n")[:2], 1):
        cookie = _COOKIE.match(text)
        if cookie and cookie[1].lower().replace("_", "-") not in ("utf-8", "utf8"):
            found = f"The source declares the encoding {cookie[1]}."
            return Finding("language.characters", found, "Delete the declaration: sources are UTF-8.", number)
    return None


def _check_tokens(source: str) -> None:
    count = indents = 0
    runs = [0]  # tokens since the last comma, one number for each bracket that is open
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        kind, text = token.type, token.string
        count += 1
        indents += (kind == tokenize.INDENT) - (kind == tokenize.DEDENT)
        runs[-1] += kind not in _NO_TEXT
        if kind == tokenize.NEWLINE or text == ",":
            runs[-1] = 0
        elif text in ("(", "[", "{"):
            runs.append(0)
        elif text in (")", "]", "}") and len(runs) > 1:
            runs.pop()
        digits = len(text) if kind == tokenize.NUMBER else 0
        _check_counts(token.start, count, len(runs) - 1, indents, runs[-1], digits)


def _check_counts(
    place: tuple[int, int], tokens: int, brackets: int, indents: int, run: int, digits: int
) -> None:
    for what, value, most, remedy in (
        ("tokens", tokens, MAX_TOKENS, "Shorten the source."),
        ("brackets inside each other", brackets, MAX_BRACKETS, "Give the inner parts names."),
        ("levels of indentation", indents, MAX_INDENTS, "Move the inner part to a function."),
        ("tokens in one expression", run, MAX_RUN, "Split the expression."),
        ("digits in a number", digits, MAX_DIGITS, "Compute the number."),
    ):
        if value > most:
            raise _LimitError(f"More than {most:,} {what}.", remedy, place)


def _check_depth(tree: ast.AST) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(MAX_DEPTH):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return
    deep = next((node for node in level if isinstance(node, (ast.expr, ast.stmt))), None)
    place = (deep.lineno, deep.col_offset) if deep else (1, 0)
    raise _LimitError(f"Expressions nested more than {MAX_DEPTH} deep.", "Split the expression.", place)
