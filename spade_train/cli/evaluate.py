"""``spade-train eval``: how good a trained model is, beside the one that it began as."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from spade_envs.errors import SpadeError, UsageError
from spade_train.cli.words import Parser


class NothingEvaluated(SpadeError):
    """Every suite was skipped."""


def run(words: list[str], console: Console) -> None:
    """Evaluate a model; print a table, or JSON."""
    said = _parser().parse_args(words)
    _check(said)
    from spade_train.cli.train import set_environment

    set_environment()
    from spade_train.evaluation.evaluating import Order, carry_out
    from spade_train.evaluation.loading import Sampling
    from spade_train.evaluation.playing import Plan
    from spade_train.evaluation.results import print_evaluation
    from spade_train.evaluation.subject import find_subject
    from spade_train.runs.folder import RunFolder

    subject = find_subject(said.model)
    if said.run is not None:
        subject = replace(subject, run=said.run)
    base = None if said.base == "none" else said.base or subject.base
    tokens = {"prompt": said.prompt_tokens, "turn": said.turn_tokens, "completion": said.completion_tokens}
    told = console if not said.json else Console(stderr=True, highlight=False)
    order = Order(
        subject,
        base,
        said.suite,
        Sampling(subject.temperature if said.temperature is None else said.temperature, said.device),
        Plan(
            said.plays,
            replace(subject.limits, **{name: value for name, value in tokens.items() if value}),
            said.seed,
            said.together,
        ),
        said.items,
        said.action_format or subject.selfplay.get("action_format", "xml"),
        lambda about, done, of: told.print(f"{about}: {done} of {of} episodes", markup=False),
    )
    found = carry_out(order)
    text = json.dumps(found.as_dict(), indent=1) + "\n"
    if said.out is not None:
        said.out.write_text(text)
    if subject.run is not None and found.results and Path(said.model).samefile(subject.run):
        RunFolder(subject.run).keep_evaluation(text)
    if said.json:
        print(json.dumps(found.as_dict(), indent=2))
        for one in found.skipped:
            print(f"SKIPPED {one.name}: {one.why}", file=sys.stderr)
    else:
        print_evaluation(found, console)
    if not found.results:
        raise NothingEvaluated("every suite was skipped; see above what each wants")


def _check(said: argparse.Namespace) -> None:
    for name in ("items", "plays", "together"):
        if getattr(said, name) < 1:
            raise UsageError(f"--{name} is {getattr(said, name)}; it must be at least 1.")
    if said.temperature is not None and said.temperature < 0:
        raise UsageError(f"--temperature is {said.temperature}; it must not be negative.")
    if said.out is not None and not said.out.absolute().parent.is_dir():
        raise UsageError(f"--out {said.out}: its folder is not there.")
    if said.run is not None and not (said.run / "config.json").is_file():
        raise UsageError(f"--run {said.run} holds no run: it has no config.json.")


def _parser() -> Parser:
    parser = Parser(
        "eval",
        "Evaluate a run's trained model, one of its checkpoints, or any model: plays of each item of every suite, "
        "pass@1 and avg@k with intervals, paired with the model that the run began with.",
        "spade-train eval runs/mine",
        "spade-train eval runs/mine/checkpoints/checkpoint-40 --suite heldout history --plays 8",
        "spade-train eval ORG/NAME --suite reasoning-gym questions.jsonl --base none --json",
        "spade-train eval runs/mine --suite aime=data/aime.jsonl gpqa=data/gpqa_diamond.csv --out results.json",
    )
    parser.add_argument(
        "model", metavar="RUN|CHECKPOINT|MODEL", help="a run, its checkpoint, a model's folder or name"
    )
    parser.add_argument(
        "--suite",
        nargs="+",
        default=["heldout"],
        metavar="SUITE",
        help="heldout, history, environments=ID,ID, reasoning-gym, bfcl, aime=PATH, gpqa=PATH, "
        "livecodebench=PATH, acebench=PATH, or a file of questions and answers (default: heldout)",
    )
    parser.add_argument(
        "--base", metavar="MODEL", help="compare with this model, or none (default: the run's)"
    )
    parser.add_argument(
        "--items", type=int, default=50, metavar="N", help="items of each suite (default: 50)"
    )
    parser.add_argument("--plays", type=int, default=4, metavar="K", help="plays of each item (default: 4)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of all draws (default: 0)")
    parser.add_argument(
        "--temperature", type=float, metavar="T", help="default: the run's; 0: the likeliest token"
    )
    for name in ("prompt", "turn", "completion"):
        parser.add_argument(f"--{name}_tokens", type=int, metavar="N", help="default: the run's")
    parser.add_argument(
        "--action_format",
        choices=["xml", "boxed", "tool_call", "raw"],
        help="how actions are written (default: the run's)",
    )
    parser.add_argument(
        "--together", type=int, default=32, metavar="N", help="episodes side by side (default: 32)"
    )
    parser.add_argument("--device", metavar="DEVICE", help="cpu, cuda (default: the fastest)")
    parser.add_argument(
        "--run", type=Path, metavar="RUN", help="the run whose history is looked at (default: the model's)"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write everything, each play included, as JSON"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser
