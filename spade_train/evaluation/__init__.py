"""How good a model is: suites of items, plays of each, figures with intervals, compared with another model's."""

from spade_train.evaluation.figures import Figures, figures, paired, rates
from spade_train.evaluation.suite import Item, Options, Skipped, Suite, Try
from spade_train.rewards.uncertainty import Estimate

__all__ = ["Estimate", "Figures", "Item", "Options", "Skipped", "Suite", "Try", "figures", "paired", "rates"]
