"""Admission: what stands between a design and the registry. Measured, not believed."""

from __future__ import annotations

from spade_envs.admission.admit import Admission, admit
from spade_envs.admission.evidence import Surroundings
from spade_envs.admission.judging import judge
from spade_envs.admission.neighbours import neighbours
from spade_envs.admission.report import Report
from spade_envs.admission.settings import Settings
from spade_envs.admission.sheet import GateResult
from spade_envs.admission.together import Panel

__all__ = [
    "Admission",
    "GateResult",
    "Panel",
    "Report",
    "Settings",
    "Surroundings",
    "admit",
    "judge",
    "neighbours",
]
