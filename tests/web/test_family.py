"""The page of a family: a graph both ways that is bounded, the same as a list, links that can be followed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import plainly
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from servers import serving
from test_accessible import COLOURS, EVERYTHING, RUN
from watched import Watched

from spade_envs.registry import Registry
from spade_envs.registry.lineage import Lineage, Member
from spade_envs.web import WebSettings
from spade_envs.web.environment import kin
from spade_envs.web.environment.family import BESIDE, LISTED, Family
from spade_envs.web.environment.subject import Head

if TYPE_CHECKING:
    from playwright.sync_api import Browser

EVIL = "<script>window.pwned=1</script>\u202e & 'quoted'"
SOURCE = """# /// spade
# id = "spade/{name}-v0"
# title = {title!r}
# summary = "For tests of families; never run."
{parent}# domain = "games"
# skills = ["testing"]
# origin = "seed"
# max_episode_steps = 5
# license = "Apache-2.0"
# contract = 1
# ///
ANSWER = {answer}
"""


class Families:
    """A registry in which families are made."""

    def __init__(self, root: Path) -> None:
        self.registry, self._born = Registry(root), 0

    def born(self, name: str, *parents: str, title: str = "") -> str:
        self._born += 1
        parent = f'# parent = "{parents[0]}"\n' if parents else ""
        text = SOURCE.format(name=name, title=title or name, parent=parent, answer=self._born)
        made = {"provenance": {"way": "compose", "parents": list(parents)}} if len(parents) > 1 else {}
        return str(self.registry.add(text, made))


@pytest.fixture(scope="module")
def families(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a site with families: a usual one, a large one, a circle, and one that is hostile."""
    made = Families(tmp_path_factory.mktemp("families") / "registry")
    first = made.born("First")
    second = made.born("First", first)
    other = made.born(
        "OtherFamilyWithALongName" * 2, title="A title of some length that does not fit into its box"
    )
    middle = made.born("Middle", second, other)
    children = [made.born(f"Child{number}", middle) for number in range(3)]
    made.born("Grandchild", children[0], children[2])
    made.born("Grandchild", children[1], "spade/Lost-v7")
    made.born("Alone")
    line = made.born("Line", "spade/Lost-v3")
    for _ in range(12):
        line = made.born("Line", line)
    for number in range(20):
        few = made.born(f"Few{number:02}", line)
        for generation in range(3 if number < kin.BESIDE else 0):
            few = made.born(f"Many{number:02}g{generation}", few)
    for one, two in (("One", "Three"), ("Two", "One"), ("Three", "Two")):
        made.born(one, f"spade/{two}-v0", title="In a circle")
    with serving(WebSettings(stack=[made.registry])) as address:
        yield address


def drawn(page: str) -> str:
    found = re.search(r'<svg xmlns="[^"]*" class="graph".*?</svg>', page, re.DOTALL)
    assert found
    return found[0]


def test_the_graph_and_the_list_say_the_same(families: str) -> None:
    page = plainly.get(f"{families}/environments/Middle-v0/lineage").text
    graph, listed = drawn(page), page.partition('class="tree"')[2]
    links = set(re.findall(r'href="(/environments/[^"]*)"', graph))
    assert links == set(re.findall(r'href="(/environments/[^"]*/lineage)"', listed))
    assert len(links) == 8
    assert "Lost-v7" in graph
    assert "no registry holds it" in graph
    assert graph.count('class="box') == 10
    assert graph.count('class="edge') == 10


def test_a_large_family_is_bounded_and_says_so(families: str) -> None:
    page = plainly.get(f"{families}/environments/Line-v12/lineage").text
    graph = drawn(page)
    assert graph.count('class="box') == kin.MOST
    assert "Line-v10" in graph
    assert "11 more above" in graph  # with the one that is lost
    assert "10 more below" in graph
    assert len(page) < 150_000


def test_whoever_is_alone_is_told_so(families: str) -> None:
    page = plainly.get(f"{families}/environments/Alone-v0/lineage").text
    assert "Nothing is on record that it was made from" in page
    assert 'class="graph"' not in page


def test_a_circle_is_drawn_once(families: str) -> None:
    page = plainly.get(f"{families}/environments/One-v0/lineage").text
    assert "go in a circle" in page
    assert drawn(page).count('class="box') == 3
    assert drawn(page).count('class="edge') == 3


