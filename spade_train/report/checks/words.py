"""How checks say what they measured."""

from __future__ import annotations

from collections.abc import Sequence

from spade_train.report.values import Designs
from spade_train.report.verdict import Finding, Fine, TooLittle
from spade_train.rewards.uncertainty import Estimate

Result = Finding | TooLittle | Fine


def percent(share: Estimate) -> str:
    """Return a share with its interval."""
    return f"{share.value:.0%} [{share.low:.0%}, {share.high:.0%}]"


def refusals(lately: Designs) -> tuple[tuple[str, str], ...]:
    """Return the three rules that refused most, with how many designs."""
    most = sorted(lately.refused.items(), key=lambda item: (-item[1], item[0]))[:3]
    return tuple((f"refused by {rule}", str(count)) for rule, count in most)


def last_known(name: str, values: Sequence[float | None]) -> tuple[tuple[str, str], ...]:
    """Return the newest value that is known, under a name; nothing where none is."""
    known = [value for value in values if value is not None]
    return ((name, f"{known[-1]:.3g}"),) if known else ()
