"""Chat templates of the kinds that models have, each with its control tokens."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Template:
    """A template, the token that closes a turn, and the other control tokens."""

    text: str
    close: str
    controls: tuple[str, ...]
    plain: tuple[str, ...] = ()
    """Tokens of the vocabulary that are no control tokens: ``<think>``."""


CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
LLAMA = (
    "{{ '<|begin_of_text|>' }}{% for m in messages %}{{ '<|start_header_id|>' + m.role + '<|end_header_id|>\n\n'"
    " + m.content | trim + '<|eot_id|>' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
QWEN = (  # tools in the system message, answers of tools within a user's, thoughts of earlier turns removed
    "{% if tools %}{{ '<|im_start|>system\n' }}{% if messages[0].role == 'system' %}"
    "{{ messages[0].content + '\n\n' }}{% endif %}{{ '# Tools' }}{% for t in tools %}{{ '\n' + (t | tojson) }}"
    "{% endfor %}{{ '<|im_end|>\n' }}{% endif %}"
    "{% for m in messages %}{% if m.role == 'tool' %}{{ '<|im_start|>user\n<tool_response>\n' + m.content +"
    " '\n</tool_response><|im_end|>\n' }}"
    "{% elif m.role == 'assistant' %}{% set said = m.content.split('</think>')[-1].lstrip('\n') %}"
    "{{ '<|im_start|>assistant\n' + said + '<|im_end|>\n' }}"
    "{% elif m.role == 'user' or not tools %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}"
    "{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}"
    "{% if enable_thinking is defined and not enable_thinking %}{{ '<think>\n\n</think>\n\n' }}{% endif %}"
    "{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}{% for m in messages %}{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate') }}{% endif %}"
    "{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else m.role) + '\n' + m.content | trim +"
    " '<end_of_turn>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
MISTRAL = (  # the system message stands before the newest one of the user
    "{% if messages[0].role == 'system' %}{% set system = messages[0].content + '\n\n' %}"
    "{% set rest = messages[1:] %}{% else %}{% set system = '' %}{% set rest = messages %}{% endif %}"
    "{{ '<s>' }}{% for m in rest %}{% if m.role == 'user' %}{{ '[INST] ' + (system if loop.last else '') +"
    " m.content + ' [/INST]' }}{% else %}{{ ' ' + m.content + '</s>' }}{% endif %}{% endfor %}"
)
DEEPSEEK = (  # opens the thought itself
    "{{ '<|begin|>' }}{% for m in messages %}{% if m.role == 'system' %}{{ m.content }}{% elif m.role == 'user' %}"
    "{{ '<|User|>' + m.content }}{% else %}{{ '<|Assistant|>' + m.content.split('</think>')[-1] + '<|end|>' }}"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|Assistant|><think>\n' }}{% endif %}"
)

TEMPLATES = {
    "chatml": Template(CHATML, "<|im_end|>", ("<|im_start|>", "<|im_end|>")),
    "llama": Template(
        LLAMA,
        "<|eot_id|>",
        ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|eom_id|>"),
    ),
    "qwen": Template(
        QWEN, "<|im_end|>", ("<|im_start|>", "<|im_end|>"), ("<think>", "</think>", "<tool_call>")
    ),
    "gemma": Template(GEMMA, "<end_of_turn>", ("<bos>", "<start_of_turn>", "<end_of_turn>")),
    "mistral": Template(MISTRAL, "</s>", ("<s>", "</s>", "[INST]", "[/INST]")),
    "deepseek": Template(
        DEEPSEEK, "<|end|>", ("<|begin|>", "<|User|>", "<|Assistant|>", "<|end|>"), ("<think>", "</think>")
    ),
}


def dressed(tokenizer: Any, template: Template) -> Any:
    """Return a copy of the tokenizer that writes and knows this template; its own end token stays."""
    other = copy.deepcopy(tokenizer)
    other.add_special_tokens({"additional_special_tokens": list(template.controls)})
    other.add_tokens(list(template.plain))
    other.bos_token = template.controls[0]
    other.chat_template = template.text
    return other
