"""From an address to a backend."""

from __future__ import annotations

from pathlib import Path

from spade_train.backends.address import Address, parse_address
from spade_train.backends.interface import Backend
from spade_train.backends.options import Options


def open_backend(text: str, options: Options | None = None) -> Backend:
    """Return the backend that an address names. Nothing is asked and no weights are loaded yet.

    Args:
        text: for example ``openai:http://127.0.0.1:8000/v1#model``.
        options: how it is asked.

    Raises:
        UsageError: the address is wrong, or there is no such model, file or package.
    """
    address = parse_address(text)
    options = options or Options()
    if address.kind == "openai":
        from spade_train.backends.server import Server

        return Server(address.place, address.model, options)
    if address.kind == "folder":
        from spade_train.backends.folder import ReplyFolder

        return ReplyFolder(Path(address.place).expanduser(), address.model, options)
    if address.kind == "vllm":
        from spade_train.backends.vllm import Vllm

        return Vllm(address.place, options)
    return _local(address, options)


def _local(address: Address, options: Options) -> Backend:
    from spade_train.backends.local import Local, load_policy
    from spade_train.models.model import pretrained

    pretrained(address.place, f"{address.kind}:")  # what can be known to be wrong is said now
    name = f"{address.kind}:{Path(address.place).name}"
    return Local(lambda: load_policy(address.place, f"{address.kind}:"), name, options)
