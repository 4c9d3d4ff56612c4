"""Gathering what is judged: the files are read, the source is compiled in a worker, and its expert plays."""

from __future__ import annotations

import contextlib

from spade_envs.admission import policies, probes
from spade_envs.admission.evidence import Evidence
from spade_envs.admission.lab import Enough, Lab
from spade_envs.admission.settings import Settings
from spade_envs.contract.header import Header
from spade_envs.registry.integrity import examined_at
from spade_envs.verification.evidence import Gathered, Place

SEEDS = 2
"""Seeds that the expert plays at each level."""


def gather(place: Place) -> Gathered:
    """Read a version and, where its source can be read, play it.

    Raises:
        IsolationError: this machine cannot start a worker. That says nothing of the version.
    """
    assert place.id is not None
    reading = examined_at(place.root, place.id)
    if reading.source is None or reading.header is None:
        return Gathered(reading, None)
    return Gathered(reading, _played(reading.source, reading.header))


def _played(source: str, header: Header) -> Evidence:
    with Lab(source, header, Settings()) as lab:
        with contextlib.suppress(Enough):  # what stopped it is evidence
            probes.form(lab)
            for level in lab.evidence.levels:
                for seed in range(SEEDS):
                    lab.play("expert", policies.expert, level, seed)
        return lab.evidence
