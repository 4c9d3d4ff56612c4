"""Which mutants are judged: in turn one of each operator, over all seeds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

from mutation import OPERATORS, Operator
from mutation.proving import Mutant, mutants


def stratified(
    paths: Sequence[Path], seed: int = 0, operators: Sequence[Operator] = OPERATORS
) -> Iterator[Mutant]:
    """Yield all mutants of seeds, each round one of each operator and of as few seeds twice as possible."""
    rng = random.Random(seed)
    pools = {operator.name: list[Mutant]() for operator in operators}
    for path in paths:
        for mutant in mutants(path, operators):
            pools[mutant.kind].append(mutant)
    used = dict.fromkeys((path.stem for path in paths), 0)
    for pool in pools.values():
        rng.shuffle(pool)
    while any(pools.values()):
        for pool in filter(None, pools.values()):
            mutant = min(pool, key=lambda m: used[m.seed])
            pool.remove(mutant)
            used[mutant.seed] += 1
            yield mutant
