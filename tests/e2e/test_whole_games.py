"""Whole games through every real part: HTTP, Postgres, relay, Redis stream, server-sent events, Celery bots."""

from random import Random

import pytest

from tests.e2e.client import Client, Json, any_option, follow
from tests.replica import Replica

pytestmark = [pytest.mark.stack, pytest.mark.xdist_group("e2e")]

PRESETS = ["davis", "jokers", "black-twos", "ten-phases", "king-rummy", "liverpool"]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_client_that_sends_any_listed_option_plays_a_whole_game_with_three_bots(anna: Client, preset: str) -> None:
    game_id = anna.open_game(preset, "you", "normal", "easy", "normal", pace={"claim_window_s": 1, "turn_s": 60})
    choose, replica, answered = any_option(7), Replica(0), set[str]()
    for kind, data in follow(anna, game_id, views=True):
        if kind == "view":
            replica.compare(data)
            for decision in data["decisions"]:
                if decision["decision_id"] not in answered:
                    answered.add(decision["decision_id"])
                    response = anna.move(game_id, decision, choose(decision))
                    assert response.status_code in (201, 409), response.text
                    assert response.status_code == 201 or response.json()["code"] == "decision_closed", response.text
                    break
        elif "occurred_at" in data:
            replica.record(data)
    assert_finished(anna, game_id, seat=0)


@pytest.mark.parametrize("preset", PRESETS)
def test_four_bots_play_a_whole_game(anna: Client, preset: str) -> None:
    game_id = anna.open_game(preset, "normal", "normal", "easy", "normal")
    for _ in follow(anna, game_id):
        pass
    assert_finished(anna, game_id, seat=None)


def assert_finished(client: Client, game_id: str, seat: int | None) -> None:
    """The log read over HTTP replays to the very view shown, scores add up, and it shows no hidden card."""
    events, view = client.events(game_id), client.view(game_id)
    assert view["status"] == "finished"
    replica = Replica(seat)
    for event in events:
        replica.record(event)
        assert_hides(event, seat)
    replica.compare(view)
    scored = [event["data"]["points"] for event in events if event["kind"] == "round_scored"]
    rules = events[0]["data"]["rules"]
    if rules["progression"] == "together":
        assert len(scored) == len(rules["contracts"])
    totals = [sum(points) for points in zip(*scored, strict=True)]
    assert view["result"]["totals"] == totals
    done = [min(seat["contract"], len(rules["contracts"])) for seat in view["seats"]]
    ranks = [(-count, total) for count, total in zip(done, totals, strict=True)]
    assert view["result"]["winners"] == [other for other, rank in enumerate(ranks) if rank == min(ranks)]


def assert_hides(event: Json, seat: int | None) -> None:
    data, own = event["data"], event["seat"] == seat and seat is not None
    match event["kind"]:
        case "round_dealt":
            assert ("hand" in data) == (seat is not None)
            assert not {"hands", "stock", "secret"} & data.keys()
        case "card_drawn" if data["source"] == "stock":
            assert ("card" in data) == own
        case "card_bought":
            assert ("penalty_cards" in data) == own
        case "passed":
            assert ("rest_of_round" in data) == own
            assert own or (event["seat"], event["move_id"]) == (None, None)
        case "stock_renewed":
            assert "stock" not in data


def test_a_stream_cut_off_at_random_shows_every_version_once_and_in_order(anna: Client) -> None:
    game_id = anna.open_game("davis", "normal", "easy", "normal")
    random, versions, ended = Random(5), list[int](), False
    while not ended:
        with anna.stream(game_id, versions[-1] if versions else 0) as stream:
            left = random.randint(1, 120)
            for kind, data in stream:
                if "occurred_at" in data:
                    versions.append(data["version"])
                    left -= 1
                ended = kind == "bye"
                if left == 0 or ended:
                    break
            else:
                ended = True
    head = anna.view(game_id)["version"]
    assert versions == list(range(1, head + 1))
