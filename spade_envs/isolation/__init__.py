"""The only code that runs designs: isolated workers, and the host's side of them."""

from spade_envs.isolation.host import Description, InstanceInfo, Turn, Worker
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.pool import WorkerPool
from spade_envs.isolation.quarantine import QUARANTINE, Quarantine

__all__ = [
    "QUARANTINE",
    "Description",
    "InstanceInfo",
    "Limits",
    "Quarantine",
    "Turn",
    "Worker",
    "WorkerPool",
]
