"""Files of settings. One may extend another: ``extends: cpu`` takes over what it does not say itself.

``wants: designer_model`` names a setting that has no value there and must be said besides.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from spade_envs.errors import UsageError

FOLDER = Path(__file__).parent / "configs"
DEFAULT = "demo"
EXTENDS = "extends"
WANTS = "wants"


@dataclass(frozen=True)
class Preset:
    """The settings of one file and of those that it extends.

    Attributes:
        path: the file.
        settings: name -> value.
        places: name -> the file that says so.
        wants: settings that must be said besides -> the file that wants them.
    """

    path: Path
    settings: dict[str, Any]
    places: dict[str, Path]
    wants: dict[str, Path] = field(default_factory=dict)


def preset_names() -> list[str]:
    """Return the names of the shipped presets."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def read_preset(name: str) -> Preset:
    """Read a shipped preset or a YAML file, with what it extends.

    Raises:
        UsageError: there is no such file, it holds no settings, or it extends itself.
    """
    return _read(_find(name, Path(), "--config "), ())


def _read(path: Path, below: tuple[Path, ...]) -> Preset:
    if path.resolve() in [one.resolve() for one in below]:
        chain = " -> ".join(one.name for one in (*below, path))
        raise UsageError(f"{path}: `{EXTENDS}` goes in a circle: {chain}. Take one of them out.")
    settings = _load(path)
    base, wanted = settings.pop(EXTENDS, None), settings.pop(WANTS, None)
    places = dict.fromkeys(settings, path)
    wants = {} if wanted is None else {str(wanted): path}
    if base is None:
        return Preset(path, settings, places, wants)
    if not isinstance(base, str):
        raise UsageError(f"{path}: {EXTENDS} is {base!r}; it names one preset or one file.")
    under = _read(_find(base, path.parent, f"{path}: {EXTENDS}: "), (*below, path))
    return Preset(path, under.settings | settings, under.places | places, under.wants | wants)


def _find(name: str, folder: Path, place: str) -> Path:
    for path in (folder / name, FOLDER / f"{name}.yaml"):
        if path.is_file():
            return path
    near = difflib.get_close_matches(name, preset_names(), n=1)
    mend = f"Did you mean {near[0]}? " if near else ""
    presets = ", ".join(preset_names())
    raise UsageError(f"{place}{name}: there is no such file, and no such preset. {mend}Presets: {presets}.")


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types here
    """Refuses a key that stands twice, of which YAML would silently keep the last."""

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:
        """Return the mapping."""
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                raise yaml.YAMLError(f"{key} stands there twice")
        return super().construct_mapping(node, deep)


def _load(path: Path) -> dict[str, Any]:
    try:
        settings = yaml.load(path.read_text("utf-8"), _Loader)
    except OSError as problem:
        raise UsageError(f"{path} cannot be read: {problem.strerror}.") from problem
    except (yaml.YAMLError, UnicodeDecodeError, TypeError) as problem:  # a list as a key is a TypeError
        raise UsageError(f"{path} is not YAML: {problem}") from problem
    if not isinstance(settings, dict):
        raise UsageError(f"{path} holds no settings. Write lines such as `rounds: 3`.")
    return {str(key): value for key, value in settings.items()}
