"""``spade-train design``: environments designed outside of training, through admission into a registry."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from spade_envs import EnvId, Registry, add_registry, registries
from spade_envs.contract.printable import printable
from spade_envs.errors import UsageError
from spade_train.briefing import remembering
from spade_train.cli.words import Parser
from spade_train.corpus import Document, read_corpus
from spade_train.designer import DesignContext, Designer, Window, prompts
from spade_train.designer.parents import stored
from spade_train.designer.ways import WAYS, make_way
from spade_train.memory.recollect import recollect
from spade_train.missing import why_missing
from spade_train.workshop.attempts import Attempt, Drafted
from spade_train.workshop.desk import Desk, Sampling


def run(words: list[str], console: Console) -> None:
    """Make designs, or print one prompt."""
    said = _parser().parse_args(words)
    for name, least in (("count", 1), ("window", 64), ("tokens", 1), ("max_repairs", 0), ("at_once", 1)):
        if getattr(said, name) < least:
            raise UsageError(f"--{name} is {getattr(said, name)}; it must be at least {least}.")
    _check_parents(said.parent)
    designer = make_way(said.way, brief=said.brief, window=Window(said.window))
    contexts = _contexts(said)
    if said.dry_run:
        _print_prompt(designer, _told(contexts[:1], said)[0], said, console)
        return
    if said.model is None:
        raise UsageError("design wants --model, a GGUF file or a backend's address; --dry_run needs none.")
    designs = _made(designer, contexts, said, console)
    if said.json:
        print(json.dumps([design.as_dict() for design in designs], indent=2))
        return
    console.print(_table(designs))
    admitted = sum(design.env_id is not None for design in designs)
    console.print(f"{admitted} of {len(designs)} admitted to {printable(str(said.registry))}", markup=False)


def _made(
    designer: Designer, contexts: Sequence[DesignContext], said: Any, console: Console
) -> list[Drafted]:
    from spade_train.backends import open_backend

    backend = open_backend(address_of(said.model))
    sampling = Sampling(said.tokens, said.temperature, said.top_p, said.max_repairs)
    desk = Desk(backend, add_registry(said.registry), sampling, run=f"design/{said.seed}")
    designs: list[Drafted] = []
    for at in range(0, len(contexts), said.at_once):
        for design in desk.make(designer, _told(contexts[at : at + said.at_once], said)):
            designs.append(design)
            if not said.json:
                console.print(f"{len(designs)} of {len(contexts)}: {_verdict(design)}", markup=False)
    return designs


def address_of(word: str) -> str:
    """Return a backend's address; a GGUF file may be named by its path alone."""
    return f"gguf:{word}" if word.endswith(".gguf") and not word.startswith("gguf:") else word


def _contexts(said: Any) -> list[DesignContext]:
    documents = _documents(said)
    return [
        DesignContext(
            round=0,
            seed=said.seed,
            number=number,
            document=documents[number] if documents else None,
            target=said.target,
            parents=tuple(said.parent),
        )
        for number in range(said.count)
    ]


def _told(contexts: Sequence[DesignContext], said: Any) -> list[DesignContext]:
    """Return contexts with what the registry remembers by now of earlier designs."""
    if said.no_memory:
        return list(contexts)
    memory = recollect(Registry(said.registry))
    latest = max((one.touched for one in memory.records), default=0)
    return [remembering(context, memory, latest) for context in contexts]


def _check_parents(names: Sequence[str]) -> None:
    """Raise :class:`UsageError` for the first parent that no registry holds, or not in this version."""
    known = stored()
    for name in names:
        if name not in known:
            ids = [found for one in known if isinstance(found := EnvId.parse(one), EnvId)]
            raise UsageError(f"--parent: {why_missing(name, ids, registries())}")


