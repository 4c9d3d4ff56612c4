"""The checks of a run: each a pure function from its values to a finding, to nothing, or to too little to say."""

from spade_train.report.checks.designing import designs, gates
from spade_train.report.checks.learning import agent, forgetting, held_out
from spade_train.report.checks.playing import curriculum, difficulty, regret
from spade_train.report.checks.running import machine, watch
from spade_train.report.checks.words import Result

__all__ = [
    "Result",
    "agent",
    "curriculum",
    "designs",
    "difficulty",
    "forgetting",
    "gates",
    "held_out",
    "machine",
    "regret",
    "watch",
]
