"""Exit codes."""

from __future__ import annotations

DONE, REFUSED, CANNOT_RUN, WRONG_USE, STOPPED = 0, 1, 2, 3, 130
UNHEARD = 141
"""Nobody reads the output any more: as other programs end by SIGPIPE."""
