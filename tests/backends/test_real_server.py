"""Against a real server: llama.cpp's, with the embedded model. Skipped where its package (xllamacpp) is missing."""

from __future__ import annotations

import importlib.util
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from spade_envs.errors import UsageError
from spade_train.backends import Answer, Ask, Failed, Options, Patience, Price
from spade_train.backends.secret import Secret
from spade_train.backends.server import Server
from spade_train.models.model import embedded_gguf

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None, reason="xllamacpp is not installed"
)

KEY = "sk-of-the-test"
PATIENCE = Patience(silence=120.0, whole=120.0, tries=3, first=0.05)
ASK = Ask(({"role": "user", "content": "Write a line about a lighthouse."},), 7, max_tokens=12)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    try:
        model = embedded_gguf()
    except UsageError as missing:
        pytest.skip(str(missing))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script = Path(__file__).with_name("llama_server.py")
    with subprocess.Popen(
        [sys.executable, script, model, str(port), "2", KEY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        assert address, "the server did not start"
        yield f"{address}/v1"
        process.kill()


def server(url: str, key: str = KEY, **options: int) -> Server:
    return Server(url, "any", Options(Price(1.0, 1.0), patience=PATIENCE, **options), Secret(key))


def test_a_reply_comes_with_its_tokens_and_its_price(url: str) -> None:
    (found,) = server(url).answer([ASK])
    assert isinstance(found, Answer)
    assert found.text.strip()
    assert found.cut
    assert found.completion_tokens == 12
    assert found.prompt_tokens > 5
    assert found.cost == pytest.approx((found.prompt_tokens + 12) / 1e6)


def test_seeds_are_honoured(url: str) -> None:
    asks = [ASK, replace(ASK, seed=8), ASK]
    one, other, again = (server(url, parallel=1).answer([ask])[0] for ask in asks)
    assert isinstance(one, Answer)
    assert isinstance(again, Answer)
    assert one.text == again.text != getattr(other, "text", None)


def test_a_schema_holds(url: str) -> None:
    schema = {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]}
    (found,) = server(url).answer([replace(ASK, schema=schema, max_tokens=60)])
    assert isinstance(found, Answer)
    assert json.loads(found.text)["colour"] in ("red", "blue")


def test_several_replies_of_one_request_and_several_requests_at_once(url: str) -> None:
    asks = [replace(ASK, seed=seed) for seed in range(4)]
    apart, together = server(url, parallel=4).answer(asks), server(url, together=2).answer(asks)
    for found in (apart, together):
        assert [type(one) for one in found] == [Answer] * 4
    assert sum(one.prompt_tokens for one in together if isinstance(one, Answer)) > 0


def test_a_wrong_key_and_a_prompt_that_is_too_long_are_reasons(url: str) -> None:
    (refused,) = server(url, key="sk-another").answer([ASK])
    assert isinstance(refused, Failed)
    assert "status 401" in refused.reason
    assert "sk-another" not in refused.reason
    long = {"role": "user", "content": "word " * 5000}
    (found,) = server(url).answer([replace(ASK, messages=(long,))])
    assert isinstance(found, Failed)
    assert "status 400" in found.reason
