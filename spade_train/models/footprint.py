"""How much memory a run takes, from sizes alone. Each formula stands beside its source.

What lies in memory all the time: weights and the optimiser's states. Beside them, in turn: gradients and what
the backward pass needs of one micro-batch, then the key-value cache of all episodes of a round. The peak is the
larger of the two. All figures are for one process that shares nothing: ZeRO and FSDP divide weights, gradients
and states among processes.
"""

from __future__ import annotations

from dataclasses import dataclass

CPU_PROCESS = 510 * 2**20
"""Python with PyTorch, TRL and this trainer imported, before any model (measured: torch 2.13, CPU build)."""

TILE_TOKENS, TILE_WORDS = 4096, 32768
"""How TRL 1.16 projects through the head: so many tokens and so much of the vocabulary at once."""

TORCH_COPIES = 8
"""float32 copies of a tile that TRL's backward pass holds where it has no Triton kernel: ``_backward_tile``."""

_STATES = {"sgd": 0.0, "adafactor": 0.0, "lion": 1.0, "rmsprop": 1.0, "adagrad": 1.0}
"""Numbers that an optimiser keeps for each trained parameter; Adam and its relatives keep two (Kingma, Ba 2015)."""


@dataclass(frozen=True)
class Shape:
    """The sizes of a decoder.

    Attributes:
        layers: how many there are.
        trained: how many of them keep what a backward pass needs.
        hidden: width of the residual stream.
        queries: heads x their size.
        keys: key-value heads x their size.
        inner: width of the feed-forward part that one token goes through (all experts that it is sent to).
        vocabulary: rows of the head.
        parameters: of the whole model.
        linear: of those, in linear layers: what quantisation shrinks.
        trainable: of those and of adapters, what is trained.
    """

    layers: int
    trained: int
    hidden: int
    queries: int
    keys: int
    inner: int
    vocabulary: int
    parameters: int
    linear: int
    trainable: int


@dataclass(frozen=True)
class Load:
    """What is asked of the model at once.

    Attributes:
        weight_bytes: of a weight as it is loaded: 4 for float32, 2 for bfloat16.
        linear_bytes: of a weight of a linear layer, where that is quantised.
        compute_bytes: of a number in the forward pass: 2 under autocast.
        optimiser: TRL's ``optim``.
        checkpointing: whether activations are computed anew in the backward pass.
        micro_rows: rows of a micro-batch.
        row_tokens: of the longest row, prompt and completion.
        scored_tokens: of the longest completion.
        episodes: played side by side.
        prompts: different ones among them.
        prompt_tokens: of the longest.
        frozen_parameters: of further models that are never trained: a reference, another designer.
        cpu: whether the process's own memory counts too, and kernels are PyTorch's own.
    """

    weight_bytes: float
    linear_bytes: float
    compute_bytes: int
    optimiser: str
    checkpointing: bool
    micro_rows: int
    row_tokens: int
    scored_tokens: int
    episodes: int
    prompts: int
    prompt_tokens: int
    frozen_parameters: int
    cpu: bool


@dataclass(frozen=True)
class Footprint:
    """Bytes by what they are for."""

    process: int
    weights: int
    optimiser: int
    gradients: int
    activations: int
    scores: int
    cache: int
    logits: int

    @property
    def peak(self) -> int:
        """The most at one time."""
        training = self.gradients + self.activations + self.scores
        return self.process + self.weights + self.optimiser + max(training, self.cache + self.logits)

    def beside(self, other: Footprint) -> Footprint:
        """Return what two models take that are trained together: what stays adds up, the rest takes turns."""
        stays = {
            name: getattr(self, name) + getattr(other, name) for name in ("weights", "optimiser", "gradients")
        }
        turns = {
            name: max(getattr(self, name), getattr(other, name))
            for name in ("activations", "scores", "cache", "logits")
        }
        return Footprint(self.process, **stays, **turns)


def footprint(shape: Shape, load: Load) -> Footprint:
    """Return the estimate."""
    return Footprint(
        process=CPU_PROCESS if load.cpu else 0,
        weights=_weights(shape, load),
        optimiser=_optimiser(shape, load),
        gradients=int(shape.trainable * _trained_bytes(load)),
        activations=_activations(shape, load),
        scores=_scores(shape, load),
        cache=_cache(shape, load),
        logits=_logits(shape, load),
    )


def _weights(shape: Shape, load: Load) -> int:
    """Each parameter once; under autocast, linear layers once more in the type of computing (PyTorch's cast cache)."""
    own = (shape.parameters - shape.linear) * load.weight_bytes + shape.linear * load.linear_bytes
    cast = shape.linear * load.compute_bytes if load.compute_bytes < load.linear_bytes else 0
    return int(own + cast + load.frozen_parameters * load.weight_bytes)


def _optimiser(shape: Shape, load: Load) -> int:
    kind = next((name for name in _STATES if name in load.optimiser), "")
    size = 1 if "8bit" in load.optimiser else _trained_bytes(load)
    return int(shape.trainable * _STATES.get(kind, 2.0) * size)


def _trained_bytes(load: Load) -> float:
    """Adapters over quantised weights are float32 (PEFT); else a gradient has its weight's type."""
    return 4 if load.linear_bytes < 2 else load.weight_bytes


def _activations(shape: Shape, load: Load) -> int:
    """What PyTorch's backward pass keeps, counted over a layer of Llama's kind with fused attention.

    Per token: 6 hidden (two norms: input, normalised, scaled), 4 queries + 3 keys (before and after rotation,
    repeated keys and values, output), 4 inner (gate, up, its activation, their product). For the method of
    counting see Korthikanti et al. 2022, arXiv 2205.05198, section 4. With checkpointing only each layer's input
    is kept, and one layer at a time is whole.
    """
    layer = 6 * shape.hidden + 4 * shape.queries + 3 * shape.keys + 4 * shape.inner
    kept = shape.trained * shape.hidden + layer if load.checkpointing else shape.trained * layer
    return load.micro_rows * load.row_tokens * kept * load.compute_bytes


def _cache(shape: Shape, load: Load) -> int:
    """2 x layers x keys for each token (Pope et al. 2022, arXiv 2211.05102), and reading all prompts at once."""
    size = load.episodes * load.row_tokens * 2 * shape.layers * shape.keys * load.compute_bytes
    reading = load.prompts * load.prompt_tokens * (4 * shape.hidden + 3 * shape.inner) * load.compute_bytes
    return size + reading


def _scores(shape: Shape, load: Load) -> int:
    """While training: one tile of logits, which becomes its own gradient; without Triton, its copies besides."""
    tile = min(load.micro_rows * load.scored_tokens, TILE_TOKENS) * min(shape.vocabulary, TILE_WORDS)
    return tile * (load.compute_bytes + (TORCH_COPIES * 4 if load.cpu else 0))


def _logits(shape: Shape, load: Load) -> int:
    """While sampling: logits, scaled, as chances."""
    return load.episodes * shape.vocabulary * 3 * 4
