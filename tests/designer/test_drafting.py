"""Designs outside of training: asked, judged, repaired, admitted, and every failure on record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from spade_envs import Registry, admit
from spade_envs.registry.lineage import lineage
from spade_train.backends import Answer, Ask, Failed
from spade_train.designer import ComposeDesigner, DesignContext, Document, EditDesigner, FreeDesigner
from spade_train.designer.worked import examples_of, short_examples
from spade_train.workshop.attempts import Drafted
from spade_train.workshop.desk import Desk, Sampling

FILES = {
    example.whole.split("class ")[1].split("(")[0]: example.whole
    for example in (*short_examples("questions"), *short_examples("tools"))
}
GLACIER, TRAIN, SCRIBE = FILES["GlacierSurvey"], FILES["NightTrain"], FILES["ScribeError"]
BROKEN = TRAIN.replace("people - off + on", "people - of + on")
MENDED = BROKEN.partition("    def reset")[2].partition("    def goal")[0].replace("- of ", "- off ")
CONTEXT = DesignContext(2, 5, Document("A document.", "d:1", "CC0-1.0"))


def fenced(code: str) -> str:
    return f"```python\n{code}\n```"


@dataclass
class Script:
    """A backend that answers from a list."""

    replies: list[str | Answer | Failed]
    asked: list[Ask] = field(default_factory=list)
    name: str = "script"

    def answer(self, asks: Sequence[Ask]) -> list[Answer | Failed]:
        self.asked += asks
        said = [self.replies.pop(0) for _ in asks]
        return [Answer(one, 100, 10) if isinstance(one, str) else one for one in said]


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "registry")


def made(registry: Registry, script: Script, *contexts: DesignContext, repairs: int = 2) -> list[Drafted]:
    designer = FreeDesigner(examples=examples_of([GLACIER]))
    desk = Desk(script, registry, Sampling(repairs=repairs))
    return desk.make(designer, contexts or (CONTEXT,))


def stages(design: Drafted) -> list[str]:
    return [attempt.stage for attempt in design.attempts]


def test_a_sound_file_is_admitted_with_how_it_was_made(registry: Registry) -> None:
    script = Script([fenced(TRAIN)])
    (design,) = made(registry, script)
    assert stages(design) == ["admitted"]
    assert design.env_id == "spade/NightTrain-v0"
    (entry,) = registry.entries()
    assert (entry.header.origin, entry.header.generation_round) == ("generated", 2)
    kept = entry.report["provenance"]
    assert (kept["designer"], kept["way"], kept["document"], kept["document_licence"]) == (
        "script",
        "free",
        "d:1",
        "CC0-1.0",
    )
    assert kept["prompt_sha256"] == design.attempts[0].prompt_sha256
    assert (kept["mends"], kept["repairs"]) == (["header"], 0)


def test_a_joined_design_is_of_the_family_of_both(registry: Registry) -> None:
    both = [str(registry.add(source, {})) for source in (GLACIER, SCRIBE)]
    known = dict(zip(both, (GLACIER, SCRIBE), strict=True))
    designer = ComposeDesigner(brief=True, known=lambda: known)
    (design,) = Desk(Script([fenced(TRAIN)]), registry, Sampling()).make(designer, (CONTEXT,))
    assert set(design.parents) == set(both)
    assert design.env_id is not None
    found = lineage(design.env_id, [registry])
    parents = {found.ancestors[-1].id, *(parent.id for _, parent in found.joins)}
    assert parents == set(both)
    for parent in both:
        assert [child.id for child in lineage(parent, [registry]).member.children] == [design.env_id]


def test_a_refused_file_goes_back_and_its_methods_are_put_in(registry: Registry) -> None:
    script = Script([fenced(BROKEN), fenced(f"    def reset{MENDED}")])
    (design,) = made(registry, script)
    assert stages(design) == ["read", "admitted"]
    told = script.asked[1].messages[-1]["content"]
    assert "Nothing defines `of`" in told
    assert "people = people - of + on" in told
    assert next(iter(registry.entries())).report["provenance"]["repairs"] == 1


WEAK = TRAIN.replace('{"answer": self._answer}', '{"answer": self._answer + 1}')


@pytest.mark.parametrize(
    "vain",
    [
        "def reset(self, *, seed=None, options=None):\n    return nobody, {}",
        "def hint(self):\n    return 'Count with care.'",
    ],
    ids=["worse", "the same"],
)
def test_where_a_repair_was_in_vain_another_file_is_asked_for(registry: Registry, vain: str) -> None:
    script = Script([fenced(WEAK), fenced(vain), fenced(SCRIBE)])
    (design,) = made(registry, script)
    assert stages(design)[0] == "ran"
    assert stages(design)[-1] == "admitted"
    first, mended, anew = (ask.messages for ask in script.asked)
    assert mended[: len(first)] == first
    assert mended[-2]["content"] == fenced(WEAK)
    assert "Write another one" in anew[-1]["content"]
    assert "solvable.expert" in anew[-1]["content"]
    assert all(fenced(WEAK) != message["content"] for message in anew)


def test_a_repair_that_came_further_is_gone_on_from(registry: Registry) -> None:
    right = f"    def expert_action{TRAIN.partition('def expert_action')[2]}"
    script = Script(
        [fenced(WEAK.replace("people - off", "people - of")), fenced(f"    def reset{MENDED}"), fenced(right)]
    )
    (design,) = made(registry, script)
    assert stages(design) == ["read", "ran", "admitted"]
    assert script.asked[2].messages[-2]["content"] == fenced(f"    def reset{MENDED}")


def test_a_small_model_always_writes_another_one(registry: Registry) -> None:
    script = Script([fenced(BROKEN), fenced(SCRIBE)])
    designer = FreeDesigner(brief=True, examples=examples_of([GLACIER]))
    (design,) = Desk(script, registry).make(designer, [CONTEXT])
    assert stages(design) == ["read", "admitted"]
    told = script.asked[1].messages[-1]["content"]
    assert "Write another one" in told
    assert "`of`" in told
    assert all(fenced(BROKEN) != message["content"] for message in script.asked[1].messages)


def test_a_copy_of_what_was_shown_is_refused_and_another_file_is_asked_for(registry: Registry) -> None:
    copy = GLACIER.replace("Glacier", "Iceberg").replace("glacier", "iceberg").replace("MONTHS", "WEEKS")
    script = Script([fenced(copy), fenced(SCRIBE)])
    (design,) = made(registry, script)
    assert stages(design) == ["ran", "admitted"]
    assert design.attempts[0].findings[0].rule == "novelty.near-duplicate"
    assert "Write another one" in script.asked[1].messages[-1]["content"]


def test_what_cannot_be_read_or_asked_is_on_record_and_ends_nothing(registry: Registry) -> None:
    cut = Answer(fenced(TRAIN)[:-3], 100, 10, cut=True)
    script = Script([Failed("no server there"), "", cut, fenced(TRAIN), "no code", "no code"])
    contexts = [DesignContext(2, 0, number=seed) for seed in range(3)]
    designs = made(registry, script, *contexts)
    assert [stages(one) for one in designs] == [["asked"], ["answered", "admitted"], ["answered"] * 3]
    assert designs[0].attempts[0].findings[0].found == "no server there"
    assert designs[1].attempts[0].findings[0].rule == "reply.empty"
    assert designs[2].attempts[0].findings[0].rule == "reply.cut-off"
    assert designs[2].attempts[0].as_dict()["findings"]


def test_a_block_that_its_writer_forgot_to_close_ends_with_the_reply(registry: Registry) -> None:
    script = Script([fenced(TRAIN)[:-4]])
    (design,) = made(registry, script)
    assert stages(design) == ["admitted"]
    assert design.attempts[0].reply == fenced(TRAIN)[:-4]
    for text in ("", "no code", fenced(TRAIN), "a ``` b"):
        assert Answer(text, 1, 1).whole == text
    thought = f"<think>\nmaybe\n```python\n</think>\n{fenced(TRAIN)}\n"
    assert Answer(thought, 1, 1).whole == thought
    assert Answer("~~~~\nx", 1, 1).whole == "~~~~\nx\n~~~~"
    assert Answer("```\nx", 1, 1, cut=True).whole == "```\nx"


def test_the_same_code_counts_once_but_the_same_design_is_found_again(registry: Registry) -> None:
    other = DesignContext(2, 5, number=1)
    (first,) = made(registry, Script([fenced(TRAIN)]))
    (again,) = made(registry, Script([fenced(TRAIN)]))
    (copy,) = made(registry, Script([fenced(TRAIN)]), other, repairs=0)
    assert first.env_id == again.env_id == "spade/NightTrain-v0"
    assert copy.attempts[0].findings[0].rule == "novelty.duplicate"
    assert len(list(registry.entries())) == 1


def test_a_plan_is_asked_first_and_its_tokens_count(registry: Registry) -> None:
    script = Script(["World: a train.", fenced(TRAIN)])
    designer = FreeDesigner(brief=True, examples=examples_of([GLACIER]), planned=True)
    (design,) = Desk(script, registry).make(designer, [CONTEXT])
    assert design.env_id
    assert "World: a train." in script.asked[1].messages[-1]["content"]
    assert (design.attempts[0].prompt_tokens, design.attempts[0].completion_tokens) == (200, 20)


def test_a_variant_is_on_record_as_one(registry: Registry) -> None:
    assert admit(TRAIN, registry).id
    known = {"spade/NightTrain-v0": TRAIN}
    reset = TRAIN.partition("    def reset")[2].partition("    def goal")[0].replace("0, 11", "0, 21")
    script = Script([fenced(f"    def reset{reset}")])
    (design,) = Desk(script, registry, Sampling(repairs=0)).make(EditDesigner(known=lambda: known), [CONTEXT])
    assert stages(design) == ["admitted"]
    kept = design.as_dict()["attempts"][0]
    assert kept["variant"].startswith("spade/NightTrain-v0: ")


def test_an_edit_is_a_variant_of_its_parent(registry: Registry) -> None:
    registry.add(TRAIN, {})
    known = {"spade/NightTrain-v0": TRAIN}
    change = "def goal_reached(self, answer):\n    return str(answer) == str(self._answer + 1)"
    expert = (
        'def expert_action(self):\n    return {"name": "finish", "arguments": {"answer": self._answer + 1}}'
    )
    script = Script([fenced(f"{change}\n\n{expert}")])
    (design,) = Desk(script, registry, Sampling(repairs=0)).make(EditDesigner(known=lambda: known), [CONTEXT])
    assert design.parents == ("spade/NightTrain-v0",)
    attempt = design.attempts[0]
    assert attempt.draft is not None
    assert '# parent = "spade/NightTrain-v0"' in attempt.draft.source
    # Other answers to the same questions: what random calls meet is the same, so it is no variant.
    assert [finding.rule for finding in attempt.findings] == ["novelty.near-duplicate"]
