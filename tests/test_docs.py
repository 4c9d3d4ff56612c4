"""The documentation is true: links lead somewhere, Python blocks run, the project speaks of itself alone."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from spade_envs import seeds_folder

ROOT = Path(__file__).parents[1]
PAGES = sorted(path for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")) if path.name != "LICENSE")
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
ENVIRONMENTS = ROOT / "docs" / "environments"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        if target.startswith(("http://", "https://", "mailto:")):
            continue
        path, _, anchor = target.partition("#")
        where = (page.parent / path).resolve() if path else page
        assert where.exists(), f"{page.name} links to {target}, which is not there"
        if anchor and where.suffix == ".md":
            assert anchor in anchors(where), f"{page.name} links to {target}, whose heading is not there"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_python_blocks_run(page: Path, tmp_path: Path) -> None:
    """All blocks of a page run as one program, in order, in an empty folder with warnings as errors."""
    blocks = BLOCK.findall(page.read_text())
    if not blocks:
        pytest.skip("no Python on this page")
    program = tmp_path / "page.py"
    program.write_text("\n".join(blocks))
    done = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def script(name: str) -> Any:
    """Import a script of the documentation."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def built() -> dict[str, str]:
    """The pages of the environments, as they are built from what stands in the seeds' folder now."""
    return script("build_environments").pages()


def test_the_tables_of_settings_are_up_to_date() -> None:
    settings = script("build_settings")
    assert settings.PAGE.read_text() == settings.page(), "run `make docs`"


def test_the_pages_of_the_environments_are_up_to_date(built: dict[str, str]) -> None:
    found = {path.name: path.read_text() for path in ENVIRONMENTS.glob("*.md")}
    stale = sorted(name for name in {*found, *built} if found.get(name) != built.get(name))
    assert not stale, f"run `make docs`: {', '.join(stale)} in docs/environments"


def test_nothing_but_a_name_is_told_of_what_is_held_out(built: dict[str, str]) -> None:
    for path in seeds_folder().glob("heldout/*.py"):
        source = path.read_text()
        summary = re.search(r'^# summary = "(.+)"', source, re.MULTILINE)
        rules = re.search(r'"""(.+?)$', source, re.MULTILINE)
        assert summary is not None
        assert rules is not None
        assert f"{path.stem}.md" not in built
        for page in PAGES:
            assert summary[1] not in page.read_text(), page
            assert rules[1] not in page.read_text(), page


def test_each_environment_is_made_as_its_page_says(tmp_path: Path) -> None:
    """All pages in one program: an interpreter for each would take a minute."""
    pages = [path for path in ENVIRONMENTS.glob("*.md") if path.name != "README.md"]
    blocks = [re.findall(r"^```py\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE) for page in pages]
    assert all(len(found) == 1 for found in blocks)
    program = tmp_path / "pages.py"
    program.write_text("\n".join(f"{found[0]}env.close()" for found in blocks))
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stderr
