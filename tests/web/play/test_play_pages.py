"""Addresses of games and replays, as programs ask them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from play_designs import MARKUP

from spade_envs.web.play.episodes import ADDRESS_LENGTH

Client = httpx2.Client


def token(page: str) -> str:
    found = re.search(r'name="csrf_token" value="(\w+)"', page)
    assert found
    return found[1]


def test_json_plays_a_game_to_its_end(client: Client) -> None:
    there = "/play/MazeKey-v0?level=1&seed=4"
    game = client.get(f"{there}&format=json").json()
    assert (game["turn"], game["over"], game["seed"], game["level"]) == (0, False, 4, 1)
    moves = [step["said"] for step in client.get("/replay/MazeKey?seed=4&format=json").json()["steps"][1:]]
    for turn, move in enumerate(moves):
        answer = client.post(there, json={"turn": turn, "action": move})
        assert (answer.status_code, answer.json()["turn"]) == (200, turn + 1)
    won = answer.json()
    assert (won["over"], won["ending"], won["return"]) == (True, "Won: the goal was reached.", 1.0)
    assert [move["said"] for move in won["moves"]] == moves


@pytest.mark.parametrize(
    ("name", "action", "said"),
    [
        ("Sample", 3, "up"),
        ("Sample", "UP.", "UP."),
        ("Words", "a b", "a b"),
        ("LampRow", 2, "2"),
        ("Fields", {"on": [1, 0], "to": [0.5, 1]}, '{"on": [1, 0], "to": [0.5, 1]}'),
        ("StockRoom", {"name": "count", "arguments": {}}, '{"name": "count", "arguments": {}}'),
    ],
)
def test_an_action_may_be_json(client: Client, name: str, action: Any, said: str) -> None:
    game = client.post(f"/play/{name}?seed=1", json={"turn": 0, "action": action}).json()
    assert game["last"]["said"] == said
    assert game["last"]["readable"]


def test_what_is_no_action_costs_a_turn_and_says_what_is_expected(client: Client) -> None:
    game = client.post("/play/Sample?seed=1", json={"turn": 0, "action": "fly"}).json()
    assert (game["turn"], game["last"]["readable"]) == (1, False)
    assert "Reply with one of: wait, left" in game["last"]["text"]
    assert game["observation"]["text"] == "turn 0"


def test_a_move_of_another_turn_changes_nothing(client: Client) -> None:
    client.post("/play/Sample?seed=2", json={"turn": 0, "action": "left"})
    answer = client.post("/play/Sample?seed=2", json={"turn": 0, "action": "left"})
    assert (answer.status_code, answer.json()["turn"], answer.json()["stale"]) == (409, 1, True)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "no JSON"),
        (b"\xff", "no JSON"),
        (b"[]", "no JSON object"),
        (b'{"turn": 0}', 'no "action"'),
        (b'{"turn": "0", "action": 1}', '"turn" is the number'),
        (b'{"turn": true, "action": 1}', '"turn" is the number'),
        (b'{"turn": -1, "action": 1}', '"turn" is the number'),
        (b'{"turn": 0, "do": "win"}', '"do" is one of'),
        (b'{"turn": 0, "do": ["act"]}', '"do" is one of'),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_done_is_said(client: Client, body: bytes, said: str) -> None:
    answer = client.post("/play/Sample?seed=3", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    assert said in answer.json()["detail"]


@pytest.mark.parametrize("seed", ["", "x", "-1", "1.0", "1" * 31, "²", "<b>", "9" * 5000])
@pytest.mark.parametrize("place", ["play", "replay"])
def test_a_wrong_seed_is_refused_in_a_sentence(client: Client, place: str, seed: str) -> None:
    answer = client.get(f"/{place}/LampRow", params={"seed": seed})
    assert answer.status_code == 400
    assert "a seed is a whole number from 0" in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/play/Nothing", 404, "no registry holds"),
        ("/play/LampRoww?seed=1", 404, "did you mean"),
        ("/play/LampRow?level=9", 400, "3 difficulty levels"),
        ("/play/Words?level=1", 400, "no difficulty levels"),
        ("/play/LampRow?level=x", 400, "a level is a whole number"),
        ("/play/LampRow?seed=1&moves={", 400, "the moves are no JSON"),
        ("/play/LampRow?seed=1&moves={}", 400, "the moves are no JSON list"),
        ("/replay/LampRow?finding=1", 400, "there is no finding 1"),
        ("/replay/LampRow?finding=x", 400, "finding"),
        ("/replay/LampRow?finding=1&moves=[]", 400, "give one of"),
        ("/replay/LampRow?episode=abc", 400, "open its file again"),
        ("/play/Nowhere?seed=1", 502, "no reset"),
        ("/replay/Nowhere?seed=1", 502, "no reset"),
    ],
)
def test_what_there_is_not_is_said(client: Client, path: str, status: int, said: str) -> None:
    page = client.get(path)
    assert page.status_code == status
    assert said in page.text
    problem = client.get(path, headers={"Accept": "application/json"})
    assert (problem.status_code, problem.json()["status"]) == (status, status)
    assert said in problem.json()["detail"]


def test_a_form_needs_its_pages_token(client: Client) -> None:
    page = client.get("/play/Sample?seed=6")
    sent = {"turn": "0", "choice": "1"}
    assert client.post(page.url, data=sent).status_code == 403
    assert client.post(page.url, data={**sent, "csrf_token": "0" * 64}).status_code == 403
    done = client.post(page.url, data={**sent, "csrf_token": token(page.text)})
    assert (done.status_code, done.url.params["moves"]) == (200, '["left"]')
    assert "Turn 1 of 20" in done.text


def test_each_visitor_has_their_own_game(site: str) -> None:
    for _ in range(2):
        with httpx2.Client(verify=False, base_url=site) as one:
            game = one.post("/play/Sample?seed=7", json={"turn": 0, "action": "left"})
            assert (game.status_code, game.json()["turn"]) == (200, 1)


def test_a_game_without_a_seed_gets_one(client: Client) -> None:
    page = client.get("/play/LampRow")
    assert re.fullmatch(r".*/play/LampRow-v0\?level=1&seed=\d+", str(page.url))


def test_an_address_with_moves_brings_a_game_back(site: str) -> None:
    """So a server that is started anew, or another visitor, loses nothing that the address holds."""
    there = '/play/Sample-v0?seed=8&moves=["left",{"expert":"up"},"fly"]'
    with httpx2.Client(verify=False, base_url=site) as one:
        game = one.get(there + "&format=json").json()
        assert [(move["said"], move["by"]) for move in game["moves"]] == [
            ("left", "player"),
            ("up", "expert"),
            ("fly", "player"),
        ]
        assert one.post("/play/Sample?seed=8", json={"turn": 3, "action": "wait"}).json()["turn"] == 4
        later = one.get(there)
        assert "Turn 4 of 20" in later.text
        assert "The address holds other moves" in later.text


def test_help_is_marked_in_the_game(client: Client) -> None:
    there = "/play/Sample?seed=9"
    hinted = client.post(there, json={"turn": 0, "do": "hint"}).json()
    assert (hinted["hint"], hinted["turn"]) == ("Count.", 0)
    moved = client.post(there, json={"turn": 0, "do": "expert"}).json()
    assert (moved["turn"], moved["hints"], moved["expert_moves"], moved["hint"]) == (1, 1, 1, None)
    whole = client.post(there, json={"turn": 1, "do": "expert-all"}).json()
    assert (whole["over"], whole["expert_moves"]) == (True, 8)
    anew = client.post(there, json={"turn": 8, "do": "restart"}).json()
    assert (anew["turn"], anew["hints"], anew["over"]) == (0, 0, False)


def test_an_episode_goes_into_a_file_and_comes_back(client: Client) -> None:
    there = "/play/Words-v0"
    client.post(f"{there}?seed=5", json={"turn": 0, "action": "hello"})
    client.post(f"{there}?seed=5", json={"turn": 1, "action": "x" * 500})
    file = client.get(f"{there}/episode?seed=5")
    assert file.headers["content-disposition"] == 'attachment; filename="Words-v0-0-5.json"'
    opened = client.post(
        "/replay", data={"episode": file.text, "csrf_token": token(client.get("/replay").text)}
    )
    assert opened.status_code == 200
    whole = client.post("/replay", content=file.content, headers={"Content-Type": "application/json"})
    assert whole.url.params.remove("episode") == opened.url.params.remove("episode")
    assert whole.url.path == opened.url.path
    steps = client.get(f"{opened.url}&format=json").json()["steps"]
    assert [step["text"] for step in steps[:2]] == ["turn 0: say something", "turn 1: olleh"]
    assert steps[2]["readable"] is False


def test_an_episode_that_is_too_long_for_an_address_is_kept(client: Client) -> None:
    moves = ["abc" * 10] * (ADDRESS_LENGTH // 30)
    episode = {"format": "spade-episode-1", "id": "spade/Words-v0", "level": None, "seed": 1, "moves": moves}
    csrf = token(client.get("/replay").text)
    opened = client.post("/replay", data={"episode": json.dumps(episode), "csrf_token": csrf})
    assert re.search(r"episode=[0-9a-f]{24}$", str(opened.url))
    assert "Step 0 of 8" in opened.text
    wrong = client.post(
        "/replay", data={"episode": json.dumps({**episode, "file_sha256": "00"}), "csrf_token": csrf}
    )
    assert (wrong.status_code, "another file of the id" in wrong.text) == (400, True)


def test_replays_go_by_address(client: Client) -> None:
    page = client.get("/replay/MazeKey?seed=3&step=2")
    assert "Step 2 of" in page.text
    assert 'href="/replay/MazeKey?seed=3&amp;step=3"' in page.text
    assert "Step 0 of" in client.get("/replay/MazeKey?seed=3&step=-5").text
    last = client.get("/replay/MazeKey?seed=3&step=99999").text
    assert "The episode ends here: terminated, the goal was reached" in last
    assert client.get("/replay/MazeKey?step=x").status_code == 400


def test_a_models_replies_are_replayed_in_their_own_format(client: Client) -> None:
    moves = json.dumps(["I think <answer>left</answer>", "left"])
    steps = client.get(f"/replay/Sample?seed=1&face=xml&moves={moves}&format=json").json()["steps"]
    assert [step["readable"] for step in steps] == [True, True, False]
    assert client.get("/replay/Sample?seed=1&face=other&moves=[]").status_code == 400


def test_the_episode_behind_a_finding_is_shown(client: Client) -> None:
    steps = client.get("/replay/MazeKey?finding=2&format=json").json()
    assert steps["by"].startswith("the policy")
    assert "[" in steps["note"]
    assert len(steps["steps"]) > 1


def test_a_worker_that_is_stopped_in_a_replay_says_so_at_its_end(client: Client) -> None:
    page = client.get('/replay/Hangs?seed=1&moves=["1","5","1"]&step=9')
    assert "Then the worker was stopped: timeout: step" in page.text
    assert "Step 1 of 1" in page.text


def test_a_fault_is_a_page_with_its_blame_and_a_way_back(client: Client) -> None:
    there = "/play/Hangs?seed=1"
    client.post(there, json={"turn": 0, "action": 1})
    stopped = client.post(there, json={"turn": 1, "action": 5}).json()
    assert stopped["over"]
    assert stopped["ending"].startswith("Stopped: timeout: step")
    page = client.get(there).text
    assert "It was stopped at the move" in page
    back = client.post(there, json={"turn": 1, "do": "resume"}).json()
    assert (back["over"], back["turn"]) == (False, 1)


def test_what_a_design_wrote_is_text(client: Client) -> None:
    client.post("/play/Hostile?seed=1", json={"turn": 0, "action": MARKUP})
    client.post("/play/Hostile?seed=1", json={"turn": 1, "do": "hint"})
    pages = [client.get(f"/play/Hostile?seed={seed}").text for seed in (1, 2)]
    pages += [client.get(path).text for path in ("/play", "/replay/Hostile?seed=1&step=1")]
    for page in pages:
        assert "<script>alert" not in page
        assert "<img src=x" not in page
        assert "&amp;49" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in pages[0]
    assert "<strong>Hint.</strong>" in pages[0]


def test_pages_are_light(client: Client) -> None:
    for path in ("/play/StockRoom?seed=1", "/play/Fields?seed=1", "/replay/MazeKey?seed=1"):
        assert len(client.get(path).content) < 30_000


def test_a_session_may_hold_so_many_games_only(site: str) -> None:
    with httpx2.Client(verify=False, base_url=site) as one:
        for seed in range(20):
            assert one.get(f"/play/Sample-v0?seed={seed}&format=json").status_code == 200
        full = one.get("/play/Sample-v0?seed=20", headers={"Accept": "application/json"})
        assert (full.status_code, full.headers["retry-after"]) == (503, "5")
        assert "leave one of them first" in full.json()["detail"]
        assert len(one.get("/play?format=json").json()["games"]) == 20
        assert one.post("/play/Sample-v0?seed=3", json={"turn": 0, "do": "leave"}).status_code == 303
        assert one.get("/play/Sample-v0?seed=20&format=json").status_code == 200


def test_many_clicks_at_once_are_one_move(client: Client) -> None:
    there = "/play/Sample?seed=11"
    client.get(there)
    with ThreadPoolExecutor(6) as threads:
        send: Callable[[int], Any] = lambda _: client.post(there, json={"turn": 0, "action": "left"})  # noqa: E731
        answers = list(threads.map(send, range(6)))
    assert sorted(answer.status_code for answer in answers) == [200] + [409] * 5
    assert client.get(f"{there}&format=json").json()["turn"] == 1


@pytest.mark.soak
def test_fifty_people_play_at_once(site: str) -> None:
    names = ["Sample", "Words", "LampRow", "MazeKey", "StockRoom"]

    def plays(number: int) -> None:
        there = f"/play/{names[number % len(names)]}?seed={number}"
        with httpx2.Client(verify=False, base_url=site, timeout=60) as one:
            for turn in range(4):
                answer = one.post(there, json={"turn": turn, "action": f"no such thing {number}"})
                assert answer.status_code == 200, answer.text
                game = answer.json()
                assert game["turn"] == turn + 1
                assert {move["said"] for move in game["moves"]} == {f"no such thing {number}"}
            one.post(there, json={"turn": 4, "do": "leave"})

    with ThreadPoolExecutor(50) as threads:
        list(threads.map(plays, range(100)))


def test_the_api_is_described(client: Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert "application/json" in paths["/play/{name}"]["post"]["requestBody"]["content"]
