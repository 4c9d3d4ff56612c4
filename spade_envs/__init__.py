"""A versioned registry of Gymnasium environments that language models write, each run in isolation.

After importing this package ``gymnasium.make("spade/<Name>-v<N>")`` works for every version of every registry, also
for those that come later; with ``SPADE_REGISTER=0`` Gymnasium is left alone. Names below are loaded when they are
first used.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spade_envs import errors
    from spade_envs.admission import Admission, Panel, Report, admit, judge
    from spade_envs.admission.variety import behaviour_key, shared_trees, tree_key
    from spade_envs.contract.findings import Finding, Rejection
    from spade_envs.contract.header import Header, parse_header
    from spade_envs.contract.ids import EnvId, near_ids
    from spade_envs.contract.reply import code_blocks, read_reply, with_closed_block
    from spade_envs.contract.tool_env import ToolEnv
    from spade_envs.envs import IsolatedEnv
    from spade_envs.isolation.limits import Limits
    from spade_envs.language.program import run_program
    from spade_envs.registry import Registry, add_registry, keep_only, registries, seeds_folder
    from spade_envs.text import TextEnv, make_text
    from spade_envs.vector import IsolatedVectorEnv, TextVector

_HOMES = {
    "Admission": "spade_envs.admission",
    "EnvId": "spade_envs.contract.ids",
    "Finding": "spade_envs.contract.findings",
    "Header": "spade_envs.contract.header",
    "IsolatedEnv": "spade_envs.envs",
    "IsolatedVectorEnv": "spade_envs.vector",
    "Limits": "spade_envs.isolation.limits",
    "Panel": "spade_envs.admission",
    "Registry": "spade_envs.registry",
    "Rejection": "spade_envs.contract.findings",
    "Report": "spade_envs.admission",
    "TextEnv": "spade_envs.text",
    "TextVector": "spade_envs.vector",
    "ToolEnv": "spade_envs.contract.tool_env",
    "add_registry": "spade_envs.registry",
    "admit": "spade_envs.admission",
    "behaviour_key": "spade_envs.admission.variety",
    "code_blocks": "spade_envs.contract.reply",
    "errors": "spade_envs",
    "judge": "spade_envs.admission",
    "keep_only": "spade_envs.registry",
    "make_text": "spade_envs.text",
    "near_ids": "spade_envs.contract.ids",
    "parse_header": "spade_envs.contract.header",
    "read_reply": "spade_envs.contract.reply",
    "registries": "spade_envs.registry",
    "run_program": "spade_envs.language.program",
    "seeds_folder": "spade_envs.registry",
    "shared_trees": "spade_envs.admission.variety",
    "tree_key": "spade_envs.admission.variety",
    "with_closed_block": "spade_envs.contract.reply",
}

__all__ = [
    "Admission",
    "EnvId",
    "Finding",
    "Header",
    "IsolatedEnv",
    "IsolatedVectorEnv",
    "Limits",
    "Panel",
    "Registry",
    "Rejection",
    "Report",
    "TextEnv",
    "TextVector",
    "ToolEnv",
    "add_registry",
    "admit",
    "behaviour_key",
    "code_blocks",
    "errors",
    "judge",
    "keep_only",
    "make_text",
    "near_ids",
    "parse_header",
    "read_reply",
    "registries",
    "run_program",
    "seeds_folder",
    "shared_trees",
    "tree_key",
    "with_closed_block",
]


def __getattr__(name: str) -> Any:
    if name == "errors":
        return importlib.import_module("spade_envs.errors")
    if name not in _HOMES:
        raise AttributeError(f"module 'spade_envs' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _register() -> None:
    from spade_envs.registry.gym_registration import list_newest
    from spade_envs.registry.stack import registries

    list_newest(registries()[0])


if os.environ.get("SPADE_REGISTER") != "0" and "_SPADE_ENVS_COMPLETE" not in os.environ:
    _register()  # a shell that completes a word makes no environments, and its user waits
