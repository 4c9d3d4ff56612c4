"""Base class of environments whose actions are tool calls.

A subclass writes ``reset``, one ``tool_<name>`` method for each tool, and ``goal_reached``. The base class
takes no name that a subclass might use: what it keeps is class-private, its helpers are functions here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import gymnasium as gym

from spade_envs.contract.plain import from_json, plain
from spade_envs.contract.text_space import UnicodeText
from spade_envs.contract.tool_arguments import CallError, check_arguments
from spade_envs.contract.tool_schema import PREFIX, tool_problems, tool_schemas

ACTION_LIMIT = 8_192
"""The most characters of an action."""
OBSERVATION_LIMIT = 32_768
"""The most characters of an observation; longer results are cut."""

_CALL_FORM = '{"name": "...", "arguments": {...}}'
_Functions = Mapping[str, dict[str, Any]]


class ToolEnv(gym.Env[str, Any]):
    """An environment in which an agent calls tools and ends the episode with ``finish``.

    Raises:
        TypeError: a tool cannot be offered, or its signature and docstring disagree. The message names each.
    """

    metadata = {"render_modes": ["ansi"]}

    def __new__(cls, *_args: Any, **_kwargs: Any) -> Self:
        """Check the tools and set the spaces: here, because a subclass may omit ``super().__init__()``."""
        if problems := tool_problems(cls):
            raise TypeError(f"{cls.__name__} breaks the tool contract:\n" + "\n".join(problems))
        env = super().__new__(cls)
        env.action_space = UnicodeText(ACTION_LIMIT)
        env.observation_space = UnicodeText(OBSERVATION_LIMIT)
        return env

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode

    @cached_property  # may be shadowed: a subclass is free to call something of its own `tools`
    def tools(self) -> list[dict[str, Any]]:
        """The tools' schemas in the OpenAI function-calling form, ``finish`` last."""
        return tool_schemas(type(self))

    @cached_property
    def __functions(self) -> _Functions:
        return {tool["function"]["name"]: tool["function"] for tool in tool_schemas(type(self))}

    if TYPE_CHECKING:

        def goal_reached(self, answer: Any) -> bool:
            """Judge the whole outcome, given the JSON value that the agent finished with."""

    def next_instruction(self, answer: Any) -> str | None:  # noqa: ARG002
        """Return the user's next turn, asked at each ``finish``; None, the default, ends the episode."""
        return None

    def step(self, action: Any) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carry out one call, or a list of calls in order.

        Args:
            action: ``{"name": ..., "arguments": {...}}`` or a list of such, as JSON text or parsed.

        Returns:
            The result as text; the reward, 1.0 where ``finish`` finds the goal reached, else 0.0; whether the
            episode ended; False; and ``is_success``. A call that cannot be carried out gives ``Error: ...``.
        """
        try:
            call = _read(action)
        except CallError as error:
            outcome = _failed(str(error))
        else:
            run = _run_all if isinstance(call, list) else _run
            outcome = run(self, self.__functions, call)
        return _shown(outcome.result), outcome.reward, outcome.terminated, False, outcome.info


@dataclass(frozen=True, slots=True)
class _Outcome:
    """What one call led to. ``result`` is plain JSON data; ``finished`` says that the call was ``finish``."""

    result: Any
    reward: float = 0.0
    terminated: bool = False
    finished: bool = False
    info: dict[str, Any] = field(default_factory=lambda: {"is_success": False})


def _failed(message: str) -> _Outcome:
    return _Outcome(f"Error: {message}.")


def _read(action: Any) -> Any:
    """Return the action as plain data."""
    if isinstance(action, str) and len(action) > ACTION_LIMIT:
        raise CallError(f"the action has {len(action):,} characters; at most {ACTION_LIMIT:,} are allowed")
    try:
        return from_json(action) if isinstance(action, str) else plain(action)
    except (ValueError, RecursionError) as error:
        raise CallError(f"the action is not JSON ({error}); expected {_CALL_FORM}") from None


def _run_all(env: ToolEnv, functions: _Functions, calls: list[Any]) -> _Outcome:
    """Run calls in order, up to the first ``finish``. The result lists theirs."""
    outcome, results = _failed(f"the list is empty; expected at least one {_CALL_FORM}"), []
    for call in calls:
        if outcome.finished:
            results.append(_failed("not run, because `finish` came before it").result)
            continue
        outcome = _run(env, functions, call)
        results.append(outcome.result)
    return _Outcome(
        results or outcome.result, outcome.reward, outcome.terminated, outcome.finished, outcome.info
    )


def _run(env: ToolEnv, functions: _Functions, call: Any) -> _Outcome:
    try:
        name, arguments = _checked(functions, call)
        if name == "finish":
            return _finish(env, arguments.get("answer", ""))
        return _Outcome(plain(getattr(env, PREFIX + name)(**arguments)))
    except CallError as error:
        return _failed(str(error))
    except MemoryError:  # the worker's own limit; it must stop the worker
        raise
    except Exception as error:
        return _failed(f"the tool failed: {_described(error)}")


def _checked(functions: _Functions, call: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(call, dict) or not {"name"} <= call.keys() <= {"name", "arguments"}:
        raise CallError(f"expected {_CALL_FORM} with no other keys")
    name, arguments = call["name"], call.get("arguments", {})
    if not isinstance(name, str) or name not in functions:
        raise CallError(f"no tool has the name `{str(name)[:80]}`; the tools are {', '.join(functions)}")
    if not isinstance(arguments, dict):
        raise CallError(f"`arguments` must be a JSON object, as in {_CALL_FORM}")
    return name, check_arguments(functions[name], arguments)


def _finish(env: ToolEnv, answer: Any) -> _Outcome:
    instruction = env.next_instruction(answer)
    if instruction is not None:
        return _Outcome(str(instruction), finished=True)
    info: dict[str, Any] = {}
    try:
        success = bool(env.goal_reached(answer))
    except MemoryError:
        raise
    except Exception as error:
        success = False
        info["warning"] = f"goal_reached raised {_described(error)}"
    return _Outcome("The episode has ended.", float(success), True, True, {"is_success": success, **info})


def _described(error: Exception) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:500]
    except Exception:  # an exception class of the design's own may fail to say what it is
        return type(error).__name__


def _shown(result: Any) -> str:
    text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    text = text.encode("utf-8", "replace").decode()  # lone surrogates cannot leave the worker
    if len(text) <= OBSERVATION_LIMIT:
        return text
    note = f"\n[cut: the result has {len(text):,} characters]"
    return text[: OBSERVATION_LIMIT - len(note)] + note
