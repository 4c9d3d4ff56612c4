"""A model without its weights: configuration and tokenizer, from which everything else can be foretold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from spade_envs.errors import UsageError
from spade_train.config import SelfPlayConfig
from spade_train.models.check import check_lengths, check_tokenizer
from spade_train.models.model import embedded_gguf, embedded_is_unpacked, resolve_model
from spade_train.playing.chat import Chat


@dataclass(frozen=True)
class Sketch:
    """A causal language model as its files describe it.

    Attributes:
        name: what it is called in messages.
        config: transformers' configuration.
        tokenizer: transformers' tokenizer.
        template: settings of its chat template.
    """

    name: str
    config: Any
    tokenizer: Any
    template: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def chat(self) -> Chat:
        """Its chat template."""
        return Chat(self.tokenizer, self.template)

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text that holds its own control tokens."""
        return self.chat.ids(text)


def read_sketch(
    name: str | None, revision: str | None = None, setting: str = "--model_name_or_path"
) -> Sketch:
    """Read a model's configuration and tokenizer; nothing is unpacked, a name on the hub is looked up there.

    Args:
        name: a folder, a name on the hub, or None for the embedded model.
        revision: on the hub.
        setting: what messages say that the name was given to.

    Raises:
        UsageError: there is no such model, or it is no causal language model that transformers knows.
    """
    from transformers import AutoConfig, AutoTokenizer
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING

    options: dict[str, Any] = {"revision": revision}
    if name is None and not embedded_is_unpacked():
        gguf = embedded_gguf()
        source, options = str(gguf.parent), {"gguf_file": gguf.name}
    else:
        source = resolve_model(name, setting=setting)
    try:
        config = AutoConfig.from_pretrained(source, **options)
        tokenizer = AutoTokenizer.from_pretrained(source, padding_side="left", **options)
    except Exception as problem:  # files of any kind: transformers raises whatever they lead it into
        first = next(iter(str(problem).splitlines()), type(problem).__name__)
        raise UsageError(f"The model {source} cannot be read: {first}") from problem
    if type(config) not in MODEL_FOR_CAUSAL_LM_MAPPING:
        raise UsageError(
            f"{source}: {config.model_type} is no causal language model that transformers knows."
        )
    return Sketch(source, config, tokenizer)


def check_model(
    sketch: Sketch, selfplay: SelfPlayConfig, completion: int, say: Callable[[str], object]
) -> None:
    """Raise :class:`UsageError` where this model cannot be trained with these settings.

    Args:
        sketch: the model.
        selfplay: the settings.
        completion: TRL's ``max_completion_length``.
        say: is told what is mended on the way.
    """
    check_tokenizer(sketch.name, sketch.tokenizer, sketch.config, say)
    check_lengths(sketch.name, sketch.config, selfplay.prompt_tokens + completion, selfplay.upper_layers)
