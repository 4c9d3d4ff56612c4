"""How like designs are to each other: those written apart, copies in disguise, fillings of one template.

Run it with ``python benchmarks/novelty.py [FOLDER OF LABELLED DESIGNS]``; it takes some minutes. The lines in
``spade_envs/admission/settings.py`` are chosen from what it prints.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path
from random import Random

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "admission"))

from disguises import DISGUISES, other_constants  # type: ignore[import-not-found]

from spade_envs import parse_header, seeds_folder
from spade_envs.admission import Settings, content, probes
from spade_envs.admission.behaviour import streams
from spade_envs.admission.evidence import Evidence
from spade_envs.admission.fingerprint import Fingerprint
from spade_envs.admission.lab import Enough, Lab
from spade_envs.admission.likeness import differs, likeness
from spade_envs.admission.novelty import fingerprint
from spade_envs.admission.sheet import Sheet
from spade_train.designer.slots import random_specification, render, templates

PARTS = ("tree", "contained", "text", "behaviour")


def main(folder: str | None = None) -> None:
    seeds = [*sorted(seeds_folder().glob("*.py")), *sorted(seeds_folder().glob("heldout/*.py"))]
    paths = seeds + (sorted(Path(folder).glob("[hm]*/*.py")) if folder else [])
    seen = {path: watched(path.read_text()) for path in paths}
    prints = {path: fingerprint(evidence) for path, evidence in seen.items() if evidence}
    print(f"{len(prints)} designs that were written apart, of {len(paths)}")
    apart(prints)
    findings = {path.name: alarms(evidence) for path, evidence in seen.items() if evidence}
    print("content:", {name: found for name, found in findings.items() if found} or "nothing found")
    for name, disguise in DISGUISES.items():
        pairs = [(prints[path], watched(disguise(path.read_text()))) for path in seeds if path in prints]
        row(name, [(own, fingerprint(copy)) for own, copy in pairs if copy])
    row(
        "another constant",
        [pair for path in seeds if path in prints and (pair := changed(path, prints[path]))],
    )
    fillings()
    speed(next(iter(prints.values())))


def watched(source: str) -> Evidence | None:
    """Play the streams and some episodes of the expert; None where the design does not run."""
    with Lab(source, parse_header(source), Settings(expert_seeds=4)) as lab:
        lab.evidence.source = source
        try:
            for probe in (probes.form, probes.solvable, streams, content.read):
                probe(lab)
        except Enough:
            return None
        return lab.evidence


def alarms(evidence: Evidence) -> list[str]:
    sheet = Sheet("content")
    content.content(evidence, Settings(), sheet)
    return [finding.found for finding in sheet.findings]


def apart(prints: dict[Path, Fingerprint]) -> None:
    paths, values = list(prints), {part: [] for part in PARTS}  # type: dict
    for k, path in enumerate(paths[:-1]):
        others = likeness(prints[path], [prints[other] for other in paths[k + 1 :]])
        for part in PARTS:
            values[part] += getattr(others, part).tolist()
    for part, shares in values.items():
        print(f"  {part:10} {quantiles(shares)}")


def changed(path: Path, own: Fingerprint) -> tuple[Fingerprint, Fingerprint] | None:
    """Return the first copy with another constant that runs and that its expert still wins."""
    for source in list(other_constants(path.read_text()))[:6]:
        evidence = watched(source)
        if evidence and all(e.success for e in evidence.episodes if e.policy == "expert"):
            return own, fingerprint(evidence)
    return None


def row(name: str, pairs: list[tuple[Fingerprint, Fingerprint]]) -> None:
    """Print how like copies are to what they are copies of, and how many are said to behave differently."""
    alike = [likeness(own, [copy]) for own, copy in pairs]
    parted = sum(differs(own, copy) is not None for own, copy in pairs)
    print(f"{name}: {len(pairs)} run, {parted} behave differently")
    for part in PARTS:
        print(f"  {part:10} {quantiles([float(getattr(one, part)[0]) for one in alike])}")


def fillings(each: int = 16) -> None:
    """Fillings of one template: near ones are novel where they behave differently."""
    rng = Random(0)
    for name in templates():
        specs = []
        while len(specs) < each:
            spec = random_specification(rng)
            if spec["template"] == name and (evidence := watched(render(spec, 0))):
                specs.append((spec, fingerprint(evidence)))
        pairs = [(a, b) for k, a in enumerate(specs) for b in specs[:k]]
        near = [(a, b) for a, b in pairs if float(likeness(a[1], [b[1]]).tree[0]) >= Settings().near_tree]
        same = [(a[0], b[0]) for a, b in near if differs(a[1], b[1]) is None]
        print(f"{name}: {len(pairs)} pairs of fillings, {len(near)} near, {len(same)} of them behave alike")
        for a, b in same[:5]:
            print("   ", {k: (a[k], b[k]) for k in a if a[k] != b[k]})


def speed(one: Fingerprint, count: int = 10_000) -> None:
    start = time.perf_counter()
    likeness(one, [one] * count)
    print(f"{count} comparisons: {1000 * (time.perf_counter() - start):.0f} ms")


def quantiles(shares: Iterable[float]) -> str:
    found = np.quantile(list(shares) or [0.0], [0, 0.05, 0.5, 0.95, 0.99, 1])
    labels = ("least", "5%", "50%", "95%", "99%", "most")
    return "  ".join(f"{label} {share:.2f}" for label, share in zip(labels, found, strict=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
