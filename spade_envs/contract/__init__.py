"""What an environment file must look like, and the base class of those that offer tools."""

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
from spade_envs.contract.reply import read_reply
from spade_envs.contract.text_space import UnicodeText
from spade_envs.contract.tool_env import ToolEnv
from spade_envs.contract.tool_schema import tool_problems, tool_schemas

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
    "read_reply",
    "set_parent",
    "set_version",
    "tool_problems",
    "tool_schemas",
]
