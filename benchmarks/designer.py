"""How many designs of a model come through, at which stage the others fail and why, what repair gives and costs.

Run it with ``python benchmarks/designer.py --model PATH.gguf`` or with a server's address. It makes 60 designs over 60
documents for ``free`` and for ``edit`` and 12 for each other way, keeps each as a line of JSON below ``--folder``, and
goes on there when it is started again. ``--report`` prints the tables of what is there.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.table import Table

from spade_envs import Registry, Rejection, add_registry, admit, parse_header
from spade_envs.admission.fingerprint import of_source
from spade_envs.admission.likeness import likeness
from spade_envs.admission.rates import wilson
from spade_envs.contract.header import code_sha256
from spade_train.backends import open_backend
from spade_train.cli.design import address_of
from spade_train.designer import Corpus, DesignContext, Designer, Document, EditDesigner, Window
from spade_train.designer.parents import stored
from spade_train.designer.requestion import suits
from spade_train.designer.ways import WAYS, make_way
from spade_train.designer.worked import short_examples
from spade_train.workshop.attempts import STAGES
from spade_train.workshop.desk import Desk, Sampling

COUNTS = {"free": 60, "edit": 60}
OTHERS = 12
CORPUS = ["shipped"]
WORDS = 60  # of a piece: 60 pieces of the shipped documents, no two the same
SEED = 7
SAME_EXAMPLES = 20  # designs with the same worked examples, so that a server reads them once


@dataclass(frozen=True)
class Lines:
    """The designs of one way, as they are kept."""

    path: Path

    def read(self) -> list[dict[str, Any]]:
        """Return what is there; what a kill cut off or a backend did not answer is made again."""
        found = []
        for line in self.path.read_text("utf-8").splitlines() if self.path.exists() else ():
            try:
                found.append(json.loads(line))
            except ValueError:
                continue
        return [one for one in found if one["attempts"][0]["reply"] is not None]

    def add(self, designs: Sequence[dict[str, Any]]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        before = self.path.read_bytes() if self.path.exists() else b""
        with self.path.open("ab") as file:
            file.write(b"" if not before or before.endswith(b"\n") else b"\n")
            file.write("".join(json.dumps(one) + "\n" for one in designs).encode())


def contexts(designer: Designer, documents: Sequence[Document], count: int) -> list[DesignContext]:
    """Return one context for each design, each about a document of its own while there are enough.

    Edits change, two in a row, the stored environments that are no edits themselves: those that such a designer chooses
    where it may.
    """
    known = stored() if isinstance(designer, EditDesigner) else {}
    first = [one for one in sorted(known) if "\n# parent = " not in known[one] and designer.fits(known[one])]
    if designer.brief:
        first = [one for one in first if suits(known[one])] or first
    return [
        DesignContext(
            1 + k // SAME_EXAMPLES,
            SEED,
            documents[k % len(documents)],
            parents=(first[k // 2 % len(first)],) if first else (),
            number=k,
        )
        for k in range(count)
    ]


def begun(folder: Path) -> Registry:
    """Return the benchmark's registry: the short examples, so that they can be changed, and what was admitted before.

    The lines are enough to go on from: a registry that is not there is made from them.
    """
    registry = add_registry(folder / "registry")
    examples = [example.whole for example in (*short_examples("questions"), *short_examples("tools"))]
    kept = (design for way in WAYS for design in Lines(folder / f"{way}.jsonl").read() if design["env_id"])
    for source in (*examples, *(design["attempts"][-1]["source"] for design in kept)):
        if registry.find_code(code_sha256(source)) is None:
            admit(source, registry)
    return registry


def make(desk: Desk, designer: Designer, asked: Sequence[DesignContext], lines: Lines, at_once: int) -> None:
    """Make the designs that are not there yet, so many at once."""
    done = {one["number"] for one in lines.read()}
    wanted = [(number, context) for number, context in enumerate(asked) if number not in done]
    for wave in (wanted[at : at + at_once] for at in range(0, len(wanted), at_once)):
        made = desk.make(designer, [context for _, context in wave])
        lines.add([{"number": number, **one.as_dict()} for (number, _), one in zip(wave, made, strict=True)])
        for (number, _), one in zip(wave, made, strict=True):
            print(
                f"{designer.way} {number}: {' > '.join(_told(a) for a in one.as_dict()['attempts'])}",
                flush=True,
            )


def _told(attempt: dict[str, Any]) -> str:
    rules = [finding["rule"] for finding in attempt["findings"]]
    return f"{attempt['stage']} {attempt['env_id'] or rules[:1] or ''}"


def furthest(design: dict[str, Any], repairs: int | None = None) -> int:
    """Return the place of the last stage that a design passed, within so many repairs."""
    attempts = design["attempts"][: None if repairs is None else 1 + repairs]
    return max(STAGES.index(one["stage"]) for one in attempts)


def yields(way: str, designs: Sequence[dict[str, Any]]) -> Iterator[list[str]]:
    for title, repairs in (("before repair", 0), ("after one", 1), ("after two", 2)):
        reached = [furthest(one, repairs) for one in designs]
        counts = [sum(place >= STAGES.index(stage) for place in reached) for stage in STAGES[2:]]
        low, high = wilson(counts[-1], len(designs))
        shares = [f"{count} ({count / len(designs):.0%})" for count in counts]
        yield [f"{way}, {title}", str(len(designs)), *shares, f"{low:.0%} to {high:.0%}"]


def reasons(designs: Sequence[dict[str, Any]], last: bool) -> Counter[str]:
    """Return how often each rule refused, at the first reply or at the last."""
    counted: Counter[str] = Counter()
    for design in designs:
        attempt = design["attempts"][-1 if last else 0]
        counted.update({finding["rule"] for finding in attempt["findings"]})
    return counted


def diversity(designs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what the admitted designs of one way differ in."""
    sources = [one["attempts"][-1]["source"] for one in designs if one["env_id"]]
    prints = [of_source(source) for source in sources]
    apart = [1 - float(likeness(a, [b]).overall[0]) for a, b in combinations(prints, 2)]
    headers = [header for source in sources if not isinstance(header := parse_header(source), Rejection)]
    distances = [d for one in designs if one["env_id"] and (d := one["attempts"][-1]["distance"]) is not None]
    return {
        "admitted": len(sources),
        "of them variants": sum(
            bool(one["env_id"] and one["attempts"][-1].get("variant")) for one in designs
        ),
        "mean distance of two": round(fmean(apart), 2) if apart else None,
        "mean distance to the nearest": round(fmean(distances), 2) if distances else None,
        "domains": len({header.domain for header in headers}),
        "skills": len({skill for header in headers for skill in header.skills}),
    }


