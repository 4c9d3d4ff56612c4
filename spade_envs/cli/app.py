"""The command's frame: the list of subcommands, and the one place where errors become exit codes."""

from __future__ import annotations

import functools
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Annotated, Any

import typer

from spade_envs.cli.codes import CANNOT_RUN, DONE, STOPPED, UNHEARD, WRONG_USE
from spade_envs.cli.output import mute, remark
from spade_envs.cli.stopping import Terminated
from spade_envs.contract.printable import printable
from spade_envs.errors import SpadeError, UsageError

COMMANDS = {
    "list": ("listing:list_", "spade-envs list --domain games --difficulty 0.3..0.7 --sort regret"),
    "search": ("listing:search", "spade-envs search lamps row --status active"),
    "show": ("browse:show", "spade-envs show spade/LampRow-v0"),
    "source": ("browse:source", "spade-envs source spade/LampRow > lamp_row.py"),
    "history": ("family:history", "spade-envs history spade/LampRow-v0"),
    "lineage": ("family:lineage", "spade-envs lineage spade/LampRow-v0"),
    "check": ("judge:check", "spade-envs check designs/*.py --all --jobs 4 --json"),
    "admit": ("judge:admit", "spade-envs admit seeds/*.py --registry registry"),
    "refused": ("refusals:refused", "spade-envs refused --gate novelty --last 10 --json"),
    "retire": ("curate:retire", "spade-envs retire spade/LampRow-v0 --reason 'too much like another'"),
    "activate": ("curate:activate", "spade-envs activate spade/LampRow-v0 --reason 'needed again'"),
    "rollback": ("curate:rollback", "spade-envs rollback runs/mine 12 --dry-run"),
    "rebuild": ("records:rebuild", "spade-envs rebuild --registry runs/mine/registry"),
    "play": ("play:play", "spade-envs play spade/LampRow-v0 --difficulty 2 --seed 7"),
    "diff": ("diff:diff", "spade-envs diff spade/LampRow-v0 spade/DarkPanel-v0"),
    "replay": ("replaying:replay", "spade-envs replay spade/LampRow-v0 --expert --seed 7"),
    "verify": ("verify:verify", "spade-envs verify --registry shelf --jobs 4"),
    "export": ("exporting:export", "spade-envs export pool.zip spade/LampRow spade/StockRoom-v0"),
    "import": ("importing:import_", "spade-envs import pool.zip --registry shelf --jobs 4"),
    "serve": ("serving:serve", "spade-envs serve --open"),
    "doctor": ("doctor:doctor", "spade-envs doctor --json"),
}
"""Name -> where it is, and an example. What a subcommand needs is loaded when it is asked for."""


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code. Nothing that a user does wrong ends in a traceback."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    return _ended(lambda: _application(given)(given, prog_name="spade-envs", standalone_mode=False))


def _application(given: list[str]) -> typer.Typer:
    """Return the command with the subcommand that is asked for or completed; with all where that is none of them."""
    app = typer.Typer(
        name="spade-envs",
        help="Browse, check, admit and play environments that language models write.",
        epilog="Exit codes: 0 admitted or done, 1 refused, 2 could not run, 3 wrong use, 130 or 143 stopped.",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(version)
    completed = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    asked = next(iter(given or completed.split()[1:]), "")
    for name in [asked] if asked in COMMANDS else COMMANDS:
        where, example = COMMANDS[name]
        module, _, function = where.partition(":")
        found = getattr(importlib.import_module(f"spade_envs.cli.{module}"), function)
        app.command(name, epilog=f"Example: {example}")(_as_command(found))
    return app


def version(
    show: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Browse, check, admit and play environments that language models write."""
    if show:
        print(f"spade-envs {metadata.version('spade-envs')}")
        raise typer.Exit


def _ended(action: Callable[[], int | None]) -> int:
    """Return the exit code that an action ends with, and say on standard error why where it is none of its own."""
    try:
        code = action() or DONE
        sys.stdout.flush()  # here a full disk can still be said
        return code
    except KeyboardInterrupt as stop:
        remark(str(stop) or "stopped")
        return stop.code if isinstance(stop, Terminated) else STOPPED
    except BrokenPipeError:  # the reader of a pipe has seen enough
        mute(sys.stdout)
        return UNHEARD
    except (SpadeError, OSError) as error:
        remark(f"spade-envs: {_said(error)}")
        _unload()
        return WRONG_USE if isinstance(error, UsageError) else CANNOT_RUN
    except Exception as error:
        if not hasattr(error, "show"):  # Typer's own can show themselves: a wrong option, a missing argument
            raise
        error.message = printable(getattr(error, "message", ""))  # type: ignore[attr-defined]
        error.show()
        return WRONG_USE


def _as_command(function: Callable[..., int | None]) -> Callable[..., int]:
    """Return a subcommand that has ended before Typer, which knows fewer endings, could see how."""

    @functools.wraps(function)
    def command(*arguments: Any, **options: Any) -> int:
        return _ended(lambda: function(*arguments, **options))

    return command


def _said(error: SpadeError | OSError) -> str:
    if isinstance(error, SpadeError) or not error.strerror:
        return str(error)
    return f"{printable(str(error.filename or 'the output'))}: {error.strerror}"


def _unload() -> None:
    """Say now what is still to be said, so that the interpreter does not fail to when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        mute(sys.stdout)