@pytest.mark.parametrize(("scheme", "rules"), [("light", EVERYTHING), ("dark", COLOURS)])
def test_in_a_browser(
    families: str, browser: Browser, axe: str, scheme: Literal["light", "dark"], rules: dict[str, Any]
) -> None:
    with browser.new_context(base_url=families, color_scheme=scheme, bypass_csp=True) as context:
        context.add_init_script(axe)
        page = context.new_page()
        watched = Watched(page, families)
        for name in ("Middle-v0", "One-v0") if rules is EVERYTHING else ("Middle-v0",):
            page.goto(f"/environments/{name}/lineage")
            assert page.evaluate(RUN, rules) == [], name
        page.set_viewport_size({"width": 390, "height": 800})
        page.goto("/environments/Middle-v0/lineage")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator(".graph a", has_text="Child0").focus()
        page.keyboard.press("Enter")
        page.wait_for_url("**/environments/Child0-v0/lineage")
        assert watched.complaints == watched.outside == []


def member(name: str, *children: Member) -> Member:
    return Member(f"spade/{name}-v0", EVIL, "active", True, children)


names = st.sampled_from([f"E{number}" for number in range(80)])
trees = st.recursive(
    st.builds(member, names),
    lambda below: st.builds(member, names, *[below] * 3) | st.builds(member, names, below),
)


@st.composite
def lineages(draw: st.DrawFn) -> Lineage:
    above = tuple(member(name) for name in draw(st.lists(names, max_size=9)))
    tree = draw(trees)
    wide = draw(st.integers(0, 60))
    joins = draw(st.lists(st.tuples(names.map("spade/{}-v0".format), names.map(member)), max_size=9))
    whole = Member(
        tree.id, *(EVIL, "active", True), (*tree.children, *(member(f"W{k}") for k in range(wide)))
    )
    return Lineage(above, whole, draw(st.booleans()), tuple(joins))


def pairs(family: Lineage) -> set[tuple[str, str]]:
    """Every parent with its child, said once more and more plainly."""
    found = {(parent.id, child) for child, parent in family.joins}
    line = [*family.ancestors, family.member]
    found |= {(line[k].id, line[k + 1].id) for k in range(len(line) - 1)}

    def below(one: Member) -> None:
        for child in one.children:
            found.add((one.id, child.id))
            below(child)

    below(family.member)
    return found


@examples(max_examples=40)
@given(lineages())
def test_any_family_is_bounded_and_every_edge_has_both_ends(family: Lineage) -> None:
    found = kin.kin(family)
    assert found.columns[family.member.id] == 0
    assert found.columns.keys() == found.members.keys()
    assert 1 <= len(found.columns) <= kin.MOST
    joined = {one for pair in found.edges for one in pair}
    assert joined >= found.columns.keys() - {family.member.id}, "somebody stands alone"
    assert found.edges == {pair for pair in pairs(family) if found.columns.keys() >= set(pair)}
    text = kin.picture(family)
    assert text.count('class="box') == len(found.columns)
    assert text.count('class="edge') == len(found.edges)
    assert "<script" not in text
    assert "\u202e" not in text


def test_what_is_near_is_drawn_first() -> None:
    far = Member("spade/Far-v0", "far", "active", True, tuple(member(f"F{k}") for k in range(50)))
    family = Lineage(
        (member("A"), member("B")), Member("spade/X-v0", "x", "active", True, (far, member("Y")))
    )
    found = kin.kin(family)
    assert {"spade/A-v0", "spade/B-v0", "spade/Y-v0", "spade/Far-v0"} < found.columns.keys()
    assert found.notes == {"spade/Far-v0": f"{50 - kin.BESIDE} more below"}


def test_the_list_is_bounded_and_says_what_it_leaves_out() -> None:
    def born(name: str, wide: int, deep: int) -> Member:
        return member(name, *(born(f"{name}x{k}", wide, deep - 1) for k in range(wide if deep else 0)))

    head = Head("spade/X-v0", "X-v0", "x", "x", 0, 0, None, None, None)
    page = Family(head, Lineage((), born("X", 50, 2)))
    assert page.tree.hidden == 50 - BESIDE
    listed = [len(branch.branches) for branch in page.tree.branches]
    assert sum(listed) + BESIDE == LISTED
    assert listed == sorted(listed, reverse=True), "the nearest come first"
    assert sum(branch.hidden for branch in page.tree.branches) == BESIDE * 50 - sum(listed)


def test_nobody_is_drawn_without_whom_they_hang_on() -> None:
    late = Member("spade/Z-v0", "z", "active", True, (member("BelowZ"),))
    children = (*(member(f"W{k}") for k in range(kin.BESIDE)), late)
    found = kin.kin(Lineage((), Member("spade/X-v0", "x", "active", True, children)))
    assert len(found.columns) == kin.BESIDE + 1
    assert found.notes == {"spade/X-v0": "1 more below", "spade/Z-v0": "1 more below"}


def test_notes_are_true(families: str) -> None:
    told: Any = plainly.get(f"{families}/environments/Line-v12/lineage?format=json").json()
    assert len(told["ancestors"]) == 13
    assert len(told["children"]) == 20
