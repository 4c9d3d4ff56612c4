"""Free-form designing: the prompt keeps its budget and tells the contract; replies are read or refused."""

from __future__ import annotations

import pytest

from spade_envs import Rejection
from spade_envs.contract.header_keys import DOMAINS, KEYS
from spade_envs.errors import UsageError
from spade_train.designer import DesignContext, Document, FreeDesigner
from spade_train.designer.prompts import CONTRACT
from spade_train.designer.slots import render, templates

SOURCE = render(templates()["walk"].examples[0], 3)
SEED = SOURCE.replace('"generated"', '"seed"').replace("# generation_round = 3\n", "")
CONTEXT = DesignContext(
    3, 0, Document("A long story. " * 500, "a:1"), "Good before: X", "parity", ("spade/A-v0",)
)


def words(text: str) -> int:
    return len(text.split())


def prompt(budget: int, context: DesignContext = CONTEXT) -> str:
    messages = FreeDesigner((SEED,), count=words, budget=budget).prompt(context)
    assert [message["role"] for message in messages] == ["system", "user"]
    return "\n".join(message["content"] for message in messages)


def test_the_contract_names_every_key_and_domain_of_the_header() -> None:
    assert all(f"`{key}`" in CONTRACT for key in KEYS)
    assert all(domain in CONTRACT for domain in DOMAINS)


def test_a_prompt_shows_all_parts_within_its_budget() -> None:
    for budget in (750, 900, 1_500, 4_000):
        text = prompt(budget)
        assert words(text) <= budget
        assert all(
            part in text for part in ("Good before: X", "parity", "spade/A-v0", "generation_round = 3")
        )
    assert "class RoseGarden" not in prompt(750)
    assert "class RoseGarden" in prompt(4_000)
    assert prompt(4_000).count("A long story.") > prompt(900).count("A long story.") > 0
    assert "Document" not in prompt(4_000, DesignContext(3, 0))


def test_an_example_is_shown_as_a_generated_one() -> None:
    assert '# origin = "generated"\n# generation_round = 3\n' in prompt(4_000)
    assert '"seed"' not in prompt(4_000)


def test_a_budget_without_room_for_the_contract_is_refused() -> None:
    with pytest.raises(UsageError, match="Allow"):
        prompt(100)


def test_seeds_are_the_default_examples() -> None:
    text = FreeDesigner().prompt(DesignContext(0, 0))[0]["content"]
    assert 1 <= text.count("# An example") <= 2
    assert "spade/" in text


def test_a_reply_is_read() -> None:
    reply = f"Here it is:\r\n```python\r\n{SOURCE}```\r\nDone."
    assert FreeDesigner().read(reply.replace("\r\n", "\n"), CONTEXT) == SOURCE
    assert isinstance(FreeDesigner().read(reply, CONTEXT), str)


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("", "reply."),
        ("```python\nprint(1)\n```", "reply."),
        (f"```python\n{SOURCE.replace('games', 'chess').replace('planning', 'chess')}```", "header.domain"),
        (f"```python\n{SEED}```", "free.origin"),
        (f"```python\n{SOURCE.replace('round = 3', 'round = 2')}```", "free.origin"),
    ],
)
def test_a_reply_that_is_no_design_of_this_round_is_refused(reply: str, rule: str) -> None:
    refusal = FreeDesigner().read(reply, CONTEXT)
    assert isinstance(refusal, Rejection)
    assert refusal.findings[0].rule.startswith(rule)
