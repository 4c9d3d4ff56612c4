"""Designing ahead of training: what is asked for, judged and not yet played."""

from spade_train.ahead.orders import Order
from spade_train.ahead.queue import Queue
from spade_train.ahead.stock import Ahead
from spade_train.ahead.studio import Studio

__all__ = ["Ahead", "Order", "Queue", "Studio"]
