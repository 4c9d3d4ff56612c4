"""Errors that this package raises. Each message names the thing, the place and the mend.

Expected failures (a design that is refused, a reply without source) are values, not exceptions:
see :mod:`spade_envs.contract.findings`.
"""

from __future__ import annotations


class SpadeError(Exception):
    """Root of every error that this package raises on purpose."""


class UsageError(SpadeError):
    """The caller asked for something that cannot be: a wrong argument, a wrong kind of file."""


class UnknownEnvironment(UsageError):
    """No registry holds the id that was asked for. The message names near matches."""


class RegistryError(SpadeError):
    """A registry's folder cannot be read or written as asked."""


class IsolationError(SpadeError):
    """This machine cannot start an isolated worker. The message says which layer is missing."""


class WorkerFault(SpadeError):
    """An isolated worker was stopped, died, or broke the protocol.

    Attributes:
        kind: ``"timeout"``, ``"memory"``, ``"died"``, ``"raised"`` (the design's own exception),
            ``"contract"`` (a result that the contract does not allow), ``"protocol"`` (a reply that cannot be
            read), ``"closed"`` (it was gone before it was asked), ``"quarantined"`` (the design's workers died
            too often to start another), ``"lost"`` (an instance of a vector whose worker was lost by another's
            fault, and which could not be rebuilt).
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind

    @property
    def gone(self) -> bool:
        """Whether the worker may have been gone before it was asked: one that had waited is worth another try."""
        return self.kind in ("died", "closed")

    def __reduce__(self) -> tuple[type[WorkerFault], tuple[str, str]]:
        return type(self), (self.kind, str(self))
