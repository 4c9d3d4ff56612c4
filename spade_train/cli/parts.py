"""What a run is put together from: its pool of environments, its documents, its designer."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spade_envs.errors import UsageError
from spade_train.config import SelfPlayConfig

if TYPE_CHECKING:
    from spade_train.checkpoints import Checkpoint
    from spade_train.designer import Corpus, Designer
    from spade_train.run_folder import RunFolder
    from spade_train.selfplay import SelfPlay
    from spade_train.trl_plugin import Settings
    from spade_train.world import World


def make_selfplay(
    settings: Settings, run: RunFolder, pool: Sequence[str], world: World, checkpoint: Checkpoint | None
) -> SelfPlay:
    """Put together what plays a run's rounds."""
    from spade_envs import add_registry
    from spade_train.designer import Memory
    from spade_train.designing import Workshop
    from spade_train.play import Limits
    from spade_train.selfplay import SelfPlay

    config, grpo = settings.selfplay, settings.grpo
    workshop = Workshop(
        designer=make_designer(config),
        registry=add_registry(run.registry),
        run=run.path.name,
        tokens=grpo.max_completion_length,
        jobs=config.admission_jobs or None,
        world=world,
    )
    return SelfPlay(
        config=config,
        schedule=config.plan(grpo.num_generations),
        seed=grpo.seed,
        limits=Limits(config.prompt_tokens, config.turn_tokens, grpo.max_completion_length),
        workshop=workshop,
        pool=pool,
        corpus=make_corpus(config),
        world=world,
        memory=checkpoint.memory() if checkpoint else Memory(),
    )


def make_designer(config: SelfPlayConfig) -> Designer:
    """Return the way of designing; where nobody designs, one that is never asked."""
    from spade_train.designer import FreeDesigner, SlotDesigner

    return FreeDesigner() if config.designer == "free" else SlotDesigner()


def make_corpus(config: SelfPlayConfig) -> Corpus:
    """Return the documents that designs are grounded on."""
    from spade_train.designer import Corpus

    if not config.use_corpus:
        return Corpus(())
    return Corpus.read([Path(path) for path in config.corpus] or None)


def find_pool(config: SelfPlayConfig) -> list[str]:
    """Return the curriculum's ids; by default the newest version of each seed environment.

    Raises:
        UsageError: an id of the curriculum cannot be made, or there is nothing to play.
    """
    from spade_envs import registries

    headers = [entry.header for registry in registries() for entry in registry.entries()]
    known = {str(header.id) for header in headers}
    for name in config.curriculum:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3)
            mend = f"Did you mean {', '.join(near)}?" if near else "spade-envs list shows what there is."
            raise UsageError(f"curriculum: there is no environment {name}. {mend}")
    seeds = sorted((header.id for header in headers if header.origin == "seed"), key=lambda one: one.version)
    pool = config.curriculum or list({env_id.name: str(env_id) for env_id in seeds}.values())
    if not pool:
        raise UsageError("No seed environment is registered, so nothing could fill a refused design's block.")
    return pool
