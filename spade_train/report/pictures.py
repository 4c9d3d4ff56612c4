"""The charts of a run: which values each shows. Pure functions; the room of charts draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from spade_envs.charts import Line, Stack, funnel_chart, heat_map, line_chart, stacked_bars
from spade_train.report.series import rate, regret, success
from spade_train.report.values import Designs, RoundFacts, RunFacts
from spade_train.rewards.uncertainty import Estimate

TITLES = {
    "success": "Success",
    "funnel": "From designs to environments",
    "yield": "Yield",
    "difficulty": "Difficulty over rounds",
    "regret": "Regret of new designs",
    "rewards": "Rewards",
    "held-out": "Held-out",
    "diversity": "Diversity of designs",
    "recovery": "Recovery after an invalid action",
    "loss": "Loss",
    "learning": "Entropy and gradient",
}
"""Name -> title, in the order in which they are shown."""
BINS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart with its words; ``svg`` is markup, all other fields are text."""

    name: str
    title: str
    note: str
    svg: str


def pictures(run: RunFacts) -> tuple[Picture, ...]:
    """Return every chart of a run, those that a reader wants first at the beginning."""
    return tuple(draw(run) for draw in PICTURES.values())


def success_chart(run: RunFacts) -> Picture:
    """Success without and with the hint."""
    known = run.done
    lines = (
        _line("without the hint", known, success),
        _line("with the hint", known, lambda one: success(one, hinted=True)),
    )
    note = "Mean over each round's environments, which change; the band is its 95 % interval."
    return _lines("success", note, lines, "success", (0.0, 1.0))


def regret_chart(run: RunFacts) -> Picture:
    """Regret of the designs."""
    known = [one for one in run.done if one.regret is not None]
    note = "Mean return with the hint less that without, of each round's new designs: what the designer is paid by."
    return _lines("regret", note, (_line("regret", known, regret),), "regret")


def yield_chart(run: RunFacts) -> Picture:
    """What became of the designs, round by round."""
    known = [one for one in run.rounds if one.designs.asked]
    parts: dict[str, Callable[[Designs], int]] = {
        "admitted": lambda one: one.admitted,
        "refused by a gate": lambda one: one.ran - one.admitted,
        "did not run": lambda one: one.compiled - one.ran,
        "did not compile": lambda one: one.asked - one.compiled,
    }
    stacks = tuple(
        Stack(name, tuple(float(max(0, of(one.designs))) for one in known)) for name, of in parts.items()
    )
    svg = stacked_bars(
        TITLES["yield"], _said(stacks[0].values, "admitted designs a round"), _xs(known), stacks, y="designs"
    )
    return _picture("yield", "What became of each round's designs.", svg)


def funnel(run: RunFacts) -> Picture:
    """From designs to admitted environments, over all rounds."""
    made = reduce(Designs.plus, (one.designs for one in run.rounds), Designs())
    desc = ", ".join(f"{count} {name}" for name, count in made.stages)
    svg = funnel_chart(TITLES["funnel"], desc, made.stages)
    return _picture("funnel", "All rounds; shares are of all designs.", svg)


def difficulty_chart(run: RunFacts) -> Picture:
    """How hard what was played was."""
    known = [one for one in run.rounds if any(each.plain.plays for each in one.played)]
    counts = tuple(_binned(one) for one in known)
    least, most = (sum(column[at] for column in counts) for at in (0, -1))
    whole = sum(map(sum, counts))
    desc = f"of {whole}, {least} were won in less than a fifth of the plays, {most} in four fifths or more"
    svg = heat_map(
        TITLES["difficulty"],
        desc,
        tuple(one.number + 1 for one in known),
        BINS,
        counts,
        y="success without the hint",
    )
    note = "How many environments of a round had which success: what lies at the bottom or at the top teaches little."
    return _picture("difficulty", note, svg)


def loss_chart(run: RunFacts) -> Picture:
    """The loss."""
    lines = (_plain("loss", run.done, lambda one: one.loss),)
    note = "GRPO's loss is near nought by its making; jumps are what to look for."
    return _lines("loss", note, lines, "loss")


def learning_chart(run: RunFacts) -> Picture:
    """Entropy and the gradient's norm."""
    lines = (
        _plain("entropy (nats)", run.done, lambda one: one.entropy),
        _plain("gradient's norm", run.done, lambda one: one.grad_norm),
    )
    note = "Entropy near nought: the agent says the same in all plays of a group."
    return _lines("learning", note, lines, "")


