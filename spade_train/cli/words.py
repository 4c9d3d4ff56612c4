"""How subcommands read their words: argparse, with examples below and wrong use as :class:`UsageError`."""

from __future__ import annotations

import argparse
from typing import NoReturn

from spade_envs.errors import UsageError


class Parser(argparse.ArgumentParser):
    """The parser of one subcommand.

    Args:
        name: its word.
        about: what it does, in one sentence.
        examples: whole command lines.
    """

    def __init__(self, name: str, about: str, *examples: str) -> None:
        super().__init__(
            prog=f"spade-train {name}",
            description=about,
            epilog="\n  ".join(["examples:", *examples]),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    def error(self, message: str) -> NoReturn:
        """Raise :class:`UsageError` where argparse would end the process."""
        raise UsageError(f"{message}. See {self.prog} --help.")
