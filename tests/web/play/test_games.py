"""Games without a page: whatever is asked of the keeper, each game is what its moves make of it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from play_designs import DESIGNS, MARKUP, source_of, start

from spade_envs.errors import UsageError, WorkerFault
from spade_envs.isolation import QUARANTINE, WorkerPool
from spade_envs.web.play.bounds import Bounds
from spade_envs.web.play.game import LOG_TURNS, Game, Move, Start, ending
from spade_envs.web.play.keeper import Keeper
from spade_envs.web.play.seats import NoRoom
from spade_envs.web.play.table import Table

FEW = Bounds(games=6, games_of_one=3, workers=2, wait_s=0.3)


@pytest.fixture(scope="module")
def keeper() -> Iterator[Keeper]:
    found = Keeper(source_of, Bounds(workers=4))
    yield found
    found.close()


def kept(bounds: Bounds = FEW) -> Keeper:
    """A keeper of trusted games, in this process."""
    return Keeper(source_of, bounds, WorkerPool(isolation="none", spares=0))


def replayed(game: Game) -> Game:
    table = Table(source_of(game.start), game.start.level, WorkerPool(isolation="none", spares=0))
    *_, last = table.again(game.start, game.moves)
    table.close()
    return last


class Requests(RuleBasedStateMachine):
    """Any sequence of requests, by two sessions, on a few games, with fewer workers than games."""

    def __init__(self) -> None:
        super().__init__()
        self.keeper = kept()
        self.turns: dict[tuple[str, Start], tuple[Move, ...]] = {}

    owners = st.sampled_from(["ann", "bob"])
    games = st.sampled_from([start("Sample", 1), start("Words"), start("Fields")])

    @rule(
        owner=owners,
        game=games,
        said=st.sampled_from(
            ["left", "wait", "RIGHT.", "nothing such", "hello", '{"on": [1, 0], "to": [0.5, 1]}']
        ),
        late=st.integers(-1, 1),
    )
    def act(self, owner: str, game: Start, said: str, late: int) -> None:
        before = self.keeper.look(owner, game).game
        answer = self.keeper.act(owner, game, before.turn + late, said)
        made = late == 0 and not before.over
        assert answer.stale == (not made)
        assert answer.game.moves == before.moves + ((Move(said),) if made else ())

    @rule(owner=owners, game=games, whole=st.booleans())
    def expert(self, owner: str, game: Start, whole: bool) -> None:
        before = self.keeper.look(owner, game).game
        after = self.keeper.expert(owner, game, before.turn, whole=whole).game
        assert all(move.by == "expert" for move in after.moves[before.turn :])
        assert before.over or after.turn == before.turn + 1 or (whole and after.over)

    @rule(owner=owners, game=games)
    def hint(self, owner: str, game: Start) -> None:
        before = self.keeper.look(owner, game).game
        after = self.keeper.hint(owner, game, before.turn).game
        assert after.hint == ("Count." if not before.over else before.hint)
        assert replace(after, hint=None, hints=0) == replace(before, hint=None, hints=0)

    @rule(owner=owners, game=games)
    def begin(self, owner: str, game: Start) -> None:
        moves = self.keeper.look(owner, game).game.moves
        assert self.keeper.begin(owner, game, moves[:2]).game.moves == moves[:2]

    @rule()
    def nobody_moves(self) -> None:
        self.keeper.sweep(0)
        assert self.keeper.workers == 0

    @rule(owner=owners, game=games)
    def leave(self, owner: str, game: Start) -> None:
        self.keeper.leave(owner, game)
        assert game not in [one.start for one in self.keeper.games(owner)]

    @invariant()
    def each_game_is_its_replay(self) -> None:
        for owner in ("ann", "bob"):
            for game in self.keeper.games(owner):
                again = replayed(game)
                assert (again.turns, again.seen) == (game.turns, game.seen)
                assert game.stopped is None

    def teardown(self) -> None:
        self.keeper.close()
        assert self.keeper.workers == 0


def test_any_sequence_of_requests_leaves_each_game_equal_to_its_replay() -> None:
    run_state_machine_as_test(
        Requests, settings=settings(max_examples=6, stateful_step_count=12, deadline=None)
    )


def test_a_game_is_won_and_says_so(keeper: Keeper) -> None:
    game = keeper.look("ann", start("Sample", 3)).game
    assert (game.turn, ending(game), game.return_) == (0, "", 0.0)
    won = keeper.expert("ann", start("Sample", 3), 0, whole=True).game
    assert won.over
    assert ending(won) == "Won: the goal was reached."
    assert won.return_ == won.turn == won.expert_moves == 8


def test_what_is_no_action_costs_a_turn_and_the_state_stays_in_sight(keeper: Keeper) -> None:
    before = keeper.look("eve", start("Words")).game
    after = keeper.act("eve", start("Words"), 0, "x" * 50).game
    assert (after.turn, after.last.readable, after.seen) == (1, False, before.seen)
    assert "That is no action" in after.last.text


def test_a_fault_stops_a_game_with_its_blame_and_the_game_can_be_taken_up_before_it(keeper: Keeper) -> None:
    for name, kind in (("Hangs", "timeout"), ("Kills", "memory")):
        one = start(name)
        keeper.begin("ann", one)
        keeper.act("ann", one, 0, "1")
        stopped = keeper.act("ann", one, 1, "5").game
        assert stopped.over
        assert stopped.stopped is not None
        assert stopped.stopped.startswith(kind)
        assert (stopped.moves, stopped.fatal) == ((Move("1"),), Move("5"))
        assert ending(stopped).startswith("Stopped: " + kind)
        assert keeper.act("ann", one, 1, "1").stale
        up = keeper.begin("ann", one, stopped.moves).game
        assert not up.over
        assert keeper.act("ann", one, 1, "1").game.turn == 2
        keeper.leave("ann", one)


def test_a_design_that_kills_its_workers_again_and_again_is_started_no_more(keeper: Keeper) -> None:
    one = start("Kills", 9)
    keeper.look("ann", one)
    for _ in range(10):
        QUARANTINE.blame(DESIGNS["Kills"], WorkerFault("died", "step: gone"))
    with pytest.raises(WorkerFault, match="10 workers in a row died") as fault:
        keeper.begin("ann", one)
    assert fault.value.kind == "quarantined"
    keeper.sweep(0)
    stopped = keeper.act("ann", one, 0, "1").game
    assert "quarantined" in ending(stopped)
    assert stopped.fatal is None


def test_an_episode_that_ends_in_order_absolves_its_design(keeper: Keeper) -> None:
    for _ in range(9):
        QUARANTINE.blame(DESIGNS["Sample"], WorkerFault("died", "step: gone"))
    keeper.begin("ann", start("Sample", 5))
    keeper.expert("ann", start("Sample", 5), 0, whole=True)
    QUARANTINE.blame(DESIGNS["Sample"], WorkerFault("died", "step: gone"))
    QUARANTINE.check(DESIGNS["Sample"])


def test_a_design_that_fails_its_hint_or_expert_leaves_the_game_as_it_was(keeper: Keeper) -> None:
    one = start("Raises")
    before = keeper.look("ann", one).game
    for answer in (keeper.hint("ann", one, 0), keeper.expert("ann", one, 0)):
        assert answer.game == before
        assert "failed (raised:" in answer.note
    assert keeper.act("ann", one, 0, "1").game.turn == 1


def test_a_design_that_does_not_repeat_its_episode_is_told_apart(keeper: Keeper) -> None:
    one = start("Forgetful")
    keeper.look("ann", one)
    keeper.hint("ann", one, 0)  # changes the state: nobody can play that again
    keeper.act("ann", one, 0, "1")
    keeper.sweep(0)
    assert "does not repeat its episode" in ending(keeper.act("ann", one, 1, "1").game)


def test_a_design_that_fails_before_the_first_move_takes_no_seat(keeper: Keeper) -> None:
    with pytest.raises(WorkerFault, match="no reset"):
        keeper.look("joe", start("Nowhere"))
    assert keeper.games("joe") == []


def test_games_are_bounded_for_each_session_and_over_all() -> None:
    with_few = kept()
    for seed in range(3):
        with_few.look("ann", start("Sample", seed))
    with pytest.raises(NoRoom, match="you have 3 games running"):
        with_few.look("ann", start("Sample", 3))
    with_few.expert("ann", start("Sample", 1), 0, whole=True)
    with_few.look("ann", start("Sample", 3))  # one that is over makes room
    assert {game.start.seed for game in with_few.games("ann")} == {0, 2, 3}
    for seed in range(3):
        with_few.look("bob", start("Sample", seed))
    with pytest.raises(NoRoom, match="6 games are running"):
        with_few.look("eve", start("Sample"))
    assert with_few.workers <= FEW.workers
    with_few.close()


def test_workers_go_to_who_plays(keeper: Keeper) -> None:
    for seed in range(6):
        keeper.begin("ann", start("Words", seed))
    assert keeper.workers == 4
    for seed in range(6):
        assert keeper.act("ann", start("Words", seed), 0, f"word {seed}").game.turn == 1
    for seed in range(6):
        keeper.leave("ann", start("Words", seed))


def test_two_clicks_at_once_are_one_move(keeper: Keeper) -> None:
    keeper.begin("ann", start("Sample", 8))
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: keeper.act("ann", start("Sample", 8), 0, "wait"), range(8)))
    assert sorted(answer.stale for answer in answers) == [False] + [True] * 7
    assert {answer.game.turn for answer in answers} == {1}


def test_a_request_does_not_wait_for_ever_for_another_one() -> None:
    with_few = kept()
    with_few.look("ann", start("Sample"))
    with with_few._seats.held("ann", start("Sample")):
        began = time.monotonic()
        with pytest.raises(NoRoom, match="still goes on"):
            with_few.act("ann", start("Sample"), 0, "wait")
        assert time.monotonic() - began < 5
    with_few.close()


def test_when_all_workers_are_busy_that_is_said() -> None:
    with_few = kept()
    with (
        with_few._seats.held("ann", start("Sample")) as one,
        with_few._seats.held("bob", start("Sample")) as other,
    ):
        for seat in (one, other):
            with_few._begin(seat, ())
        with pytest.raises(NoRoom, match="all 2 workers are busy"):
            with_few.look("eve", start("Sample"))
    with_few.close()


def test_a_game_that_nobody_looks_at_is_forgotten() -> None:
    with_few = kept(replace(FEW, forget_s=0.0))
    with_few.look("ann", start("Sample"))
    with_few.sweep(0)
    assert with_few.games("ann") == []
    with_few.close()


def test_the_moves_of_a_game_have_a_bound() -> None:
    with_few = kept(replace(FEW, said=100))
    with pytest.raises(NoRoom, match="at most 100 characters"):
        with_few.act("ann", start("Words"), 0, "x" * 101)
    assert with_few.look("ann", start("Words")).game.turn == 0
    with_few.close()


def test_texts_of_long_ago_are_let_go() -> None:
    game = replayed(Game(start("Words"), None, (), None))  # type: ignore[arg-type]
    turns = game.turns[0]
    for number in range(1, LOG_TURNS + 5):
        game = game.after(replace(turns, number=number, move=Move("x")), game.seen)
    assert [bool(turn.text) for turn in game.turns] == [False] * 4 + [True] * (LOG_TURNS + 1)


def test_closing_ends_every_worker() -> None:
    one = Keeper(source_of, Bounds())
    one.look("ann", start("Sample"))
    assert one.workers == 1
    one.close()
    one.close()
    assert one.workers == 0


def test_a_start_without_a_design_is_refused() -> None:
    def nothing(_: Start) -> str:
        raise UsageError("there is none")

    one = Keeper(nothing, FEW)
    for seed in range(FEW.games + 1):  # none of them takes a seat
        with pytest.raises(UsageError, match="there is none"):
            one.look("ann", start("Sample", seed))
    assert one.games("ann") == []
    one.close()


def test_a_game_that_was_left_while_somebody_waited_for_it_is_begun_anew() -> None:
    one = kept()
    one.act("ann", start("Sample"), 0, "wait")
    with ThreadPoolExecutor(1) as waiting:
        with one._seats.held("ann", start("Sample")) as seat:
            other = waiting.submit(one.look, "ann", start("Sample"))
            time.sleep(0.1)
            one._seats._remove(seat)
        assert other.result().game.turn == 0
    assert [game.turn for game in one.games("ann")] == [0]
    assert one.workers == 1
    one.close()


def test_markup_is_text_for_the_keeper(keeper: Keeper) -> None:
    assert keeper.look("ann", start("Hostile")).game.seen.text == MARKUP
    assert keeper.hint("ann", start("Hostile"), 0).game.hint == MARKUP
