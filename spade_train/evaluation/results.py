"""What an evaluation came to, as data and as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from rich.console import Console
from rich.table import Table

from spade_envs.contract.printable import printable
from spade_train.evaluation.figures import Figures, Tries, figures, paired, rates
from spade_train.evaluation.forgetting import Kept
from spade_train.evaluation.suite import Item, Skipped, Try
from spade_train.rewards.uncertainty import Estimate


@dataclass(frozen=True)
class SuiteResult:
    """One suite's plays.

    Attributes:
        base: the other model's plays; None where there is none.
        kept: of the run's history.
    """

    name: str
    tries: Tries
    base: Tries | None = None
    note: str = ""
    kept: tuple[Kept, ...] = ()

    @property
    def figures(self) -> Figures:
        """Return the model's figures."""
        return figures(self.tries)

    @property
    def gain(self) -> Estimate | None:
        """Return by how much avg@k lies above the base's."""
        return paired(rates(self.tries), rates(self.base)) if self.base is not None else None

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data, every play included."""
        gain = self.gain
        return {
            "suite": self.name,
            "note": self.note,
            "figures": self.figures.as_dict(),
            "base": figures(self.base).as_dict() if self.base is not None else None,
            "gain": asdict(gain) if gain else None,
            "kept": [one.as_dict() for one in self.kept],
            "items": [_item(item, plays, self.base) for item, plays in self.tries.items()],
        }


@dataclass(frozen=True)
class Evaluation:
    """What a model came to.

    Attributes:
        model, base: names.
        settings: how it was played.
    """

    model: str
    base: str | None
    settings: Mapping[str, Any]
    results: tuple[SuiteResult, ...]
    skipped: tuple[Skipped, ...] = ()
    seconds: dict[str, float] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready data."""
        return {
            "model": self.model,
            "base": self.base,
            "settings": dict(self.settings),
            "suites": [one.as_dict() for one in self.results],
            "skipped": [asdict(one) for one in self.skipped],
            "seconds": self.seconds,
        }


def print_evaluation(one: Evaluation, console: Console) -> None:
    """Print the tables of an evaluation."""
    if one.results:
        console.print(_table(one))
    for result in one.results:
        if result.note:
            console.print(f"{result.name}: {printable(result.note)}", markup=False)
        if result.kept:
            _print_kept(result.kept, console)
    for suite in one.skipped:
        console.print(f"SKIPPED {suite.name}: {printable(suite.why)}", markup=False, style="bold red")


def _table(one: Evaluation) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("suite", overflow="fold")
    columns = [
        "items",
        "k",
        "pass@1",
        "avg@k",
        *(["gain"] if one.base else []),
        "pass@k",
        "pass^k",
        "agree",
        "steps",
    ]
    for column in columns:
        table.add_column(column, justify="right")
    for result in one.results:
        known = result.figures
        gain = [result.gain.text(sign=True) if result.gain else "-"] if one.base else []
        table.add_row(
            printable(result.name),
            str(known.items) + (f" (-{known.left_out} plays)" if known.left_out else ""),
            str(known.k),
            known.pass_1.text() if known.pass_1 else "-",
            known.avg_k.text() if known.avg_k else "-",
            *gain,
            *map(_number, (known.pass_k, known.every_k, known.agreement, known.steps)),
        )
    return table


def _print_kept(kept: Sequence[Kept], console: Console) -> None:
    lost = [one for one in kept if one.is_forgotten]
    console.print(
        f"history: {len(lost)} of {len(kept)} environments are played surely worse than when last trained"
    )
    for one in lost:
        level = "" if one.level == 1 else f" level {one.level}"
        then, now = (f"{tally.wins} of {tally.plays}" for tally in (one.then, one.now))
        console.print(
            f"  {printable(one.env_id)}{level}: {then} in round {one.round + 1}, {now} now (p {one.p:.1g})",
            markup=False,
        )


def _item(item: Item, plays: Sequence[Try], base: Tries | None) -> dict[str, Any]:
    others = {} if base is None else {"base": [asdict(one) for one in base.get(item, ())]}
    return {**asdict(item), "plays": [asdict(one) for one in plays], **others}


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"
