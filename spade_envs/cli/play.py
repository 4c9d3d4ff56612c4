"""The subcommand play: a person plays an environment in the terminal."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape

from spade_envs.cli.codes import DONE
from spade_envs.cli.options import Id
from spade_envs.cli.output import out
from spade_envs.registry.stack import find


def play(
    env_id: Id,
    difficulty: Annotated[int | None, typer.Option(min=1, help="Difficulty level, 1 the easiest.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the episode; another one each time by default.")
    ] = None,
) -> int:
    """Play an environment yourself. Type an action, `hint` or `quit`."""
    from spade_envs.envs import chosen_level
    from spade_envs.text import make_text

    registry, found = find(env_id)
    level = chosen_level(registry.header(found), difficulty)
    options: dict[str, Any] = {} if level is None else {"difficulty": level}
    env = make_text(str(found), action_format="raw", **options)
    try:
        _episode(env, seed)
    finally:
        env.close()
    return DONE


def _episode(env: Any, seed: int | None) -> None:
    console = out()
    text, _ = env.reset(seed=seed)
    console.print(escape(env.rules))
    for tool in env.tools:
        console.print(escape(_shown(tool["function"])))
    total, ended = 0.0, False
    while not ended:
        console.print(f"\n{escape(text)}")
        typed = _ask()
        if typed == "quit":
            console.print("You left.")
            return
        if typed == "hint":
            text = env.hint()
            continue
        text, reward, terminated, truncated, info = env.step(typed)
        total, ended = total + reward, terminated or truncated
    console.print(f"\n{escape(text)}")
    won = "You reached the goal" if info.get("is_success") else "You did not reach the goal"
    console.print(f"[bold]{won}[/bold], return {total:g}.")


def _shown(function: dict[str, Any]) -> str:
    """Return a tool as a person reads it."""
    schema = function.get("parameters", {})
    needed = schema.get("required", ())
    named = ", ".join(
        f"{name}: {part.get('type', 'any')}" + ("" if name in needed else " (optional)")
        for name, part in schema.get("properties", {}).items()
    )
    return f"- {function['name']}({named}): {function.get('description', '')}".rstrip()


def _ask() -> str:
    try:
        return input("> ").strip()
    except EOFError:
        return "quit"
