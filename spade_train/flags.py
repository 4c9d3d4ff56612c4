"""From the command line's words to a preset and flags. Light: ``--help`` answers before torch is imported."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from spade_envs.errors import UsageError
from spade_train.config import SelfPlayConfig
from spade_train.presets import DEFAULT, preset_names, read_preset

_HELP = """\
usage: spade-train [--config PRESET|FILE.yaml] [--SETTING VALUE ...]
       spade-train list | show RUN | resume RUN | rollback RUN ROUND | eval MODEL | data RUN     (each has --help)

One language model designs environments, plays them, and learns from both.

examples:
  spade-train                                     the preset "demo": three rounds on two CPU cores
  spade-train --rounds 10 --learning_rate 5e-6    the same preset, other settings
  spade-train --config my.yaml --use_peft --lora_r 16 --report_to tensorboard
  spade-train --config my.yaml --model_name_or_path ORG/NAME --designer free --max_completion_length 3000
  spade-train --config single_gpu_4b --dry_run    what would be done and how much memory it takes; trains nothing

presets: {presets}
A setting is a flag or a key of the YAML file; flags win. The trainer's own:

{own}

Besides, every setting of TRL's GRPOConfig and ModelConfig, for example
--num_generations (G, the rows of a block), --learning_rate, --temperature, --seed, --use_peft.
spade-train --help_all lists them.
"""


@dataclass(frozen=True)
class Words:
    """What the command line says: the preset's file and keys, and the flags, which win.

    Attributes:
        places: key of the preset -> the file that it stands in, where that is another one.
    """

    path: Path
    preset: dict[str, Any]
    flags: tuple[str, ...]
    places: Mapping[str, Path] = field(default_factory=dict)

    def names(self) -> list[tuple[str, str]]:
        """Return ``(where it is written, setting's name)`` for each setting."""
        named = [(f"{self.places.get(key, self.path)}: ", key) for key in self.preset]
        words = [word[2:].partition("=")[0] for word in self.flags if word.startswith("--")]
        return named + [("--", word.replace("-", "_")) for word in words]


def help_text() -> str:
    """Return what ``--help`` prints."""
    defaults = SelfPlayConfig()
    own = [
        f"  --{item.name:<16} {item.metadata['help']} {_default(getattr(defaults, item.name))}"
        for item in fields(SelfPlayConfig)
    ]
    return _HELP.format(presets=", ".join(preset_names()), own="\n".join(own))


def read_words(words: Sequence[str]) -> Words:
    """Part ``--config`` from the other flags and read its file.

    Raises:
        UsageError: there is no such file or preset, it holds no settings, or it wants one that nobody has said.
    """
    name, flags, queue = DEFAULT, [], list(words)
    while queue:
        word = queue.pop(0)
        if word == "--config":
            if not queue:
                raise UsageError("--config wants the name of a preset or of a YAML file.")
            name = queue.pop(0)
        elif word.startswith("--config="):
            name = word.partition("=")[2]
        else:
            flags.append(word)
    preset = read_preset(name)
    said = Words(preset.path, preset.settings, tuple(flags), preset.places)
    _check_wants(said, preset.wants)
    return said


def _check_wants(said: Words, wants: Mapping[str, Path]) -> None:
    named = {name for _, name in said.names()}
    for name, path in wants.items():
        if name not in named and "help_all" not in named:
            raise UsageError(
                f"{path.stem} wants {name}, which nobody has said. Add --{name} ORG/NAME or a folder."
            )


def check_names(words: Words, known: Collection[str]) -> None:
    """Raise :class:`UsageError` for the first setting that does not exist; name the nearest one."""
    for place, name in words.names():
        if name not in known and name.removeprefix("no_") not in known:
            near = difflib.get_close_matches(name, known, n=1)
            mend = f"Did you mean {near[0]}?" if near else "spade-train --help_all lists all of them."
            raise UsageError(f"{place}{name}: there is no such setting. {mend}")


def _default(value: object) -> str:
    return "" if value == [] else f"[{value}]"
