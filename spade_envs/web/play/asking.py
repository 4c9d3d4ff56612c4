"""What was sent to a game: a form or JSON, read into one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args
from urllib.parse import parse_qsl

from gymnasium import spaces

from spade_envs.contract.plain import from_json
from spade_envs.errors import UsageError
from spade_envs.spoken import write_action
from spade_envs.web.play.choices import said
from spade_envs.web.play.episodes import as_text
from spade_envs.web.play.game import About

Deed = Literal["act", "hint", "expert", "expert-all", "restart", "resume", "leave"]
MOST_TURN = 10**6
_FIELDS = 100


@dataclass(frozen=True, slots=True)
class Asked:
    """What is to be done with a game.

    Attributes:
        deed: what.
        turn: of the page that asked.
        given: a form's fields; those that are no part of an action, too.
        action: JSON data, where JSON was sent.
        by_form: whether a form was sent.
    """

    deed: Deed
    turn: int
    given: Mapping[str, str] = field(default_factory=dict)
    action: Any = None
    by_form: bool = True

    def words(self, about: About) -> str:
        """Return the words of a move. Raises UsageError where it names a button or form that there is not."""
        if self.by_form:
            return said(about, self.given)
        space = about.action_space
        named = about.names is not None and isinstance(space, spaces.Discrete)
        if named and type(self.action) is int and space.contains(self.action):
            return write_action(self.action, space, about.names)
        return as_text(self.action)


def read_form(body: bytes) -> Asked:
    """Return what a form says. Raises UsageError where that is nothing."""
    try:
        given = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_FIELDS))
    except ValueError as error:
        raise UsageError(f"the form cannot be read: {error}") from None
    turn = given.get("turn", "")
    known = turn.isascii() and turn.isdigit() and len(turn) <= len(str(MOST_TURN))
    return Asked(_deed(given.get("do", "act")), _turn(int(turn) if known else None), given)


def read_json(body: bytes) -> Asked:
    """Return what a JSON object says. Raises UsageError where it is none."""
    try:
        data = from_json(body.decode())
    except ValueError as error:
        raise UsageError(f"the body is no JSON: {error}") from None
    if not isinstance(data, dict):
        raise UsageError('the body is no JSON object like {"turn": 0, "action": "left"}')
    deed = _deed(data.get("do", "act"))
    if deed == "act" and "action" not in data:
        raise UsageError('there is no "action" in the body')
    return Asked(deed, _turn(data.get("turn")), action=data.get("action"), by_form=False)


def _deed(text: Any) -> Deed:
    known = get_args(Deed)
    if text not in known:
        raise UsageError(f'"do" is one of {", ".join(known)}, found {str(text)[:40]!r}')
    deed: Deed = text
    return deed


def _turn(turn: Any) -> int:
    if type(turn) is not int or not 0 <= turn <= MOST_TURN:
        raise UsageError('"turn" is the number of the turn that the move is made in, from 0')
    return turn
