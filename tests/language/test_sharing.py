"""Instances share a namespace only where nobody can tell: whatever a design keeps in it, each has for itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from small_designs import design

import spade_envs
from spade_envs.contract import Rejection
from spade_envs.isolation import wire
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.session import Session
from spade_envs.language import compile_source

COUNTS = "spaces.Discrete(10 ** 6)"
PLAIN = design().replace("import random\n", "")


def counting(module: str, step: str, seen: str, **parts: str) -> str:
    """A design that counts its steps in some place, of which it says."""
    text = design(module=module, step=step, observation=f"int({seen})", observation_space=COUNTS, **parts)
    return text.replace("import random\n", "")


KEEPERS = {
    "a list of the module": counting("KEPT = [0]", "KEPT[0] += 1", "KEPT[0]"),
    "a list by another name": counting("KEPT = [0]", "mine = KEPT\nmine[0] += 1", "KEPT[0]"),
    "a list in a dict": counting("KEPT = {'a': [0]}", "KEPT['a'].append(0)", "len(KEPT['a'])"),
    "a list in a tuple": counting("KEPT = ([0],)", "for row in KEPT:\n    row[0] += 1", "KEPT[0][0]"),
    "a list in a closure": counting(
        "def made():\n    kept = [0]\n    def count(more):\n        kept[0] += more\n        return kept[0]\n"
        "    return count\ncount = made()",
        "count(1)",
        "count(0)",
    ),
    "a decorated step": counting(
        "def counted(function):\n    kept = [0]\n    def run(self, action):\n        kept[0] += 1\n"
        "        self._kept = kept[0]\n        return function(self, action)\n    return run",
        "pass",
        "self._kept",
        init="self._kept = 0",
    ).replace("    def step(", "    @counted\n    def step("),
    "a global": counting("kept = 0", "global kept\nkept += 1", "kept"),
    "an iterator": counting(
        "import itertools\nKEPT = itertools.count()",
        "self._kept = next(KEPT)",
        "self._kept",
        init="self._kept = 0",
    ),
    "an object": counting(
        "class Box:\n    def __init__(self):\n        self.kept = 0\n"
        "    def add(self):\n        self.kept += 1\nKEPT = Box()",
        "KEPT.add()",
        "KEPT.kept",
    ),
    "a default of a function": counting(
        "def count(more, kept=[0]):\n    kept[0] += more\n    return kept[0]", "count(1)", "count(0)"
    ),
    "a default of a method": counting("", "pass", "self._add(0)").replace(
        "    def render",
        "    def _add(self, more, kept=[0]):\n        kept[0] += 1\n        return kept[0]\n\n    def render",
    ),
    "a default of its step": counting(
        "", "kept[0] += 1\nself._kept = kept[0]", "self._kept", init="self._kept = 0"
    ).replace("def step(self, action)", "def step(self, action, kept=[0])"),
    "a class's number": counting("", "Sample.kept += 1", "Sample.kept").replace(
        "    def __init__", "    kept = 0\n\n    def __init__"
    ),
    "a type's number": counting("", "type(self).kept += 1", "self.kept").replace(
        "    def __init__", "    kept = 0\n\n    def __init__"
    ),
    "a class's list": counting("", "self.kept += [1]", "len(self.kept)").replace(
        "    def __init__", "    kept = []\n\n    def __init__"
    ),
    "the metadata": counting(
        "", "self.metadata['n'] = self.metadata.get('n', 0) + 1", "self.metadata.get('n', 0)"
    ),
    "a function's attribute": counting("def kept():\n    pass\nkept.n = 0", "kept.n += 1", "kept.n"),
    "a class that travels": counting(
        "class Box:\n    kept = 0\nBOXES = [Box]", "box = BOXES[0]\nbox.kept += 1", "Box.kept"
    ),
    "an array": counting("KEPT = np.zeros(3)", "KEPT[0] += 1", "KEPT[0]"),
    "the module's generator": counting(
        "import random", "self._kept = random.randrange(10 ** 5)", "self._kept", init="self._kept = 0"
    ),
    "NumPy's generator": counting(
        "", "self._kept = np.random.randint(10 ** 5)", "self._kept", init="self._kept = 0"
    ),
    "a generator of the constructor": counting(
        "",
        "self._kept = self._own.integers(10 ** 5)",
        "self._kept",
        init="self._kept = 0\nself._own = self.np_random",
    ),
    "a number of the constructor": counting(
        "", "pass", "self._kept", init="self._kept = self.np_random.integers(10 ** 5)"
    ),
    "a space that is sampled": counting(
        "", "self._kept = self.action_space.sample()", "self._kept", init="self._kept = 0"
    ),
    "a pattern of a class": counting(
        "class Box:\n    kept = [0]\nBOX = Box()",
        "match BOX:\n    case Box(kept=found):\n        found[0] += 1",
        "Box.kept[0]",
    ),
}


class Batch:
    """Instances of one worker, in this process."""

    def __init__(self, source: str, count: int) -> None:
        self._session = Session(Limits())
        compiled = compile_source(source)
        assert not isinstance(compiled, Rejection), compiled.text()
        self.ask("load", source, None)
        self.ask("open", [{}] * count, True, False)
        self.count = count

    def ask(self, *message: Any) -> Any:
        reply = self._session.answer(wire.encode(list(message)))
        assert wire.read(reply)[0] == "ok", reply
        return reply

    def turn(self, seeds: dict[int, int] | None = None) -> list[list[Any]]:
        self.ask("turn", None, [0] * self.count, seeds or {}, None, [], None, [])
        results = self._session._batch._filler._block  # type: ignore[union-attr]
        return [results.rewards.tolist(), *(column.tolist() for column in results.columns)]

    @property
    def shares(self) -> bool:
        batch = self._session._batch
        assert batch is not None
        programs = {id(instance.program) for instance in batch._instances if instance is not None}
        return len(programs) < self.count


def said(source: str, count: int) -> tuple[list[Any], bool]:
    """What the instances of a batch say in an episode, and whether they share a namespace."""
    batch = Batch(source, count)
    turns = [batch.turn(dict.fromkeys(range(count), 5))] + [batch.turn() for _ in range(3)]
    return turns, batch.shares


@pytest.mark.parametrize("keeper", KEEPERS)
def test_what_one_instance_keeps_no_other_sees(keeper: str) -> None:
    turns, _ = said(KEEPERS[keeper], 3)
    alone, _ = said(KEEPERS[keeper], 1)
    for together, one in zip(turns, alone, strict=True):
        for column, own in zip(together, one, strict=True):
            assert column == own * 3


def test_a_design_that_keeps_nothing_is_shared() -> None:
    assert said(PLAIN, 3)[1]
    reading = counting(
        "MOVES = {'up': (0, 1), 'down': (0, -1)}\nNAMES = list(MOVES)\nSIZES = [3, 5]",
        "self._turn += len(MOVES) + SIZES[0] - sum(SIZES) + sum(1 for name in NAMES if name in MOVES)",
        "abs(self._turn)",
    )
    assert said(reading, 3)[1]


def test_nearly_all_shipped_environments_are_shared() -> None:
    shared = [path.stem for path in seeds() if compile_source(path.read_text()).uses is not None]  # type: ignore[union-attr]
    assert len(shared) > 0.9 * len(seeds())


def seeds() -> list[Path]:
    return sorted(spade_envs.seeds_folder().glob("*.py"))
