"""Sampling by vLLM, as TRL's ``use_vllm`` sets it up, in the place of the trainer's own decoder."""

from spade_train.engine.interface import Engine as Engine
from spade_train.engine.interface import EngineError as EngineError
from spade_train.engine.interface import Reply as Reply
from spade_train.engine.interface import Request as Request
