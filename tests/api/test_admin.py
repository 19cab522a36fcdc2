"""Operators look into games and players and mend them: the table is told, and everything stands in a book."""

import json
from contextlib import aclosing
from datetime import timedelta

import pytest

from domain.events import RoundDealt
from services import operating
from services.operating import STALLED_S
from services.ports import Append, Unavailable
from tests.api.listening import guests, messages
from tests.api.problems import NOBODY, assert_problem
from tests.api.scopes import allow
from tests.api.world import Clock, Json, Player, World, asked, dealt_game, in_turn, serving

PACE = {"claim_window_s": 0, "turn_s": 60, "bot_delay_ms": 0}


@pytest.fixture
async def olga(world: World, clara: Player) -> Player:
    """Is an operator."""
    await allow(world, clara, ("operate",))
    return clara


async def log_of(olga: Player, game_id: str, **query: int) -> Json:
    wanted = "&".join(f"{name}={value}" for name, value in query.items())
    return await olga.sent("GET", f"/v1/admin/games/{game_id}/events?{wanted}")


async def told(player: Player, game_id: str) -> list[tuple[str, str, Json]]:
    """What a player is told of operators."""
    page = await player.sent("GET", f"/v1/games/{game_id}/events?limit=500")
    return [(e["kind"], e["actor"], e["data"]) for e in page["items"] if e["actor"] == "operator"]


async def book(olga: Player) -> list[tuple[str, str | None, str | None, str]]:
    page = await olga.sent("GET", "/v1/admin/audit")
    return [(deed["what"], deed["game_id"], deed["player_id"], deed["reason"]) for deed in page["items"]]


async def test_a_game_without_spectators_is_looked_at_from_outside_and_nobody_is_told(
    world: World, anna: Player, boris: Player, olga: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, spectators="none", pace=PACE)
    look = await olga.sent("GET", f"/v1/admin/games/{game_id}")
    assert (look["status"], look["is_stalled"], look["round"]) == ("playing", False, 1)
    assert [seat["name"] for seat in look["seats"]] == ["Anna", "Boris"]
    assert look["work"]["kind"] in ("warn", "turn_timer")
    assert look["work"]["overdue_s"] < 0
    assert look["last_event_age_s"] < 60
    [question, *_] = look["questions"]
    _, view = await in_turn(game_id, anna, boris)
    assert (question["kind"], question["seat"]) == (view["decisions"][0]["kind"], view["round"]["turn"])
    assert await told(anna, game_id) == []
    assert await book(olga) == []
    for player in (anna, boris):
        hand = (await player.view(game_id))["you"]["hand"]
        assert json.dumps(hand)[1:-1] not in json.dumps(look)
    assert "option" not in json.dumps(look)


async def test_who_is_still_asked_about_a_discard_is_not_shown(
    world: World, anna: Player, boris: Player, olga: Player
) -> None:
    pace = PACE | {"claim_window_s": 60}
    others = [await Player(boris.http).join("Boris")]
    game_id = await dealt_game(world, anna, *others, pace=pace)
    await asked(game_id, "claim", anna, *others)
    questions = (await olga.sent("GET", f"/v1/admin/games/{game_id}"))["questions"]
    assert [each["seat"] for each in questions if each["kind"] == "claim"] == [None]


