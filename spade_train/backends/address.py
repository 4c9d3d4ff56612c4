"""Where designs come from, in one line: ``kind:place#model``."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from urllib.parse import urlsplit

from spade_envs.errors import UsageError

FORMS = {
    "openai": "openai:http://127.0.0.1:8000/v1#MODEL",
    "vllm": "vllm:NAME",
    "transformers": "transformers:FOLDER",
    "gguf": "gguf:FILE.gguf",
    "folder": "folder:DIR#MODEL",
}
"""Kind -> how its addresses are written."""

WEB = ("http://", "https://")


@dataclass(frozen=True, slots=True)
class Address:
    """A backend's kind, its place (a web address, a folder, a file, a model's name) and its model.

    Attributes:
        model: what the place calls it; empty where the place is the model.
    """

    kind: str
    place: str
    model: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.place}" + (f"#{self.model}" if self.model else "")


def parse_address(text: str) -> Address:
    """Return what an address says. A message about a web address never repeats what may be a password in it.

    Raises:
        UsageError: the kind is unknown, a part is missing, or the web address holds more than a host and a path.
    """
    kind, colon, rest = text.partition(":")
    if text.startswith(WEB):
        raise UsageError(f"A web address alone is no backend; write openai: before it. {_forms()}")
    if kind not in FORMS:
        near = difflib.get_close_matches(kind.lower(), FORMS, n=1)
        mend = f"Did you mean {near[0]}? " if near else ""
        raise UsageError(f"There is no backend of the kind {kind!r}. {mend}{_forms()}")
    place, _, model = rest.partition("#")
    if not colon or not place:
        raise UsageError(f"{kind}: names no place. Write it as {FORMS[kind]}.")
    if kind == "openai":
        _check_web(place)
        if not model:
            raise UsageError(f"{text} names no model. Write it as {FORMS[kind]}.")
    elif model and kind != "folder":
        raise UsageError(f"{text}: a {kind} backend's place is its model. Leave #{model} out.")
    return Address(kind, place, model)


def _check_web(place: str) -> None:
    try:
        parts = urlsplit(place)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise UsageError(f"openai: has no readable web address. Write it as {FORMS['openai']}.") from None
    if not place.startswith(WEB) or not host:
        raise UsageError(f"openai: wants a web address. Write it as {FORMS['openai']}.")
    if parts.username is not None or parts.password is not None or parts.query:
        raise UsageError(
            "openai: takes a host and a path alone: no user, no password, no query. "
            "Keys come from the environment (SPADE_DESIGNER_KEY)."
        )


def _forms() -> str:
    return f"Forms: {', '.join(FORMS.values())}."
