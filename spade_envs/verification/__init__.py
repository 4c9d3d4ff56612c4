"""Regression: whether every version still is what its report says it was."""

from __future__ import annotations

from spade_envs.verification.checks import checked, judged
from spade_envs.verification.evidence import Gathered, Place
from spade_envs.verification.places import chosen, places
from spade_envs.verification.verifying import Verified, verify

__all__ = ["Gathered", "Place", "Verified", "checked", "chosen", "judged", "places", "verify"]
