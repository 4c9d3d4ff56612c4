"""Episodes are trained on as they were played: same ids, and only the agent's own are marked."""

from __future__ import annotations

from typing import Any

import pytest
from train_stand_ins import Count, ScriptedPolicy, Wide
from transformers import GenerationConfig

from spade_envs.errors import WorkerFault
from spade_train.playing.decoding import Policy
from spade_train.playing.play import Episode, Limits, Task, play
from spade_train.playing.prompts import EXAMPLE_SEED, agent_messages, worked_examples

END = "<|im_end|>"


class Model:
    """Where a policy looks for stop tokens."""

    generation_config = GenerationConfig()


def scripted(tokenizer: Any, *rows: tuple[str, ...]) -> ScriptedPolicy:
    return ScriptedPolicy(Model(), tokenizer, script=rows)


def sampled_text(episode: Episode, policy: Policy) -> str:
    own = [i for i, m in zip(episode.completion_ids, episode.mask, strict=True) if m]
    return str(policy.tokenizer.decode(own))


def test_an_episode_reads_as_its_chat_template_would_write_it(tokenizer: Any) -> None:
    said = tuple(f"<answer>{n}</answer>{END}" for n in (4, 5, 6))
    policy = scripted(tokenizer, said)
    (episode,) = play(policy, [Task("count", 3)], lambda _: Count(), Limits())
    messages = agent_messages(Count(), worked_examples(Count()), "It is 3.", None)
    for answer, seen in zip(said[:2], ("It is 4.", "It is 5."), strict=True):
        messages += [
            {"role": "assistant", "content": answer.removesuffix(END)},
            {"role": "user", "content": seen},
        ]
    whole = tokenizer.decode([*episode.prompt_ids, *episode.completion_ids])
    assert whole == policy.chat.render(messages) + said[2]
    assert sampled_text(episode, policy) == "".join(said)
    assert (episode.success, episode.return_, episode.turns, episode.end) == (True, 1.0, 3, "terminated")
    assert policy.last.read[0] == [*episode.prompt_ids, *episode.completion_ids]  # type: ignore[attr-defined]


def test_a_blind_episode_is_shown_another_one(tokenizer: Any) -> None:
    policy = scripted(tokenizer, *[tuple(f"<answer>{n}</answer>{END}" for n in (4, 5, 6))] * 2)
    made: list[Count] = []

    def make(_: str) -> Count:
        made.append(Wide())
        return made[-1]

    tasks = [Task("wide", 3, hinted=True), Task("wide", 3, hinted=True, blind=True)]
    sees, blind = play(policy, tasks, make, Limits())
    for one, shown in ((sees, "It is 3."), (blind, "It is 250003.")):
        assert f"Hint: Say 4.\n{shown}" in tokenizer.decode(one.prompt_ids)
        assert one.success
    assert len(made) == 3
    assert all(env.closed for env in made)


def test_a_reply_that_was_cut_off_is_closed_by_a_token_that_is_not_the_agents(tokenizer: Any) -> None:
    policy = scripted(tokenizer, ("one two three four five six seven",) * 5)
    (episode,) = play(policy, [Task("count", 3)], lambda _: Count(), Limits(turn=3))
    assert END not in sampled_text(episode, policy)
    assert tokenizer.decode(episode.completion_ids).count(END + "\n") == 2 * 4
    assert (episode.well_formed, episode.turns, episode.end) == (0.0, 5, "truncated")


def test_episodes_of_different_lengths_keep_their_own_tokens(tokenizer: Any) -> None:
    wins = tuple(f"<answer>{n}</answer>{END}" for n in (1, 2, 3))
    loses = (f"<answer>9</answer>{END}",) * 5
    policy = scripted(tokenizer, wins, loses, ("?" + END,) * 2 + wins)
    tasks = [Task("count", 0)] * 3
    won, lost, late = play(policy, tasks, lambda _: Count(), Limits())
    assert sampled_text(won, policy) == "".join(wins)
    assert sampled_text(lost, policy) == "".join(loses)
    assert sampled_text(late, policy) == ("?" + END) * 2 + "".join(wins)
    assert [one.success for one in (won, lost, late)] == [True, False, True]
    assert late.well_formed == pytest.approx(0.6)
    assert len({one.prompt_ids for one in (won, lost, late)}) == 1


def test_a_hint_stands_in_the_examples_and_in_the_task(tokenizer: Any) -> None:
    policy = scripted(tokenizer, *[("x" + END,) * 5] * 2)
    tasks = [Task("count", 7, hinted=False), Task("count", 7, hinted=True)]
    plain, hinted = play(policy, tasks, lambda _: Count(), Limits())
    assert "Hint" not in tokenizer.decode(plain.prompt_ids)
    assert tokenizer.decode(hinted.prompt_ids).count("Hint: Say") == 3


def test_worked_examples_have_different_answers() -> None:
    first, second = worked_examples(Count())
    assert first.answer != second.answer
    assert first.observation == f"It is {EXAMPLE_SEED % 10}."


def test_the_token_limit_ends_an_episode_before_a_turn_that_might_not_fit(tokenizer: Any) -> None:
    policy = scripted(tokenizer, (f"<answer>9</answer>{END}",) * 5)
    (episode,) = play(policy, [Task("count", 0)], lambda _: Count(), Limits(turn=12, completion=40))
    assert episode.end == "context"
    assert episode.counts
    assert len(episode.completion_ids) <= 40
    assert episode.mask[-1] == 1, "nothing follows what the agent said last"


def test_faults_are_data_and_unplayed_rows_are_masked(tokenizer: Any) -> None:
    class Breaks(Count):
        fault_at = 1

    class Refuses(Count):
        def reset(self, *, seed: int | None = None) -> tuple[str, dict[str, Any]]:
            raise WorkerFault("timeout", "reset took longer than 1 s")

    made: list[Count] = []

    def make(env_id: str) -> Count:
        made.append({"breaks": Breaks, "refuses": Refuses, "count": Count}[env_id]())
        return made[-1]

    policy = scripted(tokenizer, ("x" + END,), (f"<answer>9</answer>{END}",) * 5)
    broke, refused, fine = play(
        policy, [Task("breaks", 0), Task("refuses", 0), Task("count", 0)], make, Limits()
    )
    assert (broke.end, broke.counts, fine.counts) == ("fault", False, True)
    assert (refused.end, refused.counts, refused.mask) == ("fault", False, (0,))
    assert all(env.closed for env in made)


def test_an_environment_that_cannot_tell_its_state_is_a_fault_of_its_own_episode(tokenizer: Any) -> None:
    class Mute(Count):
        def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
            super().step(action)
            raise WorkerFault("raised", "render raised ValueError")

    script = (f"<answer>9</answer>{END}",) * 5
    tasks = [Task("mute", 0), Task("count", 0)]
    mute, fine = play(
        scripted(tokenizer, script, script), tasks, lambda one: Mute() if one == "mute" else Count(), Limits()
    )
    assert (mute.end, mute.turns, mute.counts, fine.counts) == ("fault", 1, False, True)


def test_a_prompt_beyond_the_limit_is_not_played(tokenizer: Any) -> None:
    (episode,) = play(scripted(tokenizer), [Task("count", 0)], lambda _: Count(), Limits(prompt=20))
    assert (episode.end, episode.turns, episode.counts, episode.mask) == ("context", 0, False, (0,))
