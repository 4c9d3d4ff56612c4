"""The wheel, as a stranger gets it: built, installed into an empty environment, used."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

STRANGER = """
import gymnasium, spade_envs
env = gymnasium.make("spade/{name}-v0")
observation, info = env.reset(seed=0)
assert env.observation_space.contains(observation)
env.close()
import importlib.util
assert importlib.util.find_spec("torch") is None, "the registry library must not bring torch"
print("made", env.spec.id)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))


def test_wheel_holds_only_the_two_packages_with_their_data(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"spade_envs", "spade_train"}
    published = {path.relative_to(ROOT).as_posix() for path in (ROOT / "registry").rglob("v*.py")}
    assert published, "the shipped registry is empty"
    assert {f"spade_envs/_data/{path}" for path in published} <= set(names)
    assert any(name.startswith("spade_envs/_data/seeds/") and name.endswith(".py") for name in names)
    assert any(name.startswith("spade_envs/_data/seeds/corpus/") for name in names)
    assert any(name.startswith("spade_train/configs/") and name.endswith(".yaml") for name in names)
    assert any(name.startswith("spade_train/designer/templates/") for name in names)
    assert {"spade_envs/py.typed", "spade_train/py.typed"} <= set(names)


@pytest.mark.slow
def test_wheel_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    home = tmp_path / "venv"
    venv.create(home)
    python = home / "bin" / "python"
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SPADE_"))}
    clean["HOME"] = str(tmp_path)
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile"]
    pip += ["--constraint", ROOT / "constraints.txt", wheel]  # our pip: one of its own takes seconds to make
    subprocess.run(pip, check=True, env=clean, cwd=tmp_path)
    name = sorted(path.parent.name for path in (ROOT / "registry").glob("*/v0.py"))[0]
    done = subprocess.run(
        [python, "-W", "error", "-c", STRANGER.format(name=name)],
        capture_output=True,
        text=True,
        env=clean,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"made spade/{name}-v0" in done.stdout
    listed = subprocess.run(
        [home / "bin" / "spade-envs", "list", "--json"],
        capture_output=True,
        text=True,
        env=clean,
        cwd=tmp_path,
        check=False,
    )
    assert listed.returncode == 0, listed.stderr
    assert f"spade/{name}-v0" in listed.stdout
