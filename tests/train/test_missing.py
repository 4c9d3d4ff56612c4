"""A curriculum that cannot be played says which environment, why, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from spade_envs import EnvId, Registry
from spade_envs.errors import UsageError
from spade_envs.registry import keep_refused
from spade_train import parts
from spade_train.config import SelfPlayConfig
from spade_train.missing import why_missing


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(tmp_path / "registry")


def test_a_refused_design_says_why(registry: Registry) -> None:
    finding = {"found": "random play wins", "rule": "task.random", "severity": "error"}
    gates = [{"name": "task", "passed": False, "findings": [finding]}]
    keep_refused(registry, "source", {"id": "spade/Weak-v0", "code_sha256": "a" * 64, "gates": gates})
    told = why_missing("spade/Weak-v0", [], [registry])
    assert "was refused: random play wins [task.random]" in told
    assert "spade-envs admit" in told


def test_a_damaged_version_is_named(registry: Registry) -> None:
    path = registry.root / "Broken" / "v0.py"
    path.parent.mkdir(parents=True)
    path.write_text("half a fi")
    assert f"{path} is there, but damaged" in why_missing("spade/Broken-v0", [], [registry])


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("spade/LampRwo-v0", "Did you mean spade/LampRow-v0?"),
        ("LampRow", "LampRow is no id"),
        ("spade/LampRow-v7", "there is no environment spade/LampRow-v7. Did you mean spade/LampRow-v0?"),
    ],
)
def test_a_misspelt_id_names_the_nearest(name: str, found: str, registry: Registry) -> None:
    assert found in why_missing(name, [EnvId("LampRow", 0)], [registry])


def test_an_empty_registry_is_named(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "registries", lambda: (registry,))
    with pytest.raises(UsageError, match=f"no seed environment is registered in {registry.root}"):
        parts.find_pool(SelfPlayConfig())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (None, "it is not there"),
        ("{", "not one document. mine.jsonl:1: it is no JSON"),
        ("", "not one document. mine.jsonl: it is empty"),
        ('{"text": "Hi."}', "not one document. What was read is left out: 1 too short"),
    ],
)
def test_a_corpus_without_documents_is_named(text: str | None, found: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(UsageError, match=f"corpus: .*{found}"):
        parts.make_corpus(SelfPlayConfig(corpus=[str(path)]))


def test_a_broken_part_of_a_corpus_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "broken.jsonl").write_text("{")
    (tmp_path / "binary.txt").write_bytes(b"\0")
    corpus = parts.make_corpus(SelfPlayConfig(corpus=["shipped", str(tmp_path)]))
    assert len(corpus) == 24
    assert len(corpus.unread) == 2
    assert len(parts.make_corpus(SelfPlayConfig(use_corpus=False))) == 0
