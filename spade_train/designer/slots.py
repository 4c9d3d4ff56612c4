"""Designing in slots, for models too small to write a class.

The model fills a short JSON specification: which template, its words, its rules, its ranges; the template
renders it as a complete source file. A template is two files in ``templates/``: ``<name>.json`` (the slots as
JSON-schema properties, in the order in which they are chosen, and worked examples) and ``<name>.py.j2`` (the
source).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import jinja2

from spade_envs import Finding, Rejection
from spade_train.corpus import excerpt
from spade_train.designer import prompts
from spade_train.designer.context import DesignContext, Draft, Message

FOLDER = Path(__file__).parent / "templates"

Specification = dict[str, Any]
"""One filling of one template's slots: ``{"template": "hunt", "title": ..., ...}``."""


@dataclass(frozen=True, slots=True)
class Template:
    """One kind of environment that can be designed.

    Attributes:
        name: the first slot of every specification.
        parent: id of the seed environment that it stems from.
        properties: the other slots, each a JSON schema, in the order in which they are chosen.
        examples: specifications by hand, to be shown to the model.
    """

    name: str
    parent: str
    properties: dict[str, dict[str, Any]]
    examples: tuple[Specification, ...]

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of this template's specifications."""
        properties = {"template": {"const": self.name}, **self.properties}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }


@cache
def templates() -> dict[str, Template]:
    """Return all templates by name."""
    read = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("*.json"))}
    return {
        name: Template(name, data["parent"], data["properties"], tuple(data["examples"]))
        for name, data in read.items()
    }


@dataclass(frozen=True, slots=True)
class SlotDesigner:
    """Asks for a specification under a schema and renders it.

    Attributes:
        shown: how many worked examples a prompt has, each of another template.
        excerpt_words: how much of the document it quotes, in words.
    """

    shown: int = 3
    excerpt_words: int = 40

    @property
    def way(self) -> str:
        """Return ``"slots"``."""
        return "slots"

    @property
    def brief(self) -> bool:
        """Return False: a specification is short anyway, and is written again with its report in sight."""
        return False

    def prepare(self, context: DesignContext) -> DesignContext:
        """Return the context as it is."""
        return context

    def preface(self, context: DesignContext) -> None:
        """Return None: there is one question."""

    def prompt(self, context: DesignContext) -> list[Message]:
        """Return worked examples (the wished parents' last), the memory, the document, the request."""
        rng = context.rng()
        order = rng.sample(list(templates().values()), len(templates()))
        order.sort(key=lambda template: template.parent in context.parents)
        examples = [rng.choice(template.examples) for template in order[-self.shown :]]
        text = excerpt(context.document.text, self.excerpt_words, rng) if context.document else ""
        return prompts.slots(examples, text, context)

    def schema(self) -> dict[str, Any]:
        """Return the schema of every template's specifications: the model chooses the template first."""
        return {"anyOf": [template.schema() for template in templates().values()]}

    def read(self, reply: str, context: DesignContext) -> Draft | Rejection:
        """Return the source that the specification renders to, or what is wrong with the specification."""
        try:
            specification = json.loads(reply)
        except (ValueError, RecursionError) as error:
            found = f"The reply is no JSON object: {error}."
            return Rejection((Finding("slots.json", found, "Reply with one whole JSON object."),))
        findings = tuple(_problems(specification))
        return Rejection(findings) if findings else Draft(render(specification, context.round))

    def quoted(self, context: DesignContext) -> tuple[str, ...]:  # noqa: ARG002
        """Return nothing: specifications are no sources."""
        return ()


def render(specification: Specification, generation_round: int) -> str:
    """Return the source of a valid specification. Equal arguments give equal text."""
    template = templates()[specification["template"]]
    name = specification["title"].replace(" ", "")
    words = {**specification, "name": name, "parent": template.parent, "round": generation_round}
    return _jinja().get_template(f"{template.name}.py.j2").render(words)


def random_specification(rng: Random) -> Specification:
    """Return a uniformly random filling: a designer without a model, to measure the templates with."""
    template = rng.choice(list(templates().values()))
    return {"template": template.name} | {
        name: _draw(slot, rng) for name, slot in template.properties.items()
    }


@cache
def _jinja() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def _problems(specification: Any) -> Iterator[Finding]:
    """Say what is wrong. Under the schema, only a repeated item can be."""
    chosen = specification.get("template") if isinstance(specification, dict) else None
    if chosen not in list(templates()):
        remedy = f'Begin with {{"template": "..."}}: one of {", ".join(templates())}.'
        yield Finding("slots.template", f"The specification's template is {chosen!r:.60}.", remedy)
        return
    slots = templates()[chosen].properties
    for name in dict.fromkeys([*slots, *specification]):
        if name == "template":
            continue
        if name not in slots:
            yield Finding("slots.unknown", f"`{name:.60}` is no slot of {chosen}.", "Leave it out.")
        elif name not in specification:
            yield Finding("slots.missing", f"`{name}` is missing.", f"Add {_expected(slots[name])}.")
        elif not _fits(specification[name], slots[name]):
            found = f"`{name}` is {specification[name]!r:.60}."
            yield Finding(f"slots.{name}", found, f"Write {_expected(slots[name])}.")


def _fits(value: Any, slot: dict[str, Any]) -> bool:
    if "enum" in slot:
        return value in slot["enum"]
    if slot["type"] == "integer":
        return type(value) is int and slot["minimum"] <= value <= slot["maximum"]
    if slot["type"] == "string":
        return isinstance(value, str) and re.fullmatch(slot["pattern"], value) is not None
    return (
        isinstance(value, list)
        and slot["minItems"] <= len(value) <= slot["maxItems"]
        and all(_fits(item, slot["items"]) for item in value)
        and len(set(value)) == len(value)
    )


def _expected(slot: dict[str, Any]) -> str:
    if "enum" in slot:
        return f"one of {', '.join(slot['enum'])}"
    if slot["type"] == "integer":
        return f"a whole number from {slot['minimum']} to {slot['maximum']}"
    if slot["type"] == "string":
        return f"text of the form {slot['pattern']}"
    return f"{slot['minItems']} to {slot['maxItems']} different items, each {_expected(slot['items'])}"


def _draw(slot: dict[str, Any], rng: Random) -> Any:
    if "enum" in slot:
        return rng.choice(slot["enum"])
    if slot["type"] == "integer":
        return rng.randint(slot["minimum"], slot["maximum"])
    if slot["type"] == "array":
        return [_draw(slot["items"], rng) for _ in range(rng.randint(slot["minItems"], slot["maxItems"]))]
    word = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 8)))
    return f"{word} {word[::-1]}".title() if slot["pattern"].startswith("^[A-Z]") else word
