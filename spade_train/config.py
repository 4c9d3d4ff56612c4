"""The trainer's own settings. Everything about optimisation (learning rate, G, temperature, ...) is TRL's.

Each field becomes a flag of ``spade-train`` and a key of its YAML files. Nothing here imports torch or trl,
so that ``spade-train --help`` answers at once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from spade_envs.errors import UsageError
from spade_envs.registry import Rules
from spade_train.backends import Options, Patience, Price, parse_address
from spade_train.curriculum import Band, Shares
from spade_train.schedule import Schedule


def _help(text: str) -> dict[str, str]:
    return {"help": text}


@dataclass
class SelfPlayConfig:
    """What one self-play run does, beside TRL's ``GRPOConfig`` and ``ModelConfig``."""

    rounds: int = field(
        default=3, metadata=_help("Rounds of self-play; each trains on one batch of both roles.")
    )
    token_budget: int = field(
        default=0,
        metadata=_help(
            "End after the round with which so many tokens were sampled, by both roles and for measuring; 0: rounds "
            "alone decide."
        ),
    )
    runs: str = field(
        default="runs", metadata=_help("Folder of the run folders; --run_name names this one's.")
    )
    schedule: Literal["joint", "alternate", "designer_frozen", "agent_frozen"] = field(
        default="joint",
        metadata=_help("Who learns: both in each round, the designer now and then, one of them never."),
    )
    designer_every: int = field(
        default=4, metadata=_help("With schedule alternate: the designer's turn comes every so many rounds.")
    )
    seeds: int = field(default=1, metadata=_help("Seeds that each design is played from; each is a block."))
    designer: Literal["slots", "edit", "compose", "two_stage", "free", "grow", "none"] = field(
        default="slots",
        metadata=_help(
            "How designs are written: specifications under a grammar, changed methods, two joined, planned, whole "
            "files; grow: with more freedom as more are admitted; or there are none."
        ),
    )
    designer_brief: bool = field(
        default=False,
        metadata=_help("Whether the designer is told little, with short examples: for small models."),
    )
    designer_window: int = field(
        default=6_000, metadata=_help("The most tokens of the designer's prompt, by a rough count.")
    )
    max_repairs: int = field(
        default=2,
        metadata=_help("How often a refused design goes back with its report; never one under a grammar."),
    )
    designer_model: str | None = field(
        default=None,
        metadata=_help(
            "Another model that designs; it learns as the schedule says, or never with designer_frozen."
        ),
    )
    designer_backend: str | None = field(
        default=None,
        metadata=_help(
            "Designs come from here and never learn: openai:URL#MODEL, vllm:NAME, transformers:FOLDER, gguf:FILE, "
            "folder:DIR."
        ),
    )
    designer_price: list[float] = field(
        default_factory=list,
        metadata=_help("What a million tokens cost there, of the prompt and of the reply, as 0.15 0.60."),
    )
    designer_tokens: int = field(default=2048, metadata=_help("The most tokens of a reply from there."))
    designer_together: int = field(
        default=1,
        metadata=_help("Designs that one request to there asks for (n), where a server knows that."),
    )
    designer_parallel: int = field(
        default=8, metadata=_help("Requests under way there at once; of a model in this process, rows.")
    )
    designer_seconds: float = field(
        default=600.0, metadata=_help("How long one request to there may take, all its tries together.")
    )
    designer_ahead: int = field(
        default=0,
        metadata=_help(
            "Rounds' worth of designs from there made beside training, which then is not reproducible bit by bit; "
            "0: none."
        ),
    )
    designer_temperature: float | None = field(
        default=None, metadata=_help("The designer's sampling temperature (default: --temperature).")
    )
    role_adapters: bool = field(
        default=False, metadata=_help("An adapter for each role over one frozen model; wants --use_peft.")
    )
    designer_scale: float = field(
        default=1.0,
        metadata=_help(
            "Factor of the designer's learning rate; where it shares the agent's weights, of its advantages."
        ),
    )
    designer_scale_rewards: Literal["group", "batch", "none"] | None = field(
        default=None, metadata=_help("The designer's normalisation (default: --scale_rewards, the agent's).")
    )
    memory: bool = field(default=True, metadata=_help("Whether the designer is told of earlier designs."))
    memory_size: int = field(
        default=200, metadata=_help("Designs that are remembered; refused ones fill half of them at most.")
    )
    profile: bool = field(
        default=True,
        metadata=_help("Whether the designer is told how the agent fares by skill, and what the pool holds."),
    )
    target_skill: bool = field(
        default=True,
        metadata=_help("Whether each round's designs are to train one skill, drawn by weakness and regret."),
    )
    hints: Literal["design", "reader"] = field(
        default="design",
        metadata=_help(
            "Who writes hints: the design itself, or the designer's model on reading the source a second time."
        ),
    )
    use_corpus: bool = field(default=True, metadata=_help("Whether designs are grounded on documents."))
    corpus: list[str] = field(
        default_factory=list,
        metadata=_help(
            "Documents: files, folders, shipped, installed, hf:OWNER/NAME; shares as installed=0.5 (default: shipped)."
        ),
    )
    designer_reward: list[str] = field(
        default_factory=lambda: ["blend"],
        metadata=_help("What a design earns: a term, or several with weights, as regret=0.7 diversity=0.3."),
    )
    regret_width: float = field(
        default=0.25,
        metadata=_help("Half-width of the regret's 95 % interval from which a design is played no more."),
    )
    extra_plays: int = field(
        default=0,
        metadata=_help("Further seeds, over all designs of a round, that are spent on narrowing it."),
    )
    blind_plays: int = field(
        default=8,
        metadata=_help(
            "Plays of a new design with the hint and another seed's observations, where most hinted plays succeed."
        ),
    )
    admission_jobs: int = field(
        default=0, metadata=_help("Designs judged at once; 0 takes as many as there are cores.")
    )
    format_reward: float = field(
        default=0.1, metadata=_help("What well-formed answers earn at most; success earns more.")
    )
    efficiency_reward: float = field(
        default=0.0,
        metadata=_help("What a success earns besides for the turns that it leaves over, at most."),
    )
    exploration_reward: float = field(
        default=0.0, metadata=_help("What a failure earns at most for actions that no other play took.")
    )
    environment_weights: list[str] = field(
        default_factory=list, metadata=_help("Weights of blocks: spade/Name=0.5, with or without version.")
    )
    replay: bool = field(
        default=True,
        metadata=_help(
            "Whether the run's own environments fill blocks, too, beside those of the curriculum."
        ),
    )
    action_format: Literal["xml", "boxed", "tool_call", "raw"] = field(
        default="xml", metadata=_help("How the agent writes its actions.")
    )
    curriculum: list[str] = field(
        default_factory=list,
        metadata=_help("Ids that fill refused designs' blocks (default: every seed environment)."),
    )
    prioritised: bool = field(
        default=True,
        metadata=_help(
            "Whether blocks beside the designs go to what the agent can learn most from; false: uniformly."
        ),
    )
    band_low: float = field(
        default=0.3, metadata=_help("Success without the hint from which on an environment teaches most.")
    )
    band_high: float = field(default=0.7, metadata=_help("Success up to which it does."))
    levels: bool = field(
        default=True,
        metadata=_help(
            "Whether the curriculum's environments get harder once 0.9 of at least 8 plays are won."
        ),
    )
    replay_share: float = field(
        default=0.1, metadata=_help("Share of those blocks that replay what is mastered, against forgetting.")
    )
    reference_share: float = field(
        default=0.1,
        metadata=_help(
            "Share of those blocks that play the curriculum's ids uniformly at their easiest level."
        ),
    )
    mastered_above: float = field(
        default=0.9,
        metadata=_help(
            "Success without the hint above which, for mastered_rounds, an environment is mastered."
        ),
    )
    mastered_rounds: int = field(
        default=3, metadata=_help("For how many of its rounds in a row, until it is played no more.")
    )
    too_hard_below: float = field(
        default=0.1,
        metadata=_help("Success with the hint below which, for too_hard_rounds, an environment is too hard."),
    )
    too_hard_rounds: int = field(
        default=3, metadata=_help("For how many of its rounds in a row, until it is played no more.")
    )
    pool_size: int = field(
        default=0,
        metadata=_help(
            "How many environments may be active, the easiest and likest go first; 0: any number."
        ),
    )
    turn_tokens: int = field(default=16, metadata=_help("Tokens that the agent may sample in one turn."))
    prompt_tokens: int = field(
        default=1024, metadata=_help("Longest prompt that is played; a longer one leaves its row out.")
    )
    upper_layers: int = field(
        default=0, metadata=_help("Train this many layers below the head and freeze the rest; 0 trains all.")
    )
    warm_up_steps: int = field(
        default=0,
        metadata=_help(
            "Supervised steps on experts' episodes before the first round, for very small models."
        ),
    )
    warm_up_learning_rate: float = field(default=1e-5, metadata=_help("Learning rate of the warm-up."))
    evaluate_rounds: int = field(
        default=0,
        metadata=_help("Evaluate before the first round and after every so many, and the last; 0: never."),
    )
    evaluate_suites: list[str] = field(
        default_factory=lambda: ["heldout"],
        metadata=_help("Suites of that, as spade-train eval names them, for example heldout history."),
    )
    evaluate_items: int = field(default=20, metadata=_help("Items of each suite."))
    evaluate_plays: int = field(default=2, metadata=_help("Plays of each item."))
    save_rounds: int = field(
        default=1, metadata=_help("Save a checkpoint after every so many rounds; 0 saves none until the end.")
    )
    round_retries: int = field(
        default=2,
        metadata=_help("How often a round that this machine could not finish is played again, then skipped."),
    )
    dry_run: bool = field(
        default=False,
        metadata=_help("Say what would be done, how many tokens and how much memory; train nothing."),
    )

    def designer_weights(self) -> dict[str, float]:
        """Return term -> weight of the designer's reward.

        Raises:
            UsageError: a weight is no number.
        """
        return _weights("designer_reward", self.designer_reward)

    def block_weights(self) -> dict[str, float]:
        """Return environment -> weight of its blocks.

        Raises:
            UsageError: a weight is no number, or negative.
        """
        weights = _weights("environment_weights", self.environment_weights)
        for name, weight in weights.items():
            if not 0 <= weight < float("inf"):
                raise UsageError(
                    f"environment_weights: {name} has the weight {weight}; it must not be negative."
                )
        return weights

    def rules(self) -> Rules:
        """Return when an environment changes its status. Raises UsageError for rules that cannot be."""
        return Rules(
            mastered_above=self.mastered_above,
            mastered_rounds=self.mastered_rounds,
            relapsed_below=min(Rules().relapsed_below, self.mastered_above),
            too_hard_below=self.too_hard_below,
            too_hard_rounds=self.too_hard_rounds,
            pool_size=self.pool_size or None,
        )

    def shares(self) -> Shares:
        """Return how blocks beside the designs are divided.

        Raises:
            UsageError: a share or the band cannot be.
        """
        if not 0 <= self.band_low < self.band_high <= 1:
            raise UsageError(
                f"band_low is {self.band_low} and band_high {self.band_high}; they are rates, from 0 to 1, that rise."
            )
        if min(self.replay_share, self.reference_share) < 0 or self.replay_share + self.reference_share > 1:
            raise UsageError(
                f"replay_share is {self.replay_share} and reference_share {self.reference_share}; together they are "
                "at most 1, and neither is negative."
            )
        return Shares(self.replay_share, self.reference_share, Band(self.band_low, self.band_high))

    @property
    def designer_folder(self) -> str | None:
        """The model that ``designer_backend`` loads into this process with transformers, if it does."""
        address = parse_address(self.designer_backend) if self.designer_backend else None
        return address.place if address and address.kind == "transformers" else None

    @property
    def trains_two_models(self) -> bool:
        """Whether the designer is a model of its own that learns."""
        return self.designer_model is not None and self.schedule != "designer_frozen"

    @property
    def has_two_weights(self) -> bool:
        """Whether what the designer trains is not what the agent trains."""
        return self.trains_two_models or self.role_adapters

    def plan(self, group: int) -> Schedule:
        """Return who does what in which round; ``group`` is TRL's ``num_generations``."""
        return Schedule(self.schedule, group, self.seeds, self.designer_every, self.designer != "none")

    @property
    def repairs(self) -> int:
        """How often a refused design goes back: never to a folder, whose answer would come too late."""
        address = parse_address(self.designer_backend) if self.designer_backend else None
        return 0 if address and address.kind == "folder" else self.max_repairs

    def backend_options(self) -> Options:
        """Return how ``designer_backend`` is asked. Raises UsageError for a price that is none."""
        patience = Patience(silence=self.designer_seconds, whole=self.designer_seconds)
        price = Price.of(self.designer_price)
        return Options(price, self.designer_together, self.designer_parallel, patience)


def _weights(setting: str, words: Iterable[str]) -> dict[str, float]:
    """Read ``name`` and ``name=weight``; without a weight it is 1."""
    weights: dict[str, float] = {}
    for word in words:
        name, _, weight = word.partition("=")
        if name in weights:
            raise UsageError(f"{setting}: {name} stands there twice. Leave one of them out.")
        try:
            weights[name] = float(weight or 1)
        except ValueError:
            raise UsageError(f"{setting}: {word!r} has no number after =. Write name=0.5.") from None
    return weights
