"""What the monitors are told of a round, and what follows from what they say."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from spade_envs import registries
from spade_train.memory.ideas import repetitions
from spade_train.monitors import Alarm
from spade_train.playing.play import End, Episode, Task
from spade_train.reports import random_play, report_of
from spade_train.rewards.designer import REFUSED, weighted
from spade_train.rewards.paying import Pay, flat_blocks
from spade_train.rewards.uncertainty import Tally
from spade_train.rounds import Block, Design, Played, Row
from spade_train.watching import Watch, environment_seen

HEADER = """# /// spade
# id = "spade/{name}-v0"
# title = "{name}"
# summary = "{summary}"
# domain = "games"
# skills = ["counting"]
# origin = "generated"
# generation_round = 0
# max_episode_steps = 5
# license = "Apache-2.0"
# contract = 1
# ///
"""


def episode(
    return_: float, *, seed: int = 1, hinted: bool = False, end: End = "terminated", echoed: bool = False
) -> Episode:
    return Episode(
        Task("spade/A-v0", seed, hinted), (1,), (2,), (1,), return_, return_ > 0.5, 1.0, 1, end, echoed=echoed
    )


def played(plain: list[float], hinted: list[float], *, echoed: bool = False) -> Played:
    block = Block(
        "spade/A-v0",
        1,
        tuple(episode(r) for r in plain),
        tuple(episode(r, hinted=True, echoed=echoed) for r in hinted),
    )
    return Played("spade/A-v0", (block,))


def design(env_id: str | None = "spade/A-v0", source: str | None = None) -> Design:
    return Design("", (1,), (2,), (1,), source=source, compiled=True, env_id=env_id)


def test_counts_reach_the_monitors() -> None:
    seen = environment_seen(played([0, 1, 0, 0], [1, 1, 0, 1], echoed=True))
    assert (seen.plain, seen.hinted, seen.echoed) == ({1: Tally(1, 4)}, {1: Tally(3, 4)}, Tally(3, 3))


def test_what_is_measured_besides_reaches_the_monitors() -> None:
    one = played([0, 1], [1, 1])
    assert environment_seen(one).blind is None
    blind = (*(episode(r, hinted=True) for r in (1, 0, 1)), episode(1, hinted=True, end="fault"))
    seen = environment_seen(replace(one, blind=blind), Tally(2, 25))
    assert (seen.blind, seen.random) == (Tally(2, 3), Tally(2, 25))
    assert seen.hinted_total == Tally(2, 2), "they are no hinted plays"


def test_admissions_random_play_is_read_at_the_easiest_level() -> None:
    saw = {"random play, level 1": "3/25 [0.04, 0.30]", "random play, level 2": "0/25 [0.00, 0.13]"}
    report = {"gates": [{"name": "form"}, {"name": "difficulty", "saw": saw}]}
    assert random_play(report) == Tally(3, 25)
    assert random_play({"gates": []}) is random_play(None) is None


def test_random_play_is_known_of_every_shipped_environment() -> None:
    for env_id in registries()[0].ids():
        found = random_play(report_of(str(env_id)))
        assert found is not None
        assert found.plays > 0


def test_a_fault_counts_for_nobody() -> None:
    one = played([1, 0], [1, 1])
    (block,) = one.blocks
    broken = replace(one, blocks=(replace(block, plain=(*block.plain, episode(0, end="fault"))),))
    assert environment_seen(broken).plain == {1: Tally(1, 2)}
    assert (broken.faults, broken.success) == (1, 0.5)
    rows = Pay(weighted({"regret": 1.0})).of_agent([broken])
    assert [row.reward for row in rows] == [1.1, 0.1, None]


def test_a_password_is_caught_and_its_environment_played_no_more() -> None:
    watch, alarms = Watch(), ()
    for number in range(12):
        seen = environment_seen(played([0] * 4, [1] * 4, echoed=True))
        seen = replace(seen, plain={number: Tally(0, 4)}, hinted={number: Tally(4, 4)})
        watch, alarms = watch.after(number, [seen], Tally(0, 1))
        if alarms:
            break
    assert {(one.monitor, one.consequence) for one in alarms} == {("password", "quarantined")}
    assert watch.quarantined == ("spade/A-v0",)
    rows = Pay(weighted({"regret": 1.0})).of_designer([design()], [played([0] * 4, [1] * 4)], alarms)
    assert rows[0].reward == 0.0, "what it gained that way is not paid"


def test_the_watch_survives_json() -> None:
    watch, _ = Watch(entropy=0.25).after(0, [environment_seen(played([0, 1], [1, 1]))], Tally(1, 2))
    watch = replace(watch, quarantined=("spade/B-v0",))
    assert Watch.from_state(json.loads(json.dumps(watch.state()))) == watch


def test_a_refused_design_earns_less_than_any_other() -> None:
    pay = Pay(weighted({"regret": 1.0}))
    refused, useless = pay.of_designer(
        [design(None), design()], [played([1, 1], [1, 1]), played([1, 1], [0, 0])], ()
    )
    assert refused.reward == REFUSED
    assert useless.reward == 0.0


@pytest.mark.parametrize(
    ("rewards", "flat"),
    [([1.0, 1.0, 0.0, 1.0], 1), ([None, 1.0, 0.0, None], 2), ([0.0, 1.0, 0.0, 1.0], 0)],
)
def test_blocks_without_variance_are_counted(rewards: list[float | None], flat: int) -> None:
    rows = [Row("agent", (1,), (2,), (1,), reward) for reward in rewards]
    assert flat_blocks(rows, 2) == Tally(flat, 2)


def test_an_alarm_about_the_run_caps_every_design() -> None:
    alarm = Alarm("sabotage", None, 3, 0.0, 1.0, "all of them", "capped")
    (row,) = Pay(weighted({"regret": 1.0})).of_designer([design()], [played([0, 0], [1, 1])], [alarm])
    assert row.reward == 0.0


def test_one_idea_under_two_names_is_a_repetition() -> None:
    sources = [
        HEADER.format(name="Lamps", summary="Switch off all the lamps of a long row."),
        HEADER.format(name="Lights", summary="Switch off all lamps of the long row!"),
        HEADER.format(name="Words", summary="Sort some words by their second letter."),
        None,
    ]
    third = pytest.approx(1 / 3)
    assert repetitions(sources) == [third, third, 0.0, 0.0]
    assert repetitions([]) == []
