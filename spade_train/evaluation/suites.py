"""Which suites there are: this package's by name, other packages' by entry point, files of questions by their path."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from spade_envs.errors import UsageError
from spade_train.evaluation.acebench import acebench
from spade_train.evaluation.bfcl import bfcl
from spade_train.evaluation.forgetting import history
from spade_train.evaluation.heldout import heldout
from spade_train.evaluation.local import aime, gpqa, own
from spade_train.evaluation.programs import livecodebench
from spade_train.evaluation.reasoning import reasoning_gym
from spade_train.evaluation.registered import environments
from spade_train.evaluation.suite import Factory, Options, Skipped, Suite

GROUP = "spade_train.suites"

SUITES: dict[str, Factory] = {
    "heldout": heldout,
    "history": history,
    "environments": environments,
    "reasoning-gym": reasoning_gym,
    "bfcl": bfcl,
    "aime": aime,
    "gpqa": gpqa,
    "livecodebench": livecodebench,
    "acebench": acebench,
}

FILES = (".jsonl", ".json", ".csv", ".parquet")


def make_suites(words: Sequence[str], options: Options) -> list[Suite | Skipped]:
    """Return the suites that words name: ``heldout``, ``aime=PATH``, ``questions.jsonl``, in their order.

    Raises:
        UsageError: there is no such suite, or what was given to one is wrong.
    """
    return [_made(word, options) for word in words]


def _made(word: str, options: Options) -> Suite | Skipped:
    if word.endswith(FILES) and "=" not in word:
        path = Path(word).expanduser()
        if not path.is_file():
            raise UsageError(f"--suite {word}: there is no such file.")
        return own(path)(options)
    name, _, given = word.partition("=")
    return _factory(name)(replace(options, given=given))


def _factory(name: str) -> Factory:
    if name in SUITES:
        return SUITES[name]
    offered = {point.name: point for point in entry_points(group=GROUP)}
    if name in offered:
        return _load(offered[name])
    known = [*SUITES, *offered]
    near = difflib.get_close_matches(name, known, n=1)
    mend = f"Did you mean {near[0]}?" if near else f"There are {', '.join(known)}, and files of questions."
    raise UsageError(f"--suite {name}: there is no such suite. {mend}")


def _load(point: EntryPoint) -> Factory:
    place = f"the suite {point.name!r} ({point.value})"
    try:
        factory = point.load()
    except Exception as error:  # importing another's code may raise anything
        raise UsageError(
            f"{place} cannot be loaded ({type(error).__name__}: {error}); mend or uninstall it"
        ) from error

    def guarded(options: Options) -> Suite | Skipped:
        try:
            made = factory(options)
        except Exception as error:
            raise UsageError(f"{place} broke down ({type(error).__name__}: {error})") from error
        if not isinstance(made, Suite | Skipped):
            raise UsageError(f"{place} returned a {type(made).__name__}; it must be a Suite or a Skipped")
        return made

    return guarded
