"""A process that judges one design after the other: ``python -m spade_envs.admission.judging_process DESCRIPTOR``.

It ends with the process that asks it.
"""

from __future__ import annotations

import contextlib
import sys
from multiprocessing.connection import Connection

from spade_envs.admission.many import judged


def main() -> None:
    """Answer each request, a source and the options of its judgement, with a verdict."""
    connection = Connection(int(sys.argv[1]))
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionError):
        while True:
            connection.send(judged(*connection.recv()))


if __name__ == "__main__":
    main()
