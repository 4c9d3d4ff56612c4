"""What a page offers for an action, by the action's space, and the words that a choice stands for. Pure functions.

Whatever is chosen becomes the text that a language model would have written for it: games know no other moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from gymnasium import spaces

from spade_envs.contract.plain import to_json
from spade_envs.errors import UsageError
from spade_envs.spoken import write_action
from spade_envs.web.play.fields import Field, fields_of, value_of
from spade_envs.web.play.game import About
from spade_envs.web.play.tool_forms import call_of, tool_fields

MOST_BUTTONS, MOST_FIELDS = 24, 32
_DIGITS = tuple("1234567890")
_ARROWS = {"up": "ArrowUp", "down": "ArrowDown", "left": "ArrowLeft", "right": "ArrowRight"} | {
    "north": "ArrowUp",
    "south": "ArrowDown",
    "west": "ArrowLeft",
    "east": "ArrowRight",
}


@dataclass(frozen=True, slots=True)
class Button:
    """One action.

    Attributes:
        said: the words that it stands for.
        key: the key that presses it, None where it has none.
    """

    said: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """Fields that are an action together.

    Attributes:
        title: the tool that is called; empty where the fields are an action of another kind.
        about: what it does.
        fields: in order.
    """

    title: str
    about: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class Choices:
    """What a page offers, besides a box for words.

    Attributes:
        buttons: one for each action, where there are few.
        forms: fields, where an action has parts; one form for each tool.
        long: whether words may have several lines.
        words: the most characters of words.
    """

    buttons: tuple[Button, ...] = ()
    forms: tuple[Form, ...] = ()
    long: bool = False
    words: int = 8_192


def choices(about: About) -> Choices:
    """Return what a page offers."""
    space = about.action_space
    if about.tools:
        functions = [tool["function"] for tool in about.tools]
        return Choices(forms=tuple(Form(f["name"], f["description"], tool_fields(f)) for f in functions))
    if isinstance(space, spaces.Text):
        return Choices(long=space.max_length > 100, words=space.max_length)
    if isinstance(space, spaces.Discrete) and space.n <= MOST_BUTTONS:
        return Choices(_buttons(space, about.names))
    if about.names:
        return Choices(forms=(Form("", "", (Field("f", "action", "choice", options=about.names),)),))
    fields = fields_of(space, MOST_FIELDS + 1)
    return Choices(forms=(Form("", "", fields),) if len(fields) <= MOST_FIELDS else ())


def said(about: About, given: Mapping[str, str]) -> str:
    """Return the words that a sent page stands for.

    Args:
        about: what is played.
        given: what was sent: ``choice``, the number of a button; or ``form``, that of a form, with its fields by
            name; or ``said``, words.

    Raises:
        UsageError: it is none of these.
    """
    offered = choices(about)
    if "choice" in given:
        return offered.buttons[_index(given["choice"], offered.buttons, "choice")].said
    if "form" not in given:
        return given.get("said", "").replace("\r\n", "\n")
    number = _index(given["form"], offered.forms, "form")
    if about.tools:
        return call_of(about.tools[number]["function"], given)
    return given.get("f", "") if about.names else to_json(value_of(about.action_space, given))


def _buttons(space: spaces.Discrete, names: Sequence[str] | None) -> tuple[Button, ...]:
    words = [write_action(space.start + at, space, names) for at in range(int(space.n))]
    if names is None:  # numbers: each of one digit has its own key
        return tuple(Button(word, word if word in _DIGITS else None) for word in words)
    arrows = [_ARROWS.get(word.casefold()) for word in words]
    keys = [
        arrow if arrow and arrows.count(arrow) == 1 else digit
        for arrow, digit in zip_longest(arrows, _DIGITS[: len(words)])
    ]
    return tuple(Button(word, key) for word, key in zip(words, keys, strict=True))


def _index(text: str, offered: Sequence[object], what: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 4 or int(text) >= len(offered):
        raise UsageError(f"there is no {what} {text[:20]!r} here: load the page again")
    return int(text)
