"""A process that does one task after the other: ``python -m spade_envs.admission.judging_process DESCRIPTOR``.

It ends with the process that asks it.
"""

from __future__ import annotations

import contextlib
import sys
from multiprocessing.connection import Connection

from spade_envs.admission.side_by_side import attempt


def main() -> None:
    """Answer each request, a function and its arguments, with what it returns."""
    connection = Connection(int(sys.argv[1]))
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionError):
        while True:
            connection.send(attempt(*connection.recv()))


if __name__ == "__main__":
    main()
