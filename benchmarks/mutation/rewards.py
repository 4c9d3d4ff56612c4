"""Operators on the reward, on what is said of success, and on the end of an episode."""

from __future__ import annotations

from collections.abc import Iterator

from mutation import oracles_reward as proofs
from mutation.design import Design, around_step
from mutation.operator import Operator, family
from mutation.oracles_play import a_value_is_foreign, something_raises, the_expert_fails

OPERATORS: list[Operator] = []
operator = family("honest reward", OPERATORS)
# What was written for an episode that ends may break where it goes on.
_AFTER_THE_END = (something_raises, a_value_is_foreign, proofs.a_return_is_too_large)
_PAY = (proofs.a_return_is_too_large, proofs.failure_pays)


@operator(*_PAY)
def reward_at_every_step(design: Design) -> Iterator[Design]:
    for pay in ("1.0", "reward + 0.2", "reward + 1.1 / " + str(design.limit)):
        yield from around_step(design, after=f"reward = {pay}")


@operator(*_PAY)
def stalling_pays(design: Design) -> Iterator[Design]:
    share = round(1.0 / design.limit, 4)
    yield from around_step(design, after=f"reward = reward * 0.3 if terminated else {share}")
    yield from around_step(design, after=f"reward = reward * {share} if terminated else {share}")


@operator(*_PAY)
def reward_moved_to_the_first_step(design: Design) -> Iterator[Design]:
    yield from around_step(design, after="reward = float(self._turns == 1)")


@operator(*_PAY)
def reward_of_the_wrong_sign(design: Design) -> Iterator[Design]:
    yield from around_step(design, after="reward = -reward")


@operator(*_PAY)
def failure_is_paid(design: Design) -> Iterator[Design]:
    yield from around_step(design, after="reward = float(terminated)")
    yield from around_step(design, after="reward = 1.0 - reward if terminated else reward")
    yield from around_step(design, after="reward = float(not info.get('is_success') and terminated)")


@operator(*_PAY)
def success_is_not_paid(design: Design) -> Iterator[Design]:
    yield from around_step(design, after="reward = 0.0")


@operator(*_PAY)
def reward_out_of_scale(design: Design) -> Iterator[Design]:
    for factor in ("100", "1.5", "10"):
        yield from around_step(design, after=f"reward = reward * {factor}")


@operator(*_PAY)
def steps_cost_too_much(design: Design) -> Iterator[Design]:
    for cost in ("0.3", "1.0", str(round(1.2 / design.limit, 4))):
        yield from around_step(design, after=f"reward = reward - {cost}")


@operator(*_PAY)
def change_is_paid_again_and_again(design: Design) -> Iterator[Design]:
    text = "reward += 0.3 * (str(observation) != self._before)\nself._before = str(observation)"
    yield from around_step(design, after=text, reset="self._before = ''")


@operator(proofs.success_is_not_stated, the_expert_fails)
def success_not_stated(design: Design) -> Iterator[Design]:
    yield from around_step(design, after="info = {}")
    yield from around_step(design, after="info = {} if terminated else info")
    yield from around_step(design, after="info = info if info.get('is_success') else {}")


@operator(proofs.success_is_not_stated)
def success_no_bool(design: Design) -> Iterator[Design]:
    for value in (
        "int(info['is_success'])",
        "'yes' if info['is_success'] else ''",
        "reward",
        "[info['is_success']]",
    ):
        yield from around_step(design, after=f"info['is_success'] = {value}")


@operator(proofs.success_goes_on, *_AFTER_THE_END)
def termination_dropped(design: Design) -> Iterator[Design]:
    yield from around_step(design, after="terminated = False")
    yield from around_step(design, after="terminated = terminated and not info['is_success']")


@operator(proofs.success_goes_on)
def success_said_too_early(design: Design) -> Iterator[Design]:
    yield from around_step(design, after="info['is_success'] = True")
    yield from around_step(design, after="info['is_success'] = info['is_success'] or self._turns > 2")


@operator(*_PAY, the_expert_fails, proofs.success_is_not_stated)
def success_turned_round(design: Design) -> Iterator[Design]:
    yield from around_step(design, after="info['is_success'] = terminated and not info['is_success']")


@operator(the_expert_fails, proofs.success_goes_on)
def goal_truncates(design: Design) -> Iterator[Design]:
    yield from around_step(design, after="terminated, truncated = False, terminated")
