"""A table of plain text, and how it is pasted into notes (Markdown), a sheet (CSV) or a paper (LaTeX)."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass

from spade_envs.contract.printable import printable

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
}
_FORMULA = re.compile(r"[=+@\t\r]|-(?![\d.])")
"""What a sheet takes for a formula, where a cell begins with it; numbers may."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table.

    Attributes:
        title: what it shows.
        columns: their names.
        rows: as many cells each.
        text: how many columns, from the left, are text; the others are numbers.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    text: int = 1

    def markdown(self) -> str:
        """Return it as Markdown."""
        ruler = ["---" if at < self.text else "---:" for at in range(len(self.columns))]
        lines = [map(_markdown, self.columns), ruler, *(map(_markdown, row) for row in self.rows)]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)

    def csv(self) -> str:
        """Return it as CSV, in which no cell is a formula."""
        text = io.StringIO()
        written = csv.writer(text, lineterminator="\n")
        written.writerow(self.columns)
        written.writerows([_cell(one) for one in row] for row in self.rows)
        return text.getvalue()

    def latex(self) -> str:
        """Return it as LaTeX; it wants the package booktabs."""
        lines = [" & ".join(map(_latex, row)) + r" \\" for row in (self.columns, *self.rows)]
        places = "l" * self.text + "r" * (len(self.columns) - self.text)
        head = [rf"\begin{{tabular}}{{{places}}}", r"\toprule", lines[0], r"\midrule"]
        return "\n".join([*head, *lines[1:], r"\bottomrule", r"\end{tabular}"]) + "\n"


def _markdown(cell: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", printable(cell))


def _cell(cell: str) -> str:
    shown = printable(cell)
    return f"'{shown}" if _FORMULA.match(shown) and not re.fullmatch(r"[+-][\d.].*", shown) else shown


def _latex(cell: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in printable(cell))