def spent(designs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    attempts = [attempt for design in designs for attempt in design["attempts"]]
    admitted = sum(design["env_id"] is not None for design in designs)
    written, read = (sum(a[f"{kind}_tokens"] for a in attempts) for kind in ("completion", "prompt"))
    return {
        "written": written,
        "read": read,
        "written per admitted": round(written / admitted) if admitted else None,
        "read per admitted": round(read / admitted) if admitted else None,
    }


def report(folder: Path, console: Console) -> None:
    kept = {way: designs for way in WAYS if (designs := Lines(folder / f"{way}.jsonl").read())}
    table = Table("way", "designs", *STAGES[2:], "95 % interval")
    for way, designs in kept.items():
        for row in yields(way, designs):
            table.add_row(*row)
    console.print(table)
    for way, designs in kept.items():
        console.print(f"\n{way}: {diversity(designs)}; tokens {spent(designs)}", markup=False)
        mended = Counter(name for one in designs for name in one["attempts"][0]["mends"])
        console.print(f"  mended: {dict(mended.most_common())}", markup=False)
        for title, last in (("first replies refused for", False), ("last replies refused for", True)):
            console.print(f"  {title}: {dict(reasons(designs, last).most_common())}", markup=False)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", help="a GGUF file or a server's address")
    parser.add_argument("--way", nargs="*", default=list(WAYS), choices=WAYS)
    parser.add_argument("--count", type=int, help="designs of each way (default: 60 and 12)")
    parser.add_argument("--folder", type=Path, default=Path("designer"))
    parser.add_argument("--at_once", type=int, default=4, help="replies that are asked for together")
    parser.add_argument("--tokens", type=int, default=600, help="the most tokens of a reply")
    parser.add_argument("--window", type=int, default=3_500, help="the most tokens of a prompt")
    parser.add_argument("--temperature", type=float, default=0.8)
    parser.add_argument("--repairs", type=int, default=2, help="how often a refused design goes back")
    parser.add_argument("--full", action="store_true", help="show the whole contract, for larger models")
    parser.add_argument(
        "--corpus", nargs="*", default=CORPUS, help="sources of documents (default: %(default)s)"
    )
    parser.add_argument("--report", action="store_true", help="print what is there and make nothing")
    said = parser.parse_args()
    if not said.report:
        registry = begun(said.folder)
        sampling = Sampling(tokens=said.tokens, temperature=said.temperature, repairs=said.repairs)
        desk = Desk(
            open_backend(address_of(said.model)), registry, sampling, run=f"benchmark/{said.folder.name}"
        )
        documents = read(said.corpus)
        for way in said.way:
            designer = make_way(way, brief=not said.full, window=Window(said.window))
            asked = contexts(designer, documents, said.count or COUNTS.get(way, OTHERS))
            make(desk, designer, asked, Lines(said.folder / f"{way}.jsonl"), said.at_once)
    report(said.folder, Console())


def read(words: Sequence[str]) -> list[Document]:
    """Return 60 documents, no two the same."""
    corpus = Corpus.read(words)
    drawn = (corpus.draw(SEED, number, words=WORDS) for number in range(max(COUNTS.values())))
    return [document for document in drawn if document is not None]


if __name__ == "__main__":
    main()
