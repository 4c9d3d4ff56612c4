"""What one isolated worker may use: time, memory, and the size of what it says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one worker; the host enforces the first two, the worker's process the rest.

    Attributes:
        build_s: seconds for compiling a source, and again for building an instance.
        call_s: seconds for any other call: reset, step, render, hint, expert action.
        memory_mb: megabytes (2**20 bytes) of address space beyond what an idle worker has.
        message_mb: megabytes of the largest reply.
    """

    build_s: float = 2.0
    call_s: float = 1.0
    memory_mb: int = 512
    message_mb: int = 8

    @property
    def message_bytes(self) -> int:
        """The largest reply in bytes."""
        return self.message_mb << 20
