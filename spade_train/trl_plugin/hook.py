"""What happens around TRL's steps: a round is played before, and goes on record after."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np
import torch
from transformers import TrainerCallback
from trl import GRPOTrainer

from spade_envs.errors import SpadeError, UsageError
from spade_train.clock import Clock
from spade_train.display import Display
from spade_train.evaluation.between import BetweenRounds, told
from spade_train.playing.decoding import Policy
from spade_train.playing.engine import Engine
from spade_train.rounds import Role, Round
from spade_train.runs.checkpoints import RunState, keep_state, mark
from spade_train.runs.disk import is_full
from spade_train.runs.folder import RunFolder
from spade_train.runs.records import Records, measures
from spade_train.runs.views import is_spent
from spade_train.selfplay import Roles, SelfPlay
from spade_train.trl_plugin.adapters import RoleAdapters
from spade_train.trl_plugin.gradients import RoleGradients
from spade_train.trl_plugin.rollout import batch, round_of, sampling
from spade_train.trl_plugin.settings import Settings


@dataclass(frozen=True)
class Between:
    """What a run was at the end of a round: self-play's state and the generators that TRL's checkpoint keeps."""

    state: RunState
    torch_state: torch.Tensor
    numpy_state: Any
    python_state: Any

    @classmethod
    def now(cls, state: RunState) -> Between:
        """Note it."""
        return cls(state, torch.get_rng_state(), np.random.get_state(), random.getstate())

    def restore(self) -> None:
        """Set the generators back."""
        torch.set_rng_state(self.torch_state)
        np.random.set_state(self.numpy_state)
        random.setstate(self.python_state)


DIFFERENCE = "sampling/sampling_logp_difference/mean"
"""TRL's name for how far vLLM's log-probabilities lie from the trainer's, a mean over sampled tokens."""


def _no_adapters(_role: str) -> None:
    """Both roles are the same weights."""


