"""Small versions for tests of export and import; their code is never run."""

from __future__ import annotations

from pathlib import Path

from spade_envs.contract import Header, code_sha256, file_sha256, parse_header
from spade_envs.contract.ids import EnvId
from spade_envs.registry import Registry
from spade_envs.registry.versions import Entry

_SOURCE = """# /// spade
# id = "{env_id}"
# title = "A design"
# summary = "For tests of export and import; never run."
# domain = "games"
# skills = ["testing", "waiting"]
# origin = "generated"
{parent}# generation_round = 3
# max_episode_steps = 5
# license = "{license}"
# contract = 1
# ///
ANSWER = {answer!r}
"""
FORM = {
    "name": "form",
    "passed": True,
    "saw": {"rules": "Wait \N{EM DASH} it\N{RIGHT SINGLE QUOTATION MARK}s short."},
    "findings": [],
}
REPORT = {"admitted": True, "gates": [FORM]}


def source(env_id: str, answer: object = 0, parent: str | None = None, license: str = "MIT") -> str:
    line = f'# parent = "{parent}"\n' if parent else ""
    return _SOURCE.format(env_id=env_id, answer=answer, parent=line, license=license)


def entry(text: str) -> Entry:
    """A version as a registry gives it, without the registry."""
    header = parse_header(text)
    assert isinstance(header, Header)
    path = Path("/nowhere/registry") / header.id.name / f"v{header.id.version}.py"
    hashes = {"file_sha256": file_sha256(text), "code_sha256": code_sha256(text)}
    return Entry(path, header, text, {**REPORT, "id": str(header.id), **hashes}, hashes["file_sha256"])


def family(root: Path) -> Registry:
    """A line of four: the parents' names sort behind the children's."""
    registry = Registry(root)
    registry.add(source("spade/Root-v0", "root"), REPORT)
    registry.add(source("spade/Middle-v0", "middle", "spade/Root-v0"), REPORT)
    registry.add(source("spade/Leaf-v0", "leaf", "spade/Middle-v0"), REPORT)
    registry.add(source("spade/Leaf-v0", "second leaf", "spade/Elsewhere-v4"), REPORT)
    return registry


def ids(registry: Registry) -> list[str]:
    return [str(env_id) for env_id in registry.ids()]


def held(registry: Registry, text: str) -> tuple[str, dict[str, object]]:
    """Source and report of a version."""
    env_id = EnvId.parse(text)
    assert isinstance(env_id, EnvId)
    return registry.source(env_id), registry.report(env_id)
