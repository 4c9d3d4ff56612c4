"""The parts of a run, made from its settings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from spade_envs import EnvId, Registry, add_registry, registries
from spade_envs.errors import UsageError
from spade_train.ahead import Ahead
from spade_train.backends import Meter, open_backend
from spade_train.config import SelfPlayConfig
from spade_train.corpus import Corpus, read_corpus
from spade_train.curriculum import Learnt
from spade_train.designer import Designer, Window
from spade_train.designer.freedom import Freedom, fixed
from spade_train.designer.ways import Way, make_way
from spade_train.memory import Memory
from spade_train.missing import nothing_to_play, why_missing, wrong_weight
from spade_train.playing.play import Limits
from spade_train.rewards.agent import AgentTerms
from spade_train.rewards.designer import weighted
from spade_train.rewards.extensions import all_terms
from spade_train.rewards.paying import Pay
from spade_train.selfplay import SelfPlay
from spade_train.standing import Standing
from spade_train.watching import Watch
from spade_train.workshop.outside import Outside
from spade_train.workshop.workshop import Workshop
from spade_train.world import World

if TYPE_CHECKING:
    from spade_train.runs.checkpoints import Checkpoint
    from spade_train.runs.folder import RunFolder
    from spade_train.trl_plugin import Settings


def make_selfplay(
    settings: Settings,
    run: RunFolder,
    pool: Sequence[str],
    corpus: Corpus,
    world: World,
    checkpoint: Checkpoint | None,
) -> SelfPlay:
    """Return self-play as a new run begins with it, or as a checkpoint left it."""
    config, grpo = settings.selfplay, settings.grpo
    freedom = make_freedom(config).resumed(checkpoint.state.freedom if checkpoint else {})
    workshop = Workshop(
        designer=make_designer(config, freedom.way),
        registry=add_registry(run.registry),
        run=run.path.name,
        tokens=grpo.max_completion_length,
        jobs=config.admission_jobs or None,
        world=world,
        hints_by_reader=config.hints == "reader",
        outside=make_outside(config, grpo.temperature),
        max_repairs=config.repairs,
        model=config.designer_model or settings.model.model_name_or_path,
    )
    return SelfPlay(
        config=config,
        schedule=config.plan(grpo.num_generations),
        seed=grpo.seed,
        limits=Limits(config.prompt_tokens, config.turn_tokens, grpo.max_completion_length),
        workshop=workshop,
        pay=make_pay(config),
        pool=pool,
        corpus=corpus,
        standing=Standing(workshop.registry, workshop.run, config.rules(), world),
        world=world,
        memory=checkpoint.memory() if checkpoint else Memory(limit=config.memory_size),
        watch=Watch.from_state(checkpoint.state.watch) if checkpoint else Watch(),
        learnt=Learnt.from_state(checkpoint.state.learnt) if checkpoint else Learnt(),
        ahead=_ahead(config, workshop, run),
        freedom=freedom,
        make_designer=partial(make_designer, config),
    )


def make_outside(config: SelfPlayConfig, temperature: float) -> Outside | None:
    """Return who designs where that is not the model in training; nothing is asked or loaded yet.

    Raises:
        UsageError: there is no such model, file or package.
    """
    if config.designer_backend is None:
        return None
    heat = temperature if config.designer_temperature is None else config.designer_temperature
    backend = open_backend(config.designer_backend, config.backend_options())
    return Outside(Meter(backend), config.designer_tokens, heat)


def _ahead(config: SelfPlayConfig, workshop: Workshop, run: RunFolder) -> Ahead | None:
    if workshop.outside is None or not config.designer_ahead:
        return None
    return Ahead(workshop, workshop.outside, run.ahead, config.designer_ahead, config.rounds)


def make_pay(config: SelfPlayConfig) -> Pay:
    """Return what designs and episodes earn.

    Raises:
        UsageError: a term is unknown, or another package's cannot be loaded.
    """
    weights = config.designer_weights()
    return Pay(
        weighted(weights, all_terms(weights)),
        AgentTerms(config.format_reward, config.efficiency_reward, config.exploration_reward),
        config.block_weights(),
    )


def find_pool(config: SelfPlayConfig) -> dict[str, str]:
    """Return id -> SHA-256 of the file, of the curriculum; by default each seed environment's newest version.

    Raises:
        UsageError: an id is unknown, or there is nothing at all.
    """
    held = {str(e.header.id): e for registry in registries() for e in registry.entries()}
    known = [entry.header.id for entry in held.values()]
    for name in config.curriculum:
        if name not in held:
            raise UsageError(f"curriculum: {why_missing(name, known, registries())}")
    seeds = sorted((e.header.id for e in held.values() if e.header.origin == "seed"), key=_version)
    pool = config.curriculum or list({env_id.name: str(env_id) for env_id in seeds}.values())
    if not pool:
        raise UsageError(nothing_to_play(registries()))
    return {name: held[name].file_sha256 for name in pool}


def check_weights(config: SelfPlayConfig, run: RunFolder | None = None) -> None:
    """Raise :class:`UsageError` for the first weight of an environment that nobody knows; of a run, its own count."""
    known = [*registries(), *([Registry(run.registry)] if run else [])]
    held = {entry.header.id for registry in known for entry in registry.entries()}
    for name in config.block_weights():
        if wrong := wrong_weight(name, held):
            raise UsageError(f"environment_weights: {wrong}")


def check_pins(pins: dict[str, str]) -> None:
    """Raise :class:`UsageError` where an environment is not the one that the run began with."""
    held = {str(e.header.id): e.file_sha256 for registry in registries() for e in registry.entries()}
    for name, sha256 in pins.items():
        if held.get(name) != sha256:
            found = "is not there any more" if name not in held else "is another file than it was"
            raise UsageError(f"{name}, which this run trains on, {found}; bring back its registry.")


def _version(env_id: EnvId) -> int:
    return env_id.version


def make_designer(config: SelfPlayConfig, way: Way) -> Designer:
    """Return a way of designing, as the settings want its prompts."""
    return make_way(way, brief=config.designer_brief, window=Window(config.designer_window))


def make_freedom(config: SelfPlayConfig) -> Freedom:
    """Return the ladder of ways; where nobody designs, one that is never asked."""
    match config.designer:
        case "grow":
            return Freedom()
        case "none":
            return fixed("slots")
        case way:
            return fixed(way)


def make_corpus(config: SelfPlayConfig, say: Callable[[str], object] = lambda _: None) -> Corpus:
    """Return the documents that designs are grounded on; what of them cannot be read stands in ``unread``.

    Args:
        say: is told what will take a while.

    Raises:
        UsageError: a source that the settings name is not there, or all of them together hold no document.
    """
    return read_corpus(config.corpus, say) if config.use_corpus else Corpus()