class Hook(TrainerCallback):  # type: ignore[misc]  # transformers has no types here
    """The rollout function, and what happens around it.

    Attributes:
        entries: the records of all rounds, with those of before the run was resumed.
        designer: the designer's own model, where it has one.
        between: the run at the end of the last whole round; None inside the first, and inside an optimiser step.
    """

    gradients: RoleGradients
    adapters: RoleAdapters | None = None
    engine: Engine | None = None

    def __init__(
        self,
        selfplay: SelfPlay,
        run: RunFolder,
        display: Display,
        settings: Settings,
        designer: Policy | None,
        entries: Sequence[dict[str, Any]] = (),
        first: int = 0,
    ) -> None:
        self.selfplay, self.run, self.entries = selfplay, run, list(entries)
        self.display, self._settings, self.designer = display, settings, designer
        self._records = Records(run, selfplay.world)
        self._clock = Clock()
        self._entry: dict[str, Any] = {}
        self._designer_prompt: tuple[int, ...] | None = None
        self._next, self._skipped = first, False
        self._evaluation = BetweenRounds(
            settings.selfplay, selfplay.seed, selfplay.limits, run, selfplay.world
        )
        self._trainer: GRPOTrainer | None = None
        self.between: Between | None = None

    def rollout(self, prompts: list[str], trainer: GRPOTrainer) -> dict[str, Any]:
        """TRL's hook: one row for each prompt, in order."""
        selfplay = self.selfplay
        number = round_of(prompts, selfplay.schedule, selfplay.world.rank)
        if number != self._next:
            raise RuntimeError(f"TRL asks for round {number}, where round {self._next} is next")
        self._next += 1
        self._trainer = trainer
        if number == 0:
            self._evaluate(0)
        with sampling(trainer, selfplay.seed, number, self.engine) as policy:
            played = self._played(policy, number)
            worth = self._settings.advantages(played.rows)
            self._entry = self._records.keep(played, worth, policy)
        designs = [row.prompt_ids for row in played.rows if row.role == "designer"]
        self._designer_prompt = designs[0] if designs else None
        self._skipped = played.skipped is not None
        self._clock.start("train")
        return batch(played.rows, worth.rows, measures(self._entry), self._likelihoods(trainer.temperature))

    def _played(self, policy: Policy, number: int) -> Round:
        """Play the round; where the machine fails, again from its beginning, at last not at all: all on record.

        Raises:
            SpadeError, OSError: another try makes no sense. The disk is full; or one of several processes has
                failed, which would repeat the round alone; or the last round was skipped, too, so it will not pass.
        """
        assert policy.generator is not None  # `sampling` gave one
        draws = policy.generator.get_state()
        for attempt in count():
            self._clock = Clock(self.display.phase)
            self.display.begin(number)
            policy.generator.set_state(draws)
            try:
                return self.selfplay.round(self._roles(policy), number, self._clock)
            except UsageError:
                raise  # another try would be as wrong
            except (SpadeError, OSError) as problem:
                self._records.failed(number, attempt, problem)
                if self.selfplay.world.size > 1 or is_full(self.run.path, problem):
                    raise
                if attempt < self._settings.selfplay.round_retries:
                    continue
                if self.entries and self.entries[-1].get("skipped"):
                    raise
                why = f"{type(problem).__name__}: {problem}"
                return Round.skip(number, self.selfplay.schedule.rows, policy.tokenizer.eos_token_id, why)
        raise AssertionError("unreachable")

    def _evaluate(self, done: int, last: bool = False) -> None:
        """Evaluate after so many rounds, where that is due; draws of the run's own are left alone."""
        if self._trainer is None or not self._evaluation.is_due(done, last):
            return
        console = self.display.console
        console.print(f"evaluating after {done} rounds")
        try:
            with sampling(self._trainer, self.selfplay.seed, -2, self.engine) as policy:
                self.use_agent()
                for line in self._evaluation.evaluate(policy, done):
                    console.print(told(line), markup=False)
        except (SpadeError, OSError) as problem:
            self._records.failed(done, 0, problem)
            if self.selfplay.world.size > 1 or is_full(self.run.path, problem):
                raise
            console.print(f"the evaluation failed: {problem}", markup=False)

    def use_agent(self) -> None:
        """Let whatever is computed next go through the agent's weights."""
        if self.adapters:
            self.adapters.use("agent")

    def _roles(self, policy: Policy) -> Roles:
        designer = replace(self.designer, generator=policy.generator) if self.designer else policy
        heat = self._settings.selfplay.designer_temperature
        if heat is not None:
            designer = replace(designer, temperature=heat)
        return Roles(designer, policy, self.adapters.use if self.adapters else _no_adapters)

    def _likelihoods(self, temperature: float) -> frozenset[Role] | None:
        """Whose tokens an engine draws as TRL scores them: at TRL's temperature."""
        if self.engine is None:
            return None
        heat = self._settings.selfplay.designer_temperature
        return frozenset(("agent", "designer") if heat in (None, temperature) else ("agent",))

    def role(self, ids: Sequence[int]) -> str:
        """Whose row it is: the designer's rows begin with its prompt."""
        prompt = self._designer_prompt
        return "designer" if prompt is not None and tuple(ids[: len(prompt)]) == prompt else "agent"

    def on_substep_end(self, args: Any, *_: Any, **__: Any) -> None:
        """After every micro-batch but a step's last."""
        self.display.advance(1 / (args.gradient_accumulation_steps * args.num_iterations))

    def on_pre_optimizer_step(self, *_: Any, model: torch.nn.Module, **__: Any) -> None:
        """From here to the end of the step the weights are those of no round; a skipped round's step does nothing."""
        self.between = None
        if self._skipped:
            for parameter in model.parameters():
                parameter.grad = None  # a gradient of nought would still move a weight by its momentum

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any], **__: Any) -> None:
        """After the last step on a batch: what training knows joins the round's record."""
        if "grad_norm" not in logs or state.global_step % args.num_iterations:
            return
        self._clock.stop("train")
        learned = {key: logs.get(key) for key in ("loss", "grad_norm", "entropy", "learning_rate")}
        if self.engine is not None:
            learned["sampling_difference"] = logs.get(DIFFERENCE)
        self._entry |= {**learned, "gradient": self.gradients.take(), **self._clock.entry()}
        self._records.finish(self._entry)
        self.entries.append(self._entry)
        self.display.round(self._entry)
        own, done = self._settings.selfplay, self._entry["round"] + 1
        spent = is_spent(own.token_budget, self.entries)
        if spent:  # TRL looks at both after this
            control.should_training_stop, control.should_save = True, own.save_rounds > 0
        self._evaluate(done, spent or done == own.rounds)
        if not self._skipped:
            self.selfplay.watch = replace(self.selfplay.watch, entropy=logs.get("entropy"))
        state_now = RunState.of(self.selfplay, self.run, done)
        if self.selfplay.world.first:
            keep_state(self.run, state_now)
        self.between = Between.now(state_now)

    def on_save(self, _args: Any, state: Any, *_: Any, **__: Any) -> None:
        """The trainer has saved its part: with the run's own beside it, the checkpoint is whole."""
        if self.between is not None and self.selfplay.world.first:
            mark(self.run.checkpoints / f"checkpoint-{state.global_step}", self.between.state)
