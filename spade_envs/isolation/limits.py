"""What one isolated worker may use: time, memory, and the size of what it says."""

from __future__ import annotations

from dataclasses import dataclass

from spade_envs.errors import UsageError

_MOST = {"build_s": 86_400, "call_s": 86_400, "memory_mb": 1 << 20, "message_mb": 1 << 10}


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

    def __post_init__(self) -> None:
        for name, most in _MOST.items():
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool)
            if not (whole or (isinstance(value, float) and name.endswith("_s"))) or not 0 < value <= most:
                raise UsageError(f"the limit {name} must be above 0 and at most {most:,}, found {value!r}")

    @property
    def message_bytes(self) -> int:
        """The largest reply in bytes."""
        return self.message_mb << 20
