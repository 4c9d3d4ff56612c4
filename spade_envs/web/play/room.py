"""What the pages of games share: where versions come from, who plays, what was recorded. Made when it is first needed:
a server whose machine cannot isolate workers shows all its other pages.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from spade_envs.errors import UsageError
from spade_envs.isolation import WorkerPool
from spade_envs.web.play.bounds import Bounds
from spade_envs.web.play.catalogue import Catalogue
from spade_envs.web.play.episodes import Episode, write_file
from spade_envs.web.play.keeper import Keeper
from spade_envs.web.play.recordings import Recordings
from spade_envs.web.play.threads import Threads

_UPLOADS = 64


@dataclass
class Room:
    """What the pages of games share.

    Attributes:
        catalogue: finds versions.
        bounds: how much is held.
        threads: carry out what waits for workers.
    """

    catalogue: Catalogue
    bounds: Bounds = field(default_factory=Bounds)
    threads: Threads = field(init=False)
    _keeper: Keeper | None = None
    _recordings: Recordings | None = None
    _uploads: OrderedDict[str, Episode] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.threads = Threads(self.bounds.threads, self.bounds.wait_s)

    @property
    def keeper(self) -> Keeper:
        """Holds running games. Raises IsolationError where no worker can be started."""
        with self._lock:
            if self._keeper is None:
                self._keeper = Keeper(self.catalogue.source, self.bounds)
            return self._keeper

    @property
    def recordings(self) -> Recordings:
        """Plays episodes again."""
        with self._lock:
            if self._recordings is None:
                self._recordings = Recordings(
                    lambda start: self.catalogue.entry(start.env_id), WorkerPool(spares=0)
                )
            return self._recordings

    def keep(self, episode: Episode) -> str:
        """Keep an episode that is too long for an address, the newest of them; return its name."""
        name = hashlib.sha256(write_file(episode).encode("utf-8", "replace")).hexdigest()[:24]
        with self._lock:
            self._uploads[name] = episode
            self._uploads.move_to_end(name)
            while len(self._uploads) > _UPLOADS:
                self._uploads.popitem(last=False)
        return name

    def kept(self, name: str) -> Episode:
        """Return an episode that was kept. Raises UsageError where it is not there any more."""
        with self._lock:
            if name not in self._uploads:
                raise UsageError("this server does not hold that episode any more; open its file again")
            return self._uploads[name]

    def close(self) -> None:
        """End all workers."""
        self.threads.close()
        if self._keeper is not None:
            self._keeper.close()
