"""The stack of registries, ids as people type them, and Gymnasium's own registry."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import pytest
from test_store import source

from spade_envs.errors import RegistryError, UnknownEnvironment
from spade_envs.registry import Registry, RegistryWarning, add_registry, find, registries, stack
from spade_envs.registry.gym_registration import register, register_all


@pytest.fixture(autouse=True)
def own_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user registry of this test's own; nothing stays in Gymnasium's."""
    monkeypatch.setenv("SPADE_REGISTRY", str(tmp_path / "user"))
    monkeypatch.setattr(stack, "_added", [])
    monkeypatch.setattr(gymnasium.envs.registration, "registry", registry := dict(gymnasium.registry))
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


def test_the_same_file_is_silent_and_another_is_refused(own_stack: Path) -> None:
    first, second = Registry(own_stack / "a"), Registry(own_stack / "b")
    entry = first.entry(first.add(source("StackProbe"), {}))
    register(entry)
    register(entry)
    other = second.entry(second.add(source("StackProbe", answer=1), {}))
    with pytest.raises(RegistryError, match="registered already"):
        register(other)
    with pytest.warns(RegistryWarning, match="registered already"):
        register_all(second)
    assert gymnasium.spec("spade/StackProbe-v0").kwargs["path"] == str(entry.path)


@pytest.mark.parametrize(
    "typed", ["spade/stack-probe-v1", "StackProbe-v1", "spade/Stack_Probe-v1", "spade/StackPrbe-v1"]
)
def test_an_unknown_id_names_the_near_matches(own_stack: Path, typed: str) -> None:
    user = Registry(own_stack / "user")
    for k in range(2):
        user.add(source("StackProbe", answer=k), {})
    with pytest.raises(UnknownEnvironment, match="did you mean spade/StackProbe-v1"):
        find(typed)
    assert str(find("spade/StackProbe")[1]) == "spade/StackProbe-v1"
    assert str(find("spade/StackProbe-v0")[1]) == "spade/StackProbe-v0"


def test_an_id_like_none_says_where_to_look() -> None:
    with pytest.raises(UnknownEnvironment, match="spade-envs list"):
        find("qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq")


def test_only_near_names_are_suggested_and_other_versions_first(own_stack: Path) -> None:
    user = Registry(own_stack / "user")
    for name, answers in (("StackProbe", 2), ("StackProbes", 1), ("RackProbe", 1)):
        for k in range(answers):
            user.add(source(name, answer=k), {})
    with pytest.raises(UnknownEnvironment, match=r"did you mean spade/StackProbe-v1 or spade/StackProbe-v0 or "):
        find("spade/StackProbe-v7")
    for text in ("spade/Foo-v0", "spade/Stone-v0", "spade/", "spade/-v0", "v0"):
        with pytest.raises(UnknownEnvironment, match="`spade-envs list` shows what there is"):
            find(text)
