"""Keys: from the environment alone, sent to the server they are for, shown to nobody."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

KEY = "SPADE_DESIGNER_KEY"
OPENAI_KEY = "OPENAI_API_KEY"
HIDDEN = "[key]"


class Secret:
    """A key whose text appears nowhere by accident: not in a repr, a traceback, a pickle or a record."""

    __slots__ = ("_text", "variable")

    def __init__(self, text: str = "", variable: str = KEY) -> None:
        self._text, self.variable = text.strip(), variable

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return f"Secret({self.variable}{'' if self else ', not set'})"

    def __reduce__(self) -> str:
        raise TypeError("a key is not written anywhere; read it from the environment")

    def headers(self) -> dict[str, str]:
        """Return what goes along with a request."""
        return {"Authorization": f"Bearer {self._text}"} if self else {}

    def hide(self, text: str) -> str:
        """Return a text that a server wrote, without the key that it was sent."""
        return text.replace(self._text, HIDDEN) if self else text


def key_for(url: str) -> Secret:
    """Return the key for a server: ``SPADE_DESIGNER_KEY``; at openai.com else ``OPENAI_API_KEY``."""
    if text := os.environ.get(KEY, ""):
        return Secret(text)
    host = urlsplit(url).hostname or ""
    if host == "openai.com" or host.endswith(".openai.com"):
        return Secret(os.environ.get(OPENAI_KEY, ""), OPENAI_KEY)
    return Secret()