def reward_chart(run: RunFacts) -> Picture:
    """What the roles earn."""
    lines = (
        _plain("agent", run.done, lambda one: one.agent_reward),
        _plain("designer", run.done, lambda one: one.designer_reward),
    )
    return _lines("rewards", "Mean reward of each role's rows.", lines, "reward")


def diversity_chart(run: RunFacts) -> Picture:
    """How various the designs are."""
    known = [one for one in run.done if one.ideas is not None]
    lines = (_plain("effective ideas", known, lambda one: one.ideas),)
    note = "How many equally frequent ideas would be as various as a round's designs."
    return _lines("diversity", note, lines, "ideas", (0.0, None))


def held_out_chart(run: RunFacts) -> Picture:
    """Success in what is never trained on."""
    suites: dict[str, list[tuple[int, Estimate]]] = {}
    for one in run.evaluations:
        if one.rounds is not None and one.score is not None:
            suites.setdefault(one.suite, []).append((one.rounds, one.score))
    lines = tuple(_of_points(name, points) for name, points in suites.items())
    note = "Evaluations between rounds (--evaluate_rounds), with 95 % intervals."
    return _lines("held-out", note, lines, "success", (0.0, 1.0))


def recovery_chart(run: RunFacts) -> Picture:
    """What comes of invalid actions."""
    lines = (
        _line("plays with one", run.rounds, lambda one: rate(one.invalid) if one.invalid.plays else None),
        _line(
            "next turn is read again",
            run.rounds,
            lambda one: rate(one.recovered) if one.recovered.plays else None,
        ),
    )
    note = "The share of plays with a turn that could not be read as an action, and whether the turn after it could."
    return _lines("recovery", note, lines, "share", (0.0, 1.0))


PICTURES: dict[str, Callable[[RunFacts], Picture]] = {
    "success": success_chart,
    "funnel": funnel,
    "yield": yield_chart,
    "difficulty": difficulty_chart,
    "regret": regret_chart,
    "rewards": reward_chart,
    "held-out": held_out_chart,
    "diversity": diversity_chart,
    "recovery": recovery_chart,
    "loss": loss_chart,
    "learning": learning_chart,
}
"""Name -> what draws it, in the same order."""


def _lines(
    name: str,
    note: str,
    lines: tuple[Line, ...],
    y: str,
    limits: tuple[float | None, float | None] = (None, None),
) -> Picture:
    desc = "; ".join(f"{one.name}: {_said(one.ys, 'points')}" for one in lines)
    return _picture(name, note, line_chart(TITLES[name], desc, lines, y=y, limits=limits))


def _picture(name: str, note: str, svg: str) -> Picture:
    return Picture(name, TITLES[name], note, svg)


def _line(name: str, rounds: Sequence[RoundFacts], figure: Callable[[RoundFacts], Estimate | None]) -> Line:
    values = [figure(one) for one in rounds]
    ys, low, high = (
        tuple(None if one is None else getattr(one, end) for one in values)
        for end in ("value", "low", "high")
    )
    return Line(name, _xs(rounds), ys, low, high)


def _plain(name: str, rounds: Sequence[RoundFacts], figure: Callable[[RoundFacts], float | None]) -> Line:
    return Line(name, _xs(rounds), tuple(figure(one) for one in rounds))


def _of_points(name: str, points: Iterable[tuple[int, Estimate]]) -> Line:
    known = sorted(points, key=lambda point: point[0])
    ends = (tuple(getattr(one, end) for _, one in known) for end in ("value", "low", "high"))
    return Line(name, tuple(float(at) for at, _ in known), *ends)


def _binned(one: RoundFacts) -> tuple[int, ...]:
    """Return how many environments lie in each bin; all won lies in the last one."""
    rates = [each.plain.rate for each in one.played if each.plain.plays]
    bins = [min(int(rate * (len(BINS) - 1) + 1e-9), len(BINS) - 2) for rate in rates]
    return tuple(bins.count(at) for at in range(len(BINS) - 1))


def _xs(rounds: Iterable[RoundFacts]) -> tuple[float, ...]:
    return tuple(float(one.number + 1) for one in rounds)


def _said(values: Sequence[float | None], what: str) -> str:
    known = [value for value in values if value is not None]
    return f"{len(known)} {what}, from {known[0]:.3g} to {known[-1]:.3g}" if known else f"no {what} yet"
