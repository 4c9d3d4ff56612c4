"""Sampling under a grammar: a JSON schema, over a batch, through llguidance."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import torch


class Constraint(Protocol):
    """What whoever samples replies side by side asks about each of them.

    Attributes:
        schema: the JSON schema that every reply keeps.
    """

    schema: Mapping[str, Any]

    def start(self, row: int) -> list[int]:
        """Begin a row's reply; return the tokens that it must start with."""

    def mask(self, row: int, logits: torch.Tensor) -> None:
        """Set the row's logits (vocabulary) of forbidden tokens to minus infinity, in place."""

    def advance(self, row: int, token: int) -> list[int]:
        """Note that the row's model chose ``token``; return the tokens that must follow it."""

    def chosen(self, tokens: Sequence[int]) -> list[int]:
        """Return for each token of a whole reply 1 where the model chose it, and 0 where nothing else could be said."""


class JsonConstraint:
    """Every reply is one JSON value of the schema, then the end of the turn.

    Where the grammar leaves one way to go on, the tokens are written without asking the model.
    """

    def __init__(self, tokenizer: Any, schema: Mapping[str, Any], vocabulary: int) -> None:
        import llguidance
        import llguidance.hf

        self.schema = schema
        self._matcher = llguidance.LLMatcher
        self._tokenizer = llguidance.hf.from_tokenizer(tokenizer, n_vocab=vocabulary)
        style = {"whitespace_flexible": False, "key_separator": ": ", "item_separator": ", "}
        self._grammar = self._matcher.grammar_from_json_schema(json.dumps(schema), defaults=style)
        self._loose = self._matcher.grammar_from_json_schema(json.dumps(schema))
        self._end: int = tokenizer.eos_token_id
        self._matchers: dict[int, Any] = {}

    def start(self, row: int) -> list[int]:
        """Begin a row's reply."""
        self._matchers[row] = self._matcher(self._tokenizer, self._grammar)
        return self._forced(row)

    def mask(self, row: int, logits: torch.Tensor) -> None:
        """Forbid what the grammar forbids."""
        # Not llguidance.torch: it compiles its kernel, which takes a C++ compiler and most of a minute.
        allowed = torch.frombuffer(bytearray(self._matchers[row].compute_logit_bias()), dtype=torch.uint8)
        logits.masked_fill_((allowed == 0).to(logits.device), -torch.inf)

    def advance(self, row: int, token: int) -> list[int]:
        """Follow the row's choice."""
        self._matchers[row].consume_token(token)
        return self._forced(row)

    def chosen(self, tokens: Sequence[int]) -> list[int]:
        """Tell apart what was sampled elsewhere, where the grammar may leave more freedom between the values."""
        matcher = self._matcher(self._tokenizer, self._loose)
        marks: list[int] = []
        for token in tokens:
            ways = np.count_nonzero(np.frombuffer(matcher.compute_logit_bias(), np.uint8))
            if not matcher.consume_token(token):
                break
            marks.append(int(ways > 1))
        return marks + [1] * (len(tokens) - len(marks))

    def _forced(self, row: int) -> list[int]:
        matcher = self._matchers[row]
        tokens: list[int] = [] if matcher.is_stopped() else list(matcher.compute_ff_tokens())
        if tokens:
            matcher.consume_tokens(tokens)
        return [*tokens, self._end] if matcher.is_stopped() and self._end not in tokens else tokens