async def test_reading_the_log_of_a_running_game_is_told_to_every_seat_and_noted(
    world: World, anna: Player, boris: Player, olga: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    head = (await anna.view(game_id))["version"]
    page = await log_of(olga, game_id)
    assert page["head_version"] == page["next_after"] == head + 1
    assert page["items"][-1]["kind"] == "operator_acted"
    for player in (anna, boris):
        assert await told(player, game_id) == [("operator_acted", "operator", {"what": "log_read"})]
    assert await book(olga) == [("read_log", game_id, None, "")]
    more = await log_of(olga, game_id, after=page["next_after"])
    assert [event["kind"] for event in more["items"]] == ["operator_acted"]


async def test_the_log_has_all_hands_but_neither_the_stock_nor_a_secret_of_the_round_that_is_played(
    world: World, anna: Player, boris: Player, olga: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    drawer, view = await in_turn(game_id, anna, boris)
    await drawer.move(game_id, view["decisions"][0]["decision_id"], {"kind": "draw_stock"})
    page = await log_of(olga, game_id)
    [dealt] = [event["data"] for event in page["items"] if event["kind"] == "round_dealt"]
    hands = [(await player.view(game_id))["you"]["hand"] for player in (anna, boris)]
    assert sorted(map(len, dealt["hands"])) == [min(map(len, hands))] * 2
    assert "stock" not in dealt
    stored = next(each.event for each in world.log.games[game_id] if isinstance(each.event, RoundDealt))
    raw = json.dumps(page)
    assert stored.secret not in raw
    assert json.dumps(stored.stock[1:])[1:-1] not in raw
    assert world.secrets.seeds[game_id].hex() not in raw


async def test_what_happens_after_the_table_was_told_is_not_shown_with_it(
    world: World, anna: Player, boris: Player, olga: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    hot, upto = await operating.read_log(world.house.tables, world.house.desk, olga.player_id, game_id)
    drawer, view = await in_turn(game_id, anna, boris)
    await drawer.move(game_id, view["decisions"][0]["decision_id"], {"kind": "draw_stock"})
    assert hot.version > upto
    shown = operating.render_log(hot, upto, 0, 500, {})
    assert (shown[-1].version, shown[-1].kind) == (upto, "operator_acted")


async def test_the_stock_of_a_round_that_is_over_is_in_the_log(world: World, anna: Player, olga: Player) -> None:
    bots = [{"controller": "bot", "level": "easy"}] * 3
    game_id = (await anna.open_game(seats=bots))["game_id"]
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    await world.tend(game_id)
    head = (await anna.view(game_id))["version"]
    page = await log_of(olga, game_id, limit=500)
    assert [event["data"]["stock"] for event in page["items"] if event["kind"] == "round_dealt"]
    assert page["head_version"] == head  # it is over: nobody is left to be told
    assert await book(olga) == [("read_log", game_id, None, "")]


async def test_nothing_is_shown_where_the_table_cannot_be_told(
    world: World, anna: Player, boris: Player, olga: Player, monkeypatch: pytest.MonkeyPatch
) -> None:
    game_id = await dealt_game(world, anna, boris)

    async def lost(_: Append) -> None:
        raise Unavailable

    monkeypatch.setattr(world.log, "append", lost)
    assert_problem(await olga.call("GET", f"/v1/admin/games/{game_id}/events"), 503, "unavailable")


async def test_a_running_game_is_ended_once_with_a_reason_that_only_operators_see(
    world: World, anna: Player, boris: Player, olga: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    path, why = f"/v1/admin/games/{game_id}/end", {"reason": "Boris has asked for it"}
    first = await olga.call("POST", path, why, idempotency_key="end")
    again = await olga.call("POST", path, why, idempotency_key="end")
    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
    assert first.json()["status"] == "cancelled"
    assert await told(anna, game_id) == [
        ("operator_acted", "operator", {"what": "ended"}),
        ("game_cancelled", "operator", {"reason": "operator"}),
    ]
    assert "asked for it" not in (await anna.call("GET", f"/v1/games/{game_id}/export")).text
    assert await book(olga) == [("end_game", game_id, None, "Boris has asked for it")]
    assert (await anna.view(game_id))["decisions"] == []
    other = await olga.call("POST", path, {"reason": "again"}, idempotency_key="end")
    assert_problem(other, 422, "idempotency_key_reused")
    assert_problem(await olga.call("POST", path, why), 400, "idempotency_key_required")


async def test_a_finished_game_is_not_ended(world: World, anna: Player, olga: Player) -> None:
    game_id = (await anna.open_game(seats=[{"controller": "bot"}] * 2))["game_id"]
    await anna.sent("POST", f"/v1/games/{game_id}/start")
    await world.tend(game_id)
    answer = await olga.call("POST", f"/v1/admin/games/{game_id}/end", {"reason": "too late"}, idempotency_key="end")
    assert_problem(answer, 409, "game_finished")


async def test_a_game_that_stands_still_is_found_and_goes_on_when_it_is_unstuck(
    world: World, clock: Clock, anna: Player, boris: Player, olga: Player
) -> None:
    game_id = await dealt_game(world, anna, boris, pace=PACE)
    await dealt_game(world, boris, anna, pace=PACE | {"turn_s": 3600})
    clock.at += timedelta(seconds=61 + STALLED_S)
    stalled = (await olga.sent("GET", "/v1/admin/games?stalled=true"))["items"]
    assert [(line["game_id"], line["is_stalled"]) for line in stalled] == [(game_id, True)]
    before = (await anna.view(game_id))["version"]
    first = await olga.call("POST", f"/v1/admin/games/{game_id}/unstick", idempotency_key="mend")
    assert first.json()["version"] == before + 1
    kinds = [e["kind"] for e in (await log_of(olga, game_id, after=before))["items"]]
    assert kinds[:2] == ["operator_acted", "turn_warned"]
    again = await olga.call("POST", f"/v1/admin/games/{game_id}/unstick", idempotency_key="mend")
    assert again.json() == first.json()
    assert ("operator_acted", "operator", {"what": "unstuck"}) in await told(boris, game_id)


async def test_lost_work_is_written_anew(world: World, anna: Player, boris: Player, olga: Player) -> None:
    game_id = await dealt_game(world, anna, boris, pace=PACE)
    for place in [place for place in world.log.work if place[0] == game_id]:
        del world.log.work[place]
    look = await olga.sent("GET", f"/v1/admin/games/{game_id}")
    assert (look["is_stalled"], look["work"]) == (True, None)
    await olga.sent("POST", f"/v1/admin/games/{game_id}/unstick")
    look = await olga.sent("GET", f"/v1/admin/games/{game_id}")
    assert look["is_stalled"] is False
    assert look["work"]["kind"] == "warn"


async def test_a_bot_is_seated_for_who_is_away_and_they_come_back(
    world: World, anna: Player, boris: Player, olga: Player
) -> None:
    game_id = await dealt_game(world, anna, boris)
    path = f"/v1/admin/games/{game_id}/seats/1/bot"
    for _ in range(2):
        game = await olga.sent("PUT", path, {"level": "easy"})
        assert (game["seats"][1]["controller"], game["seats"][1]["player_id"]) == ("bot", boris.player_id)
    assert [what["what"] for kind, _, what in await told(anna, game_id) if kind == "operator_acted"] == ["bot_seated"]
    await boris.sent("POST", f"/v1/games/{game_id}/seats/1/reclaim")
    assert_problem(await olga.call("PUT", f"/v1/admin/games/{game_id}/seats/7/bot", {}), 404, "seat_not_found")


async def test_games_and_players_are_searched_page_by_page(anna: Player, boris: Player, olga: Player) -> None:
    mine = [(await anna.open_game(visibility="private"))["game_id"] for _ in range(3)]
    await boris.open_game()
    path = f"/v1/admin/games?player_id={anna.player_id}&status=waiting&limit=2"
    page = await olga.sent("GET", path)
    rest = await olga.sent("GET", f"{path}&cursor={page['next_cursor']}")
    assert [line["game_id"] for line in page["items"] + rest["items"]] == mine[::-1]
    assert rest["next_cursor"] is None
    assert len((await olga.sent("GET", f"/v1/admin/games?game_id={mine[0]}"))["items"]) == 1
    for query in ("game_id=x", "player_id=x", "cursor=x"):
        assert_problem(await olga.call("GET", f"/v1/admin/games?{query}"), 422, "invalid_request")
    found = (await olga.sent("GET", "/v1/admin/players?name=ANN"))["items"]
    assert [player["player_id"] for player in found] == [anna.player_id]
    page = await olga.sent("GET", "/v1/admin/players?limit=2")
    rest = await olga.sent("GET", f"/v1/admin/players?limit=2&cursor={page['next_cursor']}")
    assert len(page["items"] + rest["items"]) == 3
    assert_problem(await olga.call("GET", "/v1/admin/players?cursor=x"), 422, "invalid_request")


async def test_a_suspended_player_is_shut_out_of_everything_until_they_are_let_in(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Olga") as (anna, olga):
        await allow(world, olga, ("operate",))
        game_id = (await anna.open_game())["game_id"]
        path = f"/v1/admin/players/{anna.player_id}/suspension"
        async with aclosing(messages(anna.http, f"/v1/games/{game_id}/stream")) as stream:
            assert (await anext(stream))[0] == "hello"
            shown = await olga.sent("PUT", path, {"reason": "insults"})
            assert shown["suspended_at"] is not None
            await world.house.streams.dismiss_revoked(world.accounts)
            *_, (kind, _, last) = [message async for message in stream]
            assert (kind, last["reason"]) == ("bye", "unauthenticated")
        assert_problem(await anna.call("GET", "/v1/me"), 401, "unauthenticated")
        assert (await olga.sent("DELETE", path))["suspended_at"] is None
        assert (await anna.call("GET", "/v1/me")).status_code == 200
        assert [what for what, *_ in await book(olga)] == ["resume_player", "suspend_player"]


async def test_a_player_is_suspended_once_however_often_it_is_asked_for(anna: Player, olga: Player) -> None:
    path = f"/v1/admin/players/{anna.player_id}/suspension"
    first = await olga.sent("PUT", path, {"reason": "insults"})
    assert await olga.sent("PUT", path, {"reason": "more insults"}) == first
    for _ in range(2):
        assert (await olga.sent("DELETE", path))["suspended_at"] is None
    assert [reason for _, _, _, reason in await book(olga)] == ["", "", "more insults", "insults"]


async def test_all_tokens_of_a_player_are_revoked(anna: Player, boris: Player, olga: Player) -> None:
    assert (await olga.call("DELETE", f"/v1/admin/players/{anna.player_id}/tokens")).status_code == 204
    assert_problem(await anna.call("GET", "/v1/me"), 401, "unauthenticated")
    assert (await boris.call("GET", "/v1/me")).status_code == 200
    assert (await olga.sent("GET", f"/v1/admin/players/{anna.player_id}"))["tokens"] == 0
    assert await book(olga) == [("revoke_tokens", None, anna.player_id, "")]


async def test_what_nobody_knows_is_not_noted(olga: Player) -> None:
    for method, path, body in (
        ("GET", f"/v1/admin/games/{NOBODY}", None),
        ("GET", f"/v1/admin/games/{NOBODY}/events", None),
        ("POST", f"/v1/admin/games/{NOBODY}/end", {"reason": "x"}),
        ("POST", f"/v1/admin/games/{NOBODY}/unstick", None),
        ("PUT", f"/v1/admin/games/{NOBODY}/seats/0/bot", {}),
    ):
        assert_problem(await olga.call(method, path, body, idempotency_key="x"), 404, "game_not_found")
    nobody = "/v1/admin/players/ply_" + "0" * 26
    for method, path, body in (
        ("GET", nobody, None),
        ("DELETE", f"{nobody}/tokens", None),
        ("PUT", f"{nobody}/suspension", {"reason": "x"}),
        ("DELETE", f"{nobody}/suspension", None),
    ):
        assert_problem(await olga.call(method, path, body), 404, "player_not_found")
    assert await book(olga) == []


async def test_the_list_of_deeds_is_read_page_by_page(anna: Player, olga: Player) -> None:
    path = f"/v1/admin/players/{anna.player_id}/suspension"
    for reason in ("one", "two", "three"):
        await olga.sent("PUT", path, {"reason": reason})
    first = await olga.sent("GET", "/v1/admin/audit?limit=2")
    last = await olga.sent("GET", f"/v1/admin/audit?limit=2&cursor={first['next_cursor']}")
    assert [[deed["reason"] for deed in page["items"]] for page in (first, last)] == [["three", "two"], ["one"]]
    assert last["next_cursor"] is None
    for strange in ("0", "x", "-1", "1" * 10, "٣"):
        problem = assert_problem(await olga.call("GET", f"/v1/admin/audit?cursor={strange}"), 422, "invalid_request")
        assert [error["pointer"] for error in problem["errors"]] == ["cursor"]
