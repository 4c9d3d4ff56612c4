"""The only code that runs designs: isolated workers, and the host's side of them."""

from spade_envs.isolation.description import Description, InstanceInfo
from spade_envs.isolation.host import Isolation, Worker
from spade_envs.isolation.limits import Limits
from spade_envs.isolation.pool import WorkerPool
from spade_envs.isolation.quarantine import QUARANTINE, Quarantine
from spade_envs.isolation.results import Turn

__all__ = [
    "QUARANTINE",
    "Description",
    "InstanceInfo",
    "Isolation",
    "Limits",
    "Quarantine",
    "Turn",
    "Worker",
    "WorkerPool",
]
