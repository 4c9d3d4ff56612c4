"""The language of environments: source in, code or a rejection out; code runs in a namespace of its own."""

from spade_envs.language.compiler import CompiledSource, compile_source
from spade_envs.language.facades import FIRST_SEED
from spade_envs.language.limits import length_rejection
from spade_envs.language.names import FILENAME, POLICY_VERSION
from spade_envs.language.program import PRINTED_LIMIT, Program, describe, load, run_program
from spade_envs.language.sharing import Uses, may_share

__all__ = [
    "FILENAME",
    "FIRST_SEED",
    "POLICY_VERSION",
    "PRINTED_LIMIT",
    "CompiledSource",
    "Program",
    "Uses",
    "compile_source",
    "describe",
    "length_rejection",
    "load",
    "may_share",
    "run_program",
]
