"""What the tests of slots and templates share: every combination of a template's rules."""

from __future__ import annotations

from itertools import product

from spade_train.designer.slots import Specification, Template

RULES = ("goal", "feedback", "end")


def every_rule(template: Template, **words: object) -> list[Specification]:
    """One specification for each combination of the rules; ``words`` stand in the slots of that name."""
    fixed = template.examples[0] | {slot: word for slot, word in words.items() if slot in template.properties}
    choices = product(*(template.properties[rule]["enum"] for rule in RULES))
    return [fixed | dict(zip(RULES, choice, strict=True)) for choice in choices]
