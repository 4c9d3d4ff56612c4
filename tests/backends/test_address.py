"""One line names a backend; a wrong one is told what is wrong, and no password is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest

from spade_envs.errors import UsageError
from spade_train.backends import Price, open_backend, parse_address
from spade_train.backends.address import FORMS, Address


@pytest.mark.parametrize(
    ("text", "kind", "place", "model"),
    [
        ("openai:http://127.0.0.1:8000/v1#qwen", "openai", "http://127.0.0.1:8000/v1", "qwen"),
        (
            "openai:https://api.openai.com/v1#org/name:free",
            "openai",
            "https://api.openai.com/v1",
            "org/name:free",
        ),
        ("folder:replies", "folder", "replies", ""),
        ("folder:/a b/c#gpt", "folder", "/a b/c", "gpt"),
        ("gguf:/x/y.gguf", "gguf", "/x/y.gguf", ""),
        ("transformers:Qwen/Qwen3-4B", "transformers", "Qwen/Qwen3-4B", ""),
        ("vllm:Qwen/Qwen3-4B", "vllm", "Qwen/Qwen3-4B", ""),
    ],
)
def test_an_address_is_read_and_written_alike(text: str, kind: str, place: str, model: str) -> None:
    assert parse_address(text) == Address(kind, place, model)
    assert str(parse_address(text)) == text


def test_every_form_is_an_address() -> None:
    assert [parse_address(form).kind for form in FORMS.values()] == list(FORMS)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("opneai:http://127.0.0.1/v1#m", "no backend of the kind 'opneai'. Did you mean openai"),
        ("OpenAI:http://127.0.0.1/v1#m", "Did you mean openai"),
        ("qwen", "no backend of the kind 'qwen'. Forms: openai:"),
        ("", "no backend of the kind ''"),
        ("http://127.0.0.1:8000/v1#m", "write openai: before it"),
        ("openai:http://127.0.0.1:8000/v1", "names no model. Write it as"),
        ("openai:127.0.0.1:8000#m", "wants a web address"),
        ("openai:http://#m", "wants a web address"),
        ("openai:http://[::1/v1#m", "no readable web address"),
        ("openai:http://h:port/v1#m", "no readable web address"),
        ("folder:", "names no place. Write it as folder:DIR"),
        ("gguf", "names no place"),
        ("vllm:a#b", "Leave #b out"),
    ],
)
def test_a_wrong_address_is_told(text: str, found: str) -> None:
    with pytest.raises(UsageError, match=found.replace("[", r"\[")):
        parse_address(text)


@pytest.mark.parametrize(
    "place", ["user:hunter2@127.0.0.1/v1", "127.0.0.1/v1?api_key=hunter2", "hunter2@h/v1"]
)
@pytest.mark.parametrize("prefix", ["openai:http://", "http://"])
def test_a_password_in_an_address_is_refused_and_not_repeated(prefix: str, place: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_address(f"{prefix}{place}#m")
    assert "hunter2" not in str(refused.value)


def test_what_is_not_there_is_told_when_the_backend_is_opened(tmp_path: Path) -> None:
    (tmp_path / "no.gguf").write_text("<html>")
    for address, found in (
        (f"gguf:{tmp_path}/no.gguf", "is no GGUF file"),
        (f"gguf:{tmp_path}/nothing.gguf", "cannot be read: No such file"),
        (f"transformers:{tmp_path}/nothing", "there is no such folder"),
        (f"transformers:{tmp_path}", "config.json and tokenizer_config.json missing"),
    ):
        with pytest.raises(UsageError, match=found):
            open_backend(address)


def test_a_name_says_kind_and_model_and_no_address() -> None:
    assert open_backend("openai:http://127.0.0.1:1/v1#qwen").name == "openai:qwen"
    assert open_backend("folder:somewhere#gpt").name == "folder:gpt"


def test_a_price_is_two_numbers() -> None:
    assert Price.of([]) is None
    price = Price.of([0.5, 2.0])
    assert price is not None
    assert price.cost(1_000_000, 500_000) == 1.5
    for wrong in ([1.0], [1.0, 2.0, 3.0], [1.0, -1.0], [float("nan"), 1.0], [float("inf"), 1.0]):
        with pytest.raises(UsageError, match="give two prices"):
            Price.of(wrong)
