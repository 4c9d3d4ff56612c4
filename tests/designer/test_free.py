"""Free-form designing: the prompt keeps its budget and tells the contract; replies are read, mended or refused."""

from __future__ import annotations

import pytest

from spade_envs import Header, Rejection, judge, parse_header
from spade_envs.contract.header_keys import DOMAINS, KEYS
from spade_envs.errors import UsageError
from spade_train.designer import DesignContext, Document, Draft, FreeDesigner, Window, prompts
from spade_train.designer.slots import render, templates
from spade_train.designer.wording import text
from spade_train.designer.worked import examples_of, short_examples
from spade_train.memory import PoolStatistics, SkillProfile

EXAMPLES = (*short_examples("questions"), *short_examples("tools"))
SOURCE = render(templates()["walk"].examples[0], 3)
SEED = SOURCE.replace('"generated"', '"seed"').replace("# generation_round = 3\n", "")
CONTEXT = DesignContext(
    3, 0, Document("A long story. " * 500, "a:1"), "Good before: X", "parity", ("spade/A-v0",)
)


def words(text: str) -> int:
    return len(text.split())


def prompt(budget: int, context: DesignContext = CONTEXT) -> str:
    messages = FreeDesigner(examples=examples_of([SEED]), window=Window(budget, words)).prompt(context)
    assert [message["role"] for message in messages] == ["system", "user"]
    return "\n".join(message["content"] for message in messages)


def test_the_contract_names_every_key_and_domain_of_the_header() -> None:
    contract = text("contract")
    assert all(f"`{key}`" in contract for key in KEYS)
    assert all(domain in contract for domain in DOMAINS)


def test_a_prompt_shows_all_parts_within_its_budget() -> None:
    for budget in (750, 900, 1_500, 4_000):
        text = prompt(budget)
        assert words(text) <= budget
        assert all(part in text for part in ("Good before: X", "parity", "spade/A-v0"))
    assert "class RoseGarden" not in prompt(750)
    assert "class RoseGarden" in prompt(4_000)
    assert prompt(4_000).count("A long story.") > prompt(900).count("A long story.") > 0
    assert "Document" not in prompt(4_000, DesignContext(3, 0))


def test_an_example_is_shown_without_what_no_model_chooses() -> None:
    text = prompt(4_000)
    assert "# title = " in text
    assert not any(f"\n# {key} = " in text for key in ("origin", "generation_round", "license", "contract"))


def test_a_budget_without_room_for_the_contract_is_refused() -> None:
    with pytest.raises(UsageError, match="Allow"):
        prompt(100)


def test_seeds_are_the_default_examples() -> None:
    text = FreeDesigner().prompt(DesignContext(0, 0))[0]["content"]
    assert 1 <= text.count("# An example") <= 3
    assert "spade/" in text


@pytest.mark.parametrize("budget", [1_500, 2_500, 4_000])
def test_a_brief_prompt_shows_short_examples_as_earlier_turns(budget: int) -> None:
    messages = FreeDesigner(brief=True, shown=3, window=Window(budget)).prompt(CONTEXT)
    assert prompts.tokens(messages, Window(budget)) <= budget
    roles = [message["role"] for message in messages]
    assert roles == ["system", *["user", "assistant"] * (len(roles) // 2 - 1), "user"]
    assert messages[-1]["content"].startswith("Document: A long story.")


def test_what_is_known_of_agent_and_pool_is_told() -> None:
    profile = (SkillProfile("parity", 40, 0.9, 0.95, 0.05, 0.2), SkillProfile("search", 8, 0.7))
    pool = PoolStatistics(12, 3, 1, 0.7, {"games": 7}, {"search": 4})
    context = DesignContext(1, 2, profile=profile, pool=pool, lessons=("the expert fails",))
    text = FreeDesigner().prompt(context)[-1]["content"]
    assert "The agent at parity: 40 plays, success 0.90, with the hint 0.95, regret 0.05, trend 0.20." in text
    assert "The agent succeeds in 87% of its plays: make this one harder." in text
    assert "The pool: 12 environments, 3 mastered, 1 too hard." in text
    assert "Refused before: the expert fails" in text


def test_a_plan_comes_first_and_stands_in_the_second_prompt() -> None:
    designer = FreeDesigner(brief=True, planned=True)
    preface = designer.preface(CONTEXT)
    assert preface is not None
    assert "Do not write code yet" in preface[-1]["content"]
    planned = DesignContext(3, 0, plan="World: {braces} and 9 stones.")
    assert "World: {braces} and 9 stones." in designer.prompt(planned)[-1]["content"]
    assert FreeDesigner().preface(CONTEXT) is None


@pytest.mark.parametrize("brief", [False, True])
@pytest.mark.parametrize("planned", [False, True])
def test_nothing_is_left_to_be_filled_in(brief: bool, planned: bool) -> None:
    designer = FreeDesigner(brief=brief, planned=planned)
    for messages in (designer.prompt(CONTEXT), designer.preface(CONTEXT) or []):
        assert not any(
            "{" + name + "}" in m["content"] for m in messages for name in ("plan", "calculation", "draws")
        )


def test_a_small_model_is_told_what_to_calculate_another_thing_each_time() -> None:
    asked = {FreeDesigner(brief=True).prompt(DesignContext(1, 2, number=n))[-1]["content"] for n in range(30)}
    assert len(asked) > 10
    assert all("`self._answer` is " in one for one in asked)


def test_equal_prompts_have_equal_hashes_and_others_do_not() -> None:
    one, other = (FreeDesigner().prompt(DesignContext(n, 0)) for n in (0, 1))
    assert prompts.sha256(one) == prompts.sha256(FreeDesigner().prompt(DesignContext(0, 0)))
    assert prompts.sha256(one) != prompts.sha256(other)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda one: str(parse_header(one.whole).id.name))
def test_what_is_shown_to_small_models_is_admitted(example: object) -> None:
    report = judge(example.whole)  # type: ignore[attr-defined]
    assert report.admitted, report.text()


def test_a_reply_is_read() -> None:
    reply = f"Here it is:\r\n```python\r\n{SOURCE}```\r\nDone."
    for said in (reply, reply.replace("\r\n", "\n")):
        draft = FreeDesigner().read(said, CONTEXT)
        assert isinstance(draft, Draft)
        assert draft.source == SOURCE.replace('# parent = "spade/OasisWalk-v0"\n', "")


def test_origin_round_and_parent_are_written_here_whatever_a_reply_says() -> None:
    lies = (
        SOURCE.replace("round = 3", "round = 9")
        .replace('"generated"', '"seed"')
        .replace("OasisWalk", "Nobody")
    )
    draft = FreeDesigner().read(f"```python\n{lies}```", CONTEXT)
    assert isinstance(draft, Draft)
    header = parse_header(draft.source)
    assert isinstance(header, Header)
    assert (header.origin, header.generation_round, header.parent) == ("generated", 3, None)
    assert draft.mends == ("header",)


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        ("", "reply."),
        ("```python\nprint(1)\n```", "reply."),
        (f"```python\n{SOURCE.replace('games', 'chess').replace('planning', 'chess')}```", "header.domain"),
        (f"```python\n{SOURCE}", "reply.cut-off"),
    ],
)
def test_a_reply_that_is_no_design_is_refused(reply: str, rule: str) -> None:
    refusal = FreeDesigner().read(reply, CONTEXT)
    assert isinstance(refusal, Rejection)
    assert refusal.findings[0].rule.startswith(rule)
