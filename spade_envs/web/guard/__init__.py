"""What stands before every page: who may ask, from where, how much, how often, and what a browser may do with it."""

from spade_envs.web.guard.door import SIGN_IN, Guard
from spade_envs.web.guard.sessions import Session

__all__ = ["SIGN_IN", "Guard", "Session"]
