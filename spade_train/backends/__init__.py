"""Whatever writes designs, behind one small interface."""

from spade_train.backends.interface import Answer, Ask, Backend, Failed, Message

__all__ = ["Answer", "Ask", "Backend", "Failed", "Message"]
