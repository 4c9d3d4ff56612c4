"""``spade-train corpus``: what sources of documents hold, and what they hold too little of."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from spade_envs import registries
from spade_envs.contract.printable import printable
from spade_train.cli.words import Parser
from spade_train.corpus import Corpus
from spade_train.corpus.blind_spots import Spot, Wanted, never_drawn, samples, survey, unlabelled
from spade_train.runs.folder import RunFolder
from spade_train.runs.views import drawn_documents, settings


def run(words: list[str], console: Console) -> None:
    """Print what the sources hold."""
    said = _parser().parse_args(words)
    folder = RunFolder.open(said.run) if said.run else None
    corpus = Corpus.read(said.sources or _of_run(folder), lambda text: print(text, file=sys.stderr))
    drawn = drawn_documents(folder) if folder else None
    spots = survey(corpus, _wanted(), drawn)
    shown = samples(corpus, said.seed, max(0, said.show), said.focus)
    if said.json:
        print(json.dumps(_data(corpus, spots, drawn, shown), indent=2))
        return
    console.print(_sources(corpus))
    for one in corpus.unread:
        console.print(f"  {printable(one.text())}", markup=False)
    for kind in ("domain", "skill"):
        console.print()
        console.print(_spots(kind, spots))
    _print_rest(corpus, drawn, console)
    for piece, labels in shown:
        _print_sample(piece, labels, console)


def _of_run(folder: RunFolder | None) -> list[str]:
    """Return the sources that a run has; none where no run is said."""
    own = settings(folder).get("selfplay", {}) if folder else {}
    said = own.get("corpus") if isinstance(own, dict) else None
    return [str(one) for one in said] if isinstance(said, list) else []


def _wanted() -> list[Wanted]:
    """Return domain and skills of every environment of the registries in force, one version of each."""
    newest = {one.header.id.name: one.header for registry in registries() for one in registry.entries()}
    return [(header.domain, header.skills) for header in newest.values()]


def _data(corpus: Corpus, spots: list[Spot], drawn: list[str] | None, shown: list[Any]) -> dict[str, Any]:
    return {
        "sources": [one.as_dict() for one in corpus.sources],
        "unlabelled": unlabelled(corpus),
        "spots": [
            {
                "kind": one.kind,
                "name": one.name,
                "documents": one.documents,
                "environments": one.environments,
                "drawn": one.drawn,
                "blind": one.blind,
            }
            for one in spots
        ],
        "never_drawn": None if drawn is None else never_drawn(corpus, drawn),
        "samples": [
            {
                "source": piece.source,
                "licence": piece.licence,
                "domain": labels.domain if labels else None,
                "skills": list(labels.skills) if labels else [],
                "because": labels.because if labels else {},
                "text": piece.text,
            }
            for piece, labels in shown
        ],
    }


def _sources(corpus: Corpus) -> Table:
    table = _table(
        "source", documents="right", words="right", share="right", licences="left", left_out="left"
    )
    total = sum(one.weight for one in corpus.sources if one.documents)
    for one in corpus.sources:
        told = one.as_dict()
        licences = Counter(told["licences"]).most_common(3)
        table.add_row(
            escape(printable(one.word)),
            f"{told['documents']:,}",
            f"{told['words']:,}",
            f"{one.weight / total:.0%}" if one.documents else "-",
            escape(printable(", ".join(name for name, _ in licences))),
            ", ".join(f"{count} {reason}" for reason, count in one.junk.items()),
        )
    return table


def _spots(kind: str, spots: list[Spot]) -> Table:
    asked = any(one.drawn is not None for one in spots)
    columns = {
        "documents": "right",
        "environments": "right",
        **({"drawn": "right"} if asked else {}),
        "": "left",
    }
    table = _table(kind, **columns)
    for one in (spot for spot in spots if spot.kind == kind):
        drawn = [str(one.drawn)] if asked else []
        table.add_row(
            escape(printable(one.name)), f"{one.documents:,}", str(one.environments), *drawn, one.blind or ""
        )
    return table


def _table(first: str, **columns: Any) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column(first, overflow="fold")
    for name, justify in columns.items():
        table.add_column(name.replace("_", " "), justify=justify, overflow="fold")
    return table


def _print_rest(corpus: Corpus, drawn: list[str] | None, console: Console) -> None:
    console.print(
        f"\n{unlabelled(corpus):,} of {len(corpus):,} documents are of no domain that the rules know"
    )
    if drawn is not None:
        console.print(f"{len(drawn)} draws on record")
        for word, count in never_drawn(corpus, drawn).items():
            console.print(f"  {printable(word)}: {count:,} documents were never drawn", markup=False)


def _print_sample(piece: Any, labels: Any, console: Console) -> None:
    console.print(f"\n{printable(piece.source)} ({piece.licence or 'licence unknown'})", markup=False)
    for name, because in (labels.because if labels else {}).items():
        console.print(f"  {name}: {', '.join(because)}", markup=False)
    console.print(printable(piece.text, keep="\n"), markup=False)


def _parser() -> Parser:
    parser = Parser(
        "corpus",
        "Tell what sources of documents hold: documents, words, licences, what was left out, and for which domains "
        "and skills they hold little. A source is a file, a folder, shipped, installed, installed:PACKAGE or "
        "hf:OWNER/NAME.",
        "spade-train corpus",
        "spade-train corpus installed --show 3 --focus optimisation",
        "spade-train corpus --run runs/mine --json",
    )
    parser.add_argument("sources", nargs="*", metavar="SOURCE", help="default: those of --run, or shipped")
    parser.add_argument("--run", type=Path, metavar="RUN", help="tell what this run never drew, too")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print the first N pieces drawn")
    parser.add_argument("--focus", metavar="NAME", help="draw those about this skill or domain")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of the draws (default: 42)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser
