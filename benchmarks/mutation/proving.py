"""Whether a mutant is broken: its oracles' verdict, kept by hash so that reruns are quick."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from mutation import OPERATORS
from mutation.design import Design
from mutation.operator import Operator
from mutation.oracle import Oracle
from mutation.playing import Trial

Kind = Literal["proved", "review", "nothing"]
CACHE = Path(tempfile.gettempdir()) / "spade-mutants"
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Proof:
    """What an operator's oracles say of a mutant.

    Attributes:
        kind: proved by play or reading; or only rules and code disagree; or nothing is proved.
        oracles: names of the oracles that found something.
        found: their sentences.
        reasons: beginnings of the rules that a gate may rightly name.
    """

    kind: Kind
    oracles: tuple[str, ...]
    found: tuple[str, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A design with one change. Only texts and numbers: it travels between processes.

    Attributes:
        kind: name of the operator that made it.
        seed: name of the seed.
        number: counts the operator's mutants of that seed.
        source: the mutant's file.
        original: the seed's file.
    """

    kind: str
    seed: str
    number: int
    source: str
    original: str

    @property
    def operator(self) -> Operator:
        """The operator that made it."""
        return next(operator for operator in OPERATORS if operator.name == self.kind)

    @property
    def name(self) -> str:
        """How tables name it."""
        return f"{self.seed}: {self.kind} #{self.number}"


def mutants(path: Path, operators: Sequence[Operator] = OPERATORS) -> Iterator[Mutant]:
    """Yield all different mutants of a seed."""
    source = path.read_text()
    design = Design.of(path.stem, source)
    known = {source, design.with_tree(design.tree()).source}
    for operator in operators:
        for number, mutant in enumerate(operator.mutate(design)):
            if mutant.source not in known:
                known.add(mutant.source)
                yield Mutant(operator.name, path.stem, number, mutant.source, source)


def proof(mutant: Mutant) -> Proof:
    """Return the proof that a mutant is broken, from the cache where it is known."""
    file = CACHE / f"{_key(mutant)}.json"
    if file.is_file():
        kept = json.loads(file.read_text())
        return Proof(kept["kind"], *(tuple(kept[key]) for key in ("oracles", "found", "reasons")))
    made = prove(mutant.source, mutant.original, mutant.operator.oracles)
    CACHE.mkdir(exist_ok=True)
    file.write_text(json.dumps(asdict(made)))
    return made


def prove(source: str, original: str, oracles: Sequence[Oracle]) -> Proof:
    """Ask oracles; those on how rules and code agree only where no other finds anything."""
    trial = Trial(source, original)
    try:
        plain = [oracle for oracle in oracles if "review." not in oracle.reasons]
        found = [(oracle, said) for oracle in plain if (said := oracle.prove(trial))]
        if not found and len(plain) < len(oracles):
            last = next(oracle for oracle in oracles if oracle not in plain)
            found = [(last, said)] if (said := last.prove(trial)) else []
    finally:
        trial.close()
    reasons = sorted({reason for oracle, _ in found for reason in oracle.reasons})
    kind: Kind = "nothing" if not found else "review" if reasons == ["review."] else "proved"
    return Proof(kind, tuple(o.name for o, _ in found), tuple(said for _, said in found), tuple(reasons))


def _key(mutant: Mutant) -> str:
    """Return a hash of all that a proof depends on: both files, the oracles asked, and the oracles' code."""
    code = [
        *sorted(_HERE.glob("oracle*.py")),
        *(_HERE / f"{name}.py" for name in ("playing", "actors", "statistics")),
    ]
    asked = ",".join(oracle.name for oracle in mutant.operator.oracles)
    parts = [
        *(path.read_bytes() for path in code),
        mutant.source.encode(),
        mutant.original.encode(),
        asked.encode(),
    ]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:32]
