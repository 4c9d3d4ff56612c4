"""The only code that runs designs: isolated workers, and the host's side of them."""

from spade_envs.isolation.host import Description, InstanceInfo, Worker
from spade_envs.isolation.limits import Limits

__all__ = ["Description", "InstanceInfo", "Limits", "Worker"]
