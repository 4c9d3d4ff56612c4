"""A model that cannot be trained is refused before its weights are read."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from transformers import AutoTokenizer

from spade_envs.errors import UsageError
from spade_train.config import SelfPlayConfig
from spade_train.models.model import resolve_model
from spade_train.models.sketch import check_model, read_sketch

Harm = Callable[[Path], object]


def change(file: str, **values: Any) -> Harm:
    def harm(folder: Path) -> None:
        path = folder / file
        data = json.loads(path.read_text()) | values
        path.write_text(json.dumps({key: value for key, value in data.items() if value is not None}))

    return harm


def write(file: str, text: str) -> Harm:
    return lambda folder: (folder / file).write_text(text)


def remove(*files: str) -> Harm:
    return lambda folder: [(folder / file).unlink(missing_ok=True) for file in files]


def truncate(folder: Path) -> None:
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-100])


def index(shard: str) -> Harm:
    def harm(folder: Path) -> None:
        text = json.dumps({"weight_map": {"a": shard}})
        (folder / "model.safetensors.index.json").write_text(text)

    return harm


CONFIG, TOKENIZER = "config.json", "tokenizer_config.json"
BROKEN: dict[str, tuple[Harm, str]] = {
    "no configuration": (remove(CONFIG, TOKENIZER), "config.json and tokenizer_config.json missing"),
    "configuration is no JSON": (write(CONFIG, "{"), "config.json is not JSON"),
    "configuration is a list": (write(CONFIG, "[]"), "config.json holds no JSON object"),
    "configuration is binary": (lambda f: (f / CONFIG).write_bytes(b"\xff"), "config.json cannot be read"),
    "encoder": (
        change(CONFIG, architectures=["BertForMaskedLM"]),
        "says BertForMaskedLM, which is no causal",
    ),
    "vision": (change(CONFIG, architectures=["LlavaForConditionalGeneration"]), "no causal language model"),
    "encoder and decoder": (change(CONFIG, is_encoder_decoder=True), "take a decoder-only model"),
    "other kind": (change(CONFIG, architectures=None, model_type="vit"), "vit is no causal language model"),
    "unheard-of kind": (change(CONFIG, model_type="unheard"), "cannot be read.*unheard"),
    "no template": (remove("chat_template.jinja"), "no chat template"),
    "template that fails": (write("chat_template.jinja", "{{ raise_exception('no system') }}"), "no system"),
    "template without replies": (write("chat_template.jinja", "hello"), "leaves replies out"),
    "no weights": (remove("model.safetensors"), "there are no weights"),
    "cut-off weights": (truncate, "model.safetensors has .* bytes and should have"),
    "weights of another kind": (
        write("model.safetensors", "version https://git-lfs"),
        "no file of safetensors",
    ),
    "index that is no JSON": (write("model.safetensors.index.json", "{"), "index.json is not JSON"),
    "index without a shard": (index("model-1.safetensors"), "names model-1.safetensors, which is missing"),
    "vocabulary too small": (change(CONFIG, vocab_size=100), "49152 tokens, its embeddings 100 rows"),
    "few positions": (change(CONFIG, max_position_embeddings=512), "make 1184 tokens, and .* reads 512"),
    "adapter": (
        lambda f: (
            (f / CONFIG).unlink(),
            (f / "adapter_config.json").write_text('{"base_model_name_or_path": "ORG/BASE"}'),
        ),
        "is an adapter; merge it into ORG/BASE",
    ),
}


def check(folder: Path, told: list[str] | None = None, **settings: Any) -> None:
    say = (told if told is not None else []).append
    check_model(read_sketch(resolve_model(str(folder))), SelfPlayConfig(**settings), 160, say)


@pytest.fixture
def folder(model_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model_folder, tmp_path / "model"))


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_model_is_named(name: str, folder: Path) -> None:
    harm, found = BROKEN[name]
    harm(folder)
    with pytest.raises(UsageError, match=found) as refusal:
        check(folder)
    assert str(folder) in str(refusal.value)


def test_a_whole_model_passes_in_silence(folder: Path) -> None:
    told: list[str] = []
    check(folder, told)
    assert told == []


def test_shards_are_found(folder: Path) -> None:
    index("model.safetensors")(folder)
    check(folder)


def test_more_layers_than_there_are(folder: Path) -> None:
    with pytest.raises(UsageError, match=r"upper_layers is 3, and .* has 2 layers"):
        check(folder, upper_layers=3)


def test_the_end_token_pads_where_no_other_does(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.pad_token = None
    tokenizer.save_pretrained(folder)
    told: list[str] = []
    check(folder, told)
    assert "lacks a pad token; <|im_end|> pads instead" in told[0]


def test_without_an_end_token_no_turn_would_end(folder: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    tokenizer.eos_token = tokenizer.pad_token = None
    tokenizer.save_pretrained(folder)
    with pytest.raises(UsageError, match="no end-of-sequence token"):
        check(folder)
