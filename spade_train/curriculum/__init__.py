"""Which environments are played beside the new ones, and at which level. State goes in and comes out."""

from spade_train.curriculum.choosing import Candidate, Choice, Shares, choose
from spade_train.curriculum.ladder import Ladder
from spade_train.curriculum.learnt import Learnt, Result, Track
from spade_train.curriculum.terms import Band, Worth, worth
from spade_train.curriculum.uniform import uniform

__all__ = [
    "Band",
    "Candidate",
    "Choice",
    "Ladder",
    "Learnt",
    "Result",
    "Shares",
    "Track",
    "Worth",
    "choose",
    "uniform",
    "worth",
]
