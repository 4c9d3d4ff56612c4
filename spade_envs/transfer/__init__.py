"""Out and in: versions exported to a folder, a zip, a wheel or a data set, and imported through admission."""

from __future__ import annotations

from spade_envs.transfer.arrival import Arrival
from spade_envs.transfer.choosing import chosen
from spade_envs.transfer.exporting import export
from spade_envs.transfer.formats import Format
from spade_envs.transfer.importing import arrivals, import_
from spade_envs.transfer.landing import Landing

__all__ = ["Arrival", "Format", "Landing", "arrivals", "chosen", "export", "import_"]
