"""The stack of registries, ids as people type them, and Gymnasium's own registry."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import pytest
from gymnasium.envs.registration import _find_spec
from test_store import source

from spade_envs.errors import RegistryError, UnknownEnvironment
from spade_envs.registry import Registry, add_registry, find, registries, stack
from spade_envs.registry.gym_registration import LiveSpecs


@pytest.fixture(autouse=True)
def own_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user registry of this test's own; nothing stays in Gymnasium's."""
    monkeypatch.setenv("SPADE_REGISTRY", str(tmp_path / "user"))
    monkeypatch.setenv(stack.ADDED, "")
    monkeypatch.setattr(gymnasium.envs.registration, "registry", registry := LiveSpecs(gymnasium.registry))
    monkeypatch.setattr(gymnasium, "registry", registry)
    return tmp_path


def test_the_stack_is_shipped_then_the_users_then_added(own_stack: Path) -> None:
    shipped, user = registries()
    assert shipped.read_only
    assert user.root == own_stack / "user"
    added = add_registry(own_stack / "added")
    assert registries()[2] is added is add_registry(str(own_stack / "added"))


def test_added_ids_are_known_to_gymnasium_at_once(own_stack: Path) -> None:
    Registry(own_stack / "added").add(source("StackProbe"), {})
    add_registry(own_stack / "added")
    spec = gymnasium.spec("spade/StackProbe-v0")
    assert spec.max_episode_steps == 5
    assert spec.kwargs["path"].endswith("StackProbe/v0.py")


def test_two_files_under_one_id_are_an_error_that_names_both(own_stack: Path) -> None:
    for root, answer in (("a", 0), ("same", 0), ("b", 1)):
        Registry(own_stack / root).add(source("StackProbe", answer=answer), {})
    for root in ("a", "same"):
        add_registry(own_stack / root)
    assert find("spade/StackProbe-v0")[0].root == own_stack / "same"
    add_registry(own_stack / "b")
    for ask in (gymnasium.spec, find):
        with pytest.raises(
            RegistryError, match=r"b/StackProbe/v0.py and, another file, .*same/StackProbe/v0.py"
        ):
            ask("spade/StackProbe-v0")


def test_what_another_process_adds_is_found_and_the_list_stays_short(own_stack: Path) -> None:
    """Other folders stand for what other processes write: nothing here was told of them."""
    listed = len(gymnasium.registry)
    other = Registry(own_stack / "user")
    with pytest.raises(gymnasium.error.NameNotFound):
        gymnasium.spec("spade/StackProbe-v0")
    for k in range(3):
        other.add(source("StackProbe", answer=k), {})
    assert "spade/StackProbe-v1" in gymnasium.registry
    assert gymnasium.registry["spade/StackProbe-v1"].max_episode_steps == 5
    with warnings.catch_warnings():  # no "out of date": it was asked for on purpose
        warnings.simplefilter("error")
        assert gymnasium.spec("spade/StackProbe-v0").kwargs["path"].endswith("v0.py")
    assert len(gymnasium.registry) == listed
    with pytest.raises(KeyError):
        gymnasium.registry["spade/StackProbe-v9"]
    gymnasium.registry.get("spade/StackProbe")
    with pytest.raises(gymnasium.error.VersionNotFound):
        gymnasium.spec("spade/StackProbe-v9")


def test_without_a_version_gymnasium_finds_the_newest_also_when_it_came_later(own_stack: Path) -> None:
    user = Registry(own_stack / "user")
    for k in range(2):
        user.add(source("StackProbe", answer=k), {})
        with pytest.warns(UserWarning, match=f"latest versioned environment `spade/StackProbe-v{k}`"):
            assert _find_spec("spade/StackProbe").id == f"spade/StackProbe-v{k}"


def test_added_folders_are_known_to_processes_that_this_one_starts(own_stack: Path) -> None:
    Registry(own_stack / "added").add(source("StackProbe"), {})
    add_registry(own_stack / "added")
    script = "import gymnasium, spade_envs; print(gymnasium.spec('spade/StackProbe-v0').kwargs['path'])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(own_stack / "added" / "StackProbe" / "v0.py")


@pytest.mark.parametrize(
    "typed", ["spade/stack-probe-v1", "stackprobe", "spade/Stack_Probe-v1", "spade/StackPrbe-v1"]
)
def test_an_unknown_id_names_the_near_matches(own_stack: Path, typed: str) -> None:
    user = Registry(own_stack / "user")
    for k in range(2):
        user.add(source("StackProbe", answer=k), {})
    with pytest.raises(UnknownEnvironment, match="did you mean spade/StackProbe-v1"):
        find(typed)
    assert str(find("spade/StackProbe")[1]) == "spade/StackProbe-v1"
    assert str(find("spade/StackProbe-v0")[1]) == "spade/StackProbe-v0"
    assert [str(find(short)[1]) for short in ("StackProbe", "StackProbe-v0")] == [
        "spade/StackProbe-v1",
        "spade/StackProbe-v0",
    ]


def test_an_id_like_none_says_where_to_look() -> None:
    with pytest.raises(UnknownEnvironment, match="spade-envs list"):
        find("qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq")


def test_only_near_names_are_suggested_and_other_versions_first(own_stack: Path) -> None:
    user = Registry(own_stack / "user")
    for name, answers in (("StackProbe", 2), ("StackProbes", 1), ("RackProbe", 1)):
        for k in range(answers):
            user.add(source(name, answer=k), {})
    with pytest.raises(
        UnknownEnvironment, match=r"did you mean spade/StackProbe-v1 or spade/StackProbe-v0 or "
    ):
        find("spade/StackProbe-v7")
    for text in ("spade/Foo-v0", "spade/Stone-v0", "spade/", "spade/-v0", "v0"):
        with pytest.raises(UnknownEnvironment, match="`spade-envs list` shows what there is"):
            find(text)
