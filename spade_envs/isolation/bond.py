"""A process that ends when this one does, however that happens and whatever either is doing.

The kernel can bind a child to the thread that started it (``PR_SET_PDEATHSIG``); here a thread may start one and
end before it. So the child holds one end of a pair of sockets and this process the other: when this process is
gone the kernel closes its end, and signals the child. A child needs no line of code for that, so it is bound while
it still imports.
"""

from __future__ import annotations

import fcntl
import os
import socket


class Bond:
    """Binds one child to this process; :meth:`close` ends it.

    Attributes:
        theirs: the descriptor that the child inherits and does not touch.
    """

    def __init__(self) -> None:
        self._ours, self._theirs = socket.socketpair()
        self.theirs = self._theirs.fileno()

    def hold(self, process: int) -> None:
        """Bind a process that has inherited its end: when ours closes it gets SIGIO, which ends it."""
        fcntl.fcntl(self.theirs, fcntl.F_SETOWN, process)
        fcntl.fcntl(self.theirs, fcntl.F_SETFL, os.O_ASYNC | os.O_RDWR)
        self._theirs.close()

    def close(self) -> None:
        """Let go: a process that was bound ends. Safe to call again."""
        self._theirs.close()
        self._ours.close()
