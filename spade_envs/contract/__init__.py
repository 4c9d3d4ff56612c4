"""What an environment file must look like, and the base class of those that offer tools.

The last four names are loaded when they are first used: they alone need Gymnasium.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from spade_envs.contract.findings import Finding, Rejection
from spade_envs.contract.header import (
    Header,
    body,
    code_sha256,
    file_sha256,
    has_header,
    parse_header,
    set_parent,
    set_version,
)
from spade_envs.contract.header_keys import DOMAINS
from spade_envs.contract.ids import EnvId, near_ids, near_matches
from spade_envs.contract.printable import printable
from spade_envs.contract.reply import read_reply

if TYPE_CHECKING:
    from spade_envs.contract.text_space import UnicodeText
    from spade_envs.contract.tool_env import ToolEnv
    from spade_envs.contract.tool_schema import tool_problems, tool_schemas

_HOMES = {
    "ToolEnv": "tool_env",
    "UnicodeText": "text_space",
    "tool_problems": "tool_schema",
    "tool_schemas": "tool_schema",
}

__all__ = [
    "DOMAINS",
    "EnvId",
    "Finding",
    "Header",
    "Rejection",
    "ToolEnv",
    "UnicodeText",
    "body",
    "code_sha256",
    "file_sha256",
    "has_header",
    "near_ids",
    "near_matches",
    "parse_header",
    "printable",
    "read_reply",
    "set_parent",
    "set_version",
    "tool_problems",
    "tool_schemas",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'spade_envs.contract' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"spade_envs.contract.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
