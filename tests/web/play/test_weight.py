"""A page weighs at most 250 kB, however much a design says and a player writes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from gymnasium import spaces
from play_designs import SAMPLE, start

from spade_envs.contract.findings import Rejection
from spade_envs.contract.header import parse_header
from spade_envs.web.play.game import About, Game, Move, Turn
from spade_envs.web.play.game_views import GamePage
from spade_envs.web.play.seen import see
from spade_envs.web.templating import environment

LONG = "word " * 8_000


def test_a_page_is_light_whatever_was_said() -> None:
    header = parse_header(SAMPLE)
    assert not isinstance(header, Rejection)
    shot = spaces.Box(0, 255, (130, 130, 3), np.uint8)
    space = spaces.Dict(
        {**{f"part {n}": spaces.Box(0, 1, (400,), np.float64) for n in range(80)}, "shot": shot}
    )
    seen = see(LONG, space.sample(), space)
    assert seen.picture
    about = About(header, LONG[:8_000], "Reply.", spaces.Text(2_000), space, None, (), "0" * 64)
    game = Game(start("Sample"), about, (Turn(0, None, LONG),), seen)
    for number in range(1, 400):
        game = game.after(Turn(number, Move(LONG[:250]), LONG), seen)
    site = SimpleNamespace(assets=SimpleNamespace(address=str), links=())
    template = environment([]).get_template("play/game.html")
    html = template.render(
        page=GamePage(game.with_hint(LONG)), site=site, here="/play", twin="?", csrf="0" * 64
    )
    assert "Turn 399 of" in html
    assert len(html.encode()) < 250_000
    assert sum(len(turn.text) for turn in game.turns) < 60_000
