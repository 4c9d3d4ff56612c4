"""The subcommand serve: pages on this machine."""

from __future__ import annotations

import os
import socket
import webbrowser
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from spade_envs.cli import options
from spade_envs.cli.output import remark
from spade_envs.contract.printable import printable
from spade_envs.errors import SpadeError, UsageError

if TYPE_CHECKING:
    from spade_envs.web import WebSettings

TOKEN = "SPADE_WEB_TOKEN"
"""The environment variable that holds the token; on a command line every user of the machine could read it."""
NEEDED = ("fastapi", "uvicorn", "jinja2", "python_multipart", "matplotlib")


def serve(
    host: Annotated[
        str, typer.Option(help="The address to listen on; one that others reach needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 for a free one.")] = 8400,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help=f"Holds the token that visitors say; or {TOKEN} holds it."),
    ] = None,
    registry: options.Only = None,
    runs: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The training runs that are shown (default: runs).")
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Open the first page in a browser.")] = False,
) -> None:
    """Open pages to browse and play environments in, on this machine."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise SpadeError(f"the pages need {', '.join(missing)}; install them: pip install 'spade-envs[web]'")
    from spade_envs.web import WebSettings
    from spade_envs.web.serving import run

    stack = None if registry is None else options.only(registry)
    settings = WebSettings(host=host, port=port, token=_token(token_file), stack=stack, runs=runs)
    listening = _listening(settings)
    address = _address(settings, listening)
    remark(f"pages at {address} (Ctrl-C ends)")
    run(settings, listening, ready=(lambda: webbrowser.open(address)) if open_ else None)


def _token(file: Path | None) -> str | None:
    """Return the token that visitors have to say, None where there is none."""
    if file is None:
        return os.environ.get(TOKEN) or None
    try:
        text = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise UsageError(f"the token cannot be read from {printable(str(file))}: {why}") from None
    if not text:
        raise UsageError(f"{printable(str(file))} holds no token; write one line into it")
    return text


def _listening(settings: WebSettings) -> socket.socket:
    """Return the socket that pages are served on. Raises UsageError where there is no such address or it is taken."""
    from spade_envs.web.serving import listen

    where = f"{printable(settings.host)}, port {settings.port}"
    try:
        return listen(settings.host, settings.port)
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or "it is no address"
        raise UsageError(
            f"cannot listen on {where}: {why}; name another with --port or --host (--port 0 takes a free one)"
        ) from None


def _address(settings: WebSettings, listening: socket.socket) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return f"http://{printable(host)}:{listening.getsockname()[1]}/"
