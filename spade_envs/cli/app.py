"""The command's frame: the list of subcommands, and the one place where errors become exit codes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from typing import Annotated, Any

import typer

from spade_envs.cli import browse, doctor, judge, play
from spade_envs.cli.codes import CANNOT_RUN, DONE, STOPPED, WRONG_USE
from spade_envs.errors import SpadeError, UsageError

app = typer.Typer(
    name="spade-envs",
    help="Browse, check, admit and play environments that language models write.",
    epilog="Exit codes: 0 admitted or done, 1 refused, 2 could not run, 3 wrong use, 130 stopped.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
COMMANDS: dict[str, tuple[Callable[..., Any], str]] = {
    "list": (browse.list_, "spade-envs list --domain games"),
    "show": (browse.show, "spade-envs show spade/LampRow-v0"),
    "source": (browse.source, "spade-envs source spade/LampRow > lamp_row.py"),
    "check": (judge.check, "spade-envs check designs/*.py --all --jobs 4 --json"),
    "admit": (judge.admit, "spade-envs admit seeds/*.py --registry registry"),
    "refused": (judge.refused, "spade-envs refused --last 10 --json"),
    "play": (play.play, "spade-envs play spade/LampRow-v0 --difficulty 2 --seed 7"),
    "doctor": (doctor.doctor, "spade-envs doctor --json"),
}


@app.callback(invoke_without_command=True)
def version(
    show: Annotated[
        bool, typer.Option("--version", is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Browse, check, admit and play environments that language models write."""
    if show:
        print(f"spade-envs {metadata.version('spade-envs')}")
        raise typer.Exit


for name, (function, example) in COMMANDS.items():
    app.command(name, epilog=f"Example: {example}")(function)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code. Nothing that a user does wrong ends in a traceback."""
    try:
        code = int(app(None if arguments is None else list(arguments), standalone_mode=False) or 0)
        sys.stdout.flush()  # here a full disk can still be said
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except BrokenPipeError:  # the reader of a pipe has seen enough
        _mute()
        code = DONE
    except (SpadeError, OSError) as error:
        print(f"spade-envs: {_said(error)}", file=sys.stderr)
        code = WRONG_USE if isinstance(error, UsageError) else CANNOT_RUN
        _unload()
    except Exception as error:
        if not hasattr(error, "show"):  # Typer's own can show themselves: a wrong option, a missing argument
            raise
        error.show()
        code = WRONG_USE
    if code == STOPPED:
        print("stopped", file=sys.stderr)
    return code


def _said(error: SpadeError | OSError) -> str:
    if isinstance(error, SpadeError) or not error.strerror:
        return str(error)
    return f"{error.filename or 'the output'}: {error.strerror}"


def _unload() -> None:
    """Say now what is still to be said, so that the interpreter does not fail to when it ends."""
    try:
        sys.stdout.flush()
    except OSError:
        _mute()


def _mute() -> None:
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