def _documents(said: Any) -> list[Document]:
    """Return a document for each design; none where the corpus is left out."""
    if said.no_corpus:
        return []
    corpus = read_corpus(said.corpus or (), _say)
    for one in corpus.unread:
        _say(f"corpus: {printable(one.text())}")
    drawn = (
        corpus.draw(said.seed, number, focus=said.target, words=said.words) for number in range(said.count)
    )
    return [document for document in drawn if document is not None]


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def _print_prompt(designer: Designer, context: DesignContext, said: Any, console: Console) -> None:
    ready = designer.prepare(context)
    messages = designer.preface(ready) or designer.prompt(ready)
    window = Window(said.window)
    facts = {
        "way": designer.way,
        "tokens": prompts.tokens(messages, window),
        "version": prompts.VERSION,
        "sha256": prompts.sha256(messages),
    }
    if said.json:
        print(json.dumps({**facts, "messages": messages}, indent=2))
        return
    for message in messages:
        console.print(f"--- {message['role']}", markup=False)
        console.print(printable(message["content"], keep="\n\t"), markup=False)
    console.print("--- " + ", ".join(f"{name} {value}" for name, value in facts.items()), markup=False)


def _table(designs: Sequence[Drafted]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    for column in ("design", "document", "replies", "tokens", "came to"):
        table.add_column(column, overflow="fold")
    for number, design in enumerate(designs, 1):
        table.add_row(
            str(number),
            printable(design.document or "-"),
            str(len(design.attempts)),
            str(sum(attempt.completion_tokens for attempt in design.attempts)),
            _verdict(design),
        )
    return table


def _verdict(design: Drafted) -> str:
    last = design.attempts[-1]
    return f"admitted as {design.env_id}" if design.env_id else f"refused: {_reason(last)}"


def _reason(attempt: Attempt) -> str:
    finding = next(iter(attempt.findings), None)
    return printable(f"{finding.found} [{finding.rule}]") if finding else "no reason is known"


def _parser() -> Parser:
    parser = Parser(
        "design",
        "Let a model design environments, outside of training: each is judged, goes back with its report where it is "
        "refused, and what is admitted is written to a registry.",
        "spade-train design --dry_run --way edit",
        "spade-train design --model coder.gguf --way free --count 4 --registry mine",
        "spade-train design --model openai:http://127.0.0.1:8000/v1#coder --brief --count 12 --json",
    )
    add = parser.add_argument
    add("--model", metavar="MODEL", help="a GGUF file, or a backend's address")
    add("--way", choices=WAYS, default="free", help="how it designs (default: free)")
    add("--count", type=int, default=1, metavar="N", help="how many designs (default: 1)")
    add(
        "--registry",
        type=Path,
        default=Path("designs"),
        metavar="DIR",
        help="where they go (default: designs)",
    )
    add("--brief", action="store_true", help="prompts for a small model: few rules, short examples")
    add("--window", type=int, default=6_000, metavar="N", help="the most tokens of a prompt (default: 6000)")
    add("--tokens", type=int, default=2_048, metavar="N", help="the most tokens of a reply (default: 2048)")
    add("--temperature", type=float, default=0.8, help="of sampling (default: 0.8)")
    add(
        "--top_p",
        type=float,
        default=0.95,
        help="share of the likelihood that is sampled from (default: 0.95)",
    )
    add(
        "--max_repairs",
        type=int,
        default=2,
        metavar="N",
        help="how often a refused one goes back (default: 2)",
    )
    add(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="chooses documents, examples and replies (default: 0)",
    )
    add(
        "--at_once", type=int, default=4, metavar="N", help="replies that are asked for together (default: 4)"
    )
    add("--target", metavar="SKILL", help="the skill that the designs are to train")
    add(
        "--parent",
        nargs="*",
        default=[],
        metavar="ID",
        help="what edit and compose derive from (default: by lot)",
    )
    add(
        "--corpus",
        nargs="*",
        metavar="SOURCE",
        help="documents, as the setting of this name (default: shipped)",
    )
    add("--words", type=int, default=150, metavar="N", help="the most words of a document (default: 150)")
    add("--no_corpus", action="store_true", help="design without documents")
    add("--no_memory", action="store_true", help="tell nothing of the registry's earlier designs")
    add("--dry_run", action="store_true", help="print one prompt with its tokens and its hash; ask no model")
    add("--json", action="store_true", help="print JSON")
    return parser
