"""Whatever writes designs, behind one small interface: a model here, a server, a folder of replies."""

from spade_train.backends.address import FORMS, Address, parse_address
from spade_train.backends.interface import Answer, Ask, Backend, Failed, Message, Pending
from spade_train.backends.meter import Meter, Spent
from spade_train.backends.opening import open_backend
from spade_train.backends.options import Options, Patience, Price

__all__ = [
    "FORMS",
    "Address",
    "Answer",
    "Ask",
    "Backend",
    "Failed",
    "Message",
    "Meter",
    "Options",
    "Patience",
    "Pending",
    "Price",
    "Spent",
    "open_backend",
    "parse_address",
]
