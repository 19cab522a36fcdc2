"""Quick match: a player says what they want to play and is seated with others who want the same."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from services.operating import end_game
from services.tickets import UNSEEN_S
from tests.api.problems import assert_problem
from tests.api.world import AMPLE, Clock, Json, Player, World, new_world, players

TICKETS = "/v1/matchmaking/tickets"
TWO = {"ruleset": "davis", "players": {"min": 2, "max": 2}}


async def ask(player: Player, **changes: Any) -> Json:
    return await player.sent("POST", TICKETS, TWO | changes)


async def read(player: Player, ticket: Json) -> Json:
    return await player.sent("GET", f"{TICKETS}/{ticket['ticket_id']}")


async def test_two_who_want_the_same_play_at_once(world: World, anna: Player, boris: Player, clara: Player) -> None:
    annas = await ask(anna)
    assert (annas["status"], annas["game_id"], annas["waited_s"]) == ("waiting", None, 0)
    assert annas["pace"] == {"claim_window_s": 5, "turn_s": 60, "bot_delay_ms": 700, "claims": "early"}
    await world.match()
    assert (await read(anna, annas))["status"] == "waiting"
    borises = await ask(boris)
    await world.match()
    told = [await read(player, ticket) for player, ticket in ((anna, annas), (boris, borises))]
    [game_id] = {ticket["game_id"] for ticket in told}
    assert {ticket["status"] for ticket in told} == {"matched"}
    game = await clara.sent("GET", f"/v1/games/{game_id}")
    assert (game["status"], game["visibility"]) == ("playing", "public")
    assert [seat["player_id"] for seat in game["seats"]] == [anna.player_id, boris.player_id]
    await world.tend(game_id)
    assert len((await boris.view(game_id))["you"]["hand"]) == 11
    events = (await clara.sent("GET", f"/v1/games/{game_id}/events"))["items"]
    assert [event["kind"] for event in events[:4]] == ["game_opened", "seat_changed", "seat_changed", "game_started"]
    assert {event["actor"] for event in events[:4]} == {"table"}
    assert game_id in [each["game_id"] for each in (await anna.sent("GET", "/v1/games?mine=true"))["items"]]
    before = len(world.log.games)
    await world.match()
    assert len(world.log.games) == before


async def test_a_repeated_request_has_the_same_answer_though_the_game_has_begun(
    world: World, anna: Player, boris: Player
) -> None:
    made = await anna.call("POST", TICKETS, TWO, idempotency_key="once")
    assert (made.status_code, made.headers["location"]) == (201, f"{TICKETS}/{made.json()['ticket_id']}")
    assert (await anna.call("POST", TICKETS, TWO, idempotency_key="once")).json() == made.json()
    await ask(boris)
    await world.match()
    again = await anna.call("POST", TICKETS, TWO, idempotency_key="once")
    assert (again.json(), again.headers["idempotency-replayed"]) == (made.json(), "true")
    other = await anna.call("POST", TICKETS, {"ruleset": "jokers"}, idempotency_key="once")
    assert_problem(other, 422, "idempotency_key_reused")
    assert len((await anna.sent("GET", TICKETS))["items"]) == 1


async def test_a_player_waits_once_for_each_ruleset(anna: Player) -> None:
    first = await ask(anna)
    assert_problem(await anna.call("POST", TICKETS, TWO, idempotency_key="x"), 409, "already_waiting")
    second = await ask(anna, ruleset="jokers")
    listed = (await anna.sent("GET", TICKETS))["items"]
    assert {ticket["ticket_id"] for ticket in listed} == {first["ticket_id"], second["ticket_id"]}
    assert (await anna.call("DELETE", f"{TICKETS}/{first['ticket_id']}")).status_code == 204
    assert (await anna.call("POST", TICKETS, TWO, idempotency_key="x")).status_code == 201


async def test_a_ticket_is_given_back_until_it_has_its_game(world: World, anna: Player, boris: Player) -> None:
    ticket = await ask(anna)
    path = f"{TICKETS}/{ticket['ticket_id']}"
    for player, method, wrong in ((boris, "GET", path), (boris, "DELETE", path), (anna, "GET", f"{TICKETS}/x")):
        assert_problem(await player.call(method, wrong), 404, "ticket_not_found")
    for _ in range(2):
        assert (await anna.call("DELETE", path)).status_code == 204
    await ask(boris)
    await world.match()
    assert (await read(anna, ticket))["status"] == "cancelled"
    ticket = await ask(anna)
    await world.match()
    assert_problem(await anna.call("DELETE", f"{TICKETS}/{ticket['ticket_id']}"), 409, "already_matched")


async def test_to_its_player_a_ticket_waits_until_its_game_is_there(world: World, anna: Player, boris: Player) -> None:
    ticket, other = await ask(anna), await ask(boris)
    game_id = "gam_" + "0" * 26
    await world.house.tickets.seat(game_id, [ticket["ticket_id"], other["ticket_id"]], 2)
    shown = await read(anna, ticket)
    assert (shown["status"], shown["game_id"]) == ("waiting", None)
    assert_problem(await anna.call("DELETE", f"{TICKETS}/{ticket['ticket_id']}"), 409, "already_matched")
    await world.match()
    assert (await read(anna, ticket))["game_id"] == game_id
    assert (await anna.sent("GET", f"/v1/games/{game_id}"))["you"] == 0


async def test_bots_fill_the_table_of_who_has_waited(world: World, clock: Clock, anna: Player) -> None:
    world.log.now = clock
    ticket = await ask(anna, players={"min": 4, "max": 5}, bots_after_s=60)
    clock.at += timedelta(seconds=59)
    await world.match()
    assert (await read(anna, ticket)) == ticket | {"waited_s": 59}
    clock.at += timedelta(seconds=1)
    await world.match()
    told = await read(anna, ticket)
    clock.at += timedelta(seconds=500)
    assert (told["status"], told["waited_s"]) == ("matched", 60)
    assert await read(anna, ticket) == told
    seats = (await anna.sent("GET", f"/v1/games/{told['game_id']}"))["seats"]
    assert [(seat["controller"], seat["level"]) for seat in seats] == [("human", None), *[("bot", "normal")] * 3]


async def test_who_asks_no_more_waits_no_more(world: World, clock: Clock, anna: Player, boris: Player) -> None:
    world.log.now = clock
    annas, borises = await ask(anna), await ask(boris, players={"min": 3, "max": 3})
    for _ in range(2):
        clock.at += timedelta(seconds=UNSEEN_S - 1)
        await read(anna, annas)
        await world.match()
    assert (await read(anna, annas))["status"] == "waiting"
    assert (await read(boris, borises))["status"] == "expired"


@pytest.mark.parametrize("how", ["revoked", "forgotten"])
async def test_nobody_is_seated_whose_token_has_ended(world: World, anna: Player, boris: Player, how: str) -> None:
    ticket = await ask(anna)
    if how == "forgotten":
        await anna.call("DELETE", "/v1/me")
    else:
        [token] = (await anna.sent("GET", "/v1/me/tokens"))["items"]
        await anna.call("DELETE", f"/v1/me/tokens/{token['token_id']}")
    await ask(boris)
    await world.match()
    assert world.log.games == {}
    found = await world.house.tickets.find(ticket["ticket_id"], anna.player_id)
    assert found is not None
    assert found.state == "expired"


@pytest.mark.parametrize(
    "wish",
    [
        {"ruleset": "whist"},
        {"players": {"min": 3, "max": 2}},
        {"players": {"min": 2, "max": 9}},
        {"players": {"min": 1, "max": 2}},
        {"bots_after_s": -1},
        {"bots_after_s": 3601},
        {"pace_class": "slow"},
        {"pace": {"claim_window_s": 3600, "turn_s": 60}},
    ],
)
async def test_what_cannot_be_played_is_refused(anna: Player, wish: Json) -> None:
    assert_problem(await anna.call("POST", TICKETS, TWO | wish, idempotency_key="k"), 422, "invalid_request")
    assert (await anna.sent("GET", TICKETS))["items"] == []


async def test_a_pace_of_ones_own_goes_before_the_class(world: World, anna: Player, boris: Player) -> None:
    pace = {"claim_window_s": 0, "turn_s": 3600, "bot_delay_ms": 0, "claims": "early"}
    assert (await ask(anna, pace=pace))["pace"] == pace
    slow = await ask(anna, ruleset="jokers", pace_class="correspondence")
    assert (slow["pace"]["turn_s"], slow["pace"]["claim_window_s"]) == (3 * 24 * 3600, 12 * 3600)
    await ask(boris)
    await world.match()
    assert world.log.games == {}


async def test_quick_match_gives_no_more_games_than_one_may_open() -> None:
    world = new_world(quotas=replace(AMPLE, games_unfinished=2))
    async with players(world, "Anna") as [anna]:
        tickets = []
        for _ in range(2):
            tickets.append(await ask(anna, bots_after_s=0))
            await world.match()
        assert_problem(await anna.call("POST", TICKETS, TWO, idempotency_key="third"), 409, "too_many_games")
        await end_game(world.house.tables, world.house.desk, "op", (await read(anna, tickets[0]))["game_id"], "", None)
        assert (await anna.call("POST", TICKETS, TWO, idempotency_key="third")).status_code == 201


async def test_a_ruleset_that_is_played_no_more_lets_its_tickets_expire(world: World, anna: Player) -> None:
    """Also where the table was seated already, by the version of the program before."""
    ticket = await ask(anna)
    kept = world.house.tickets.kept[ticket["ticket_id"]]  # type: ignore[attr-defined]
    kept.wanted = replace(kept.wanted, ruleset="whist")
    await world.match()
    assert (await read(anna, ticket))["status"] == "expired"
    kept.state = "waiting"
    await world.house.tickets.seat("gam_" + "0" * 26, [ticket["ticket_id"]], 2)
    await world.match()
    assert (await read(anna, ticket))["status"] == "expired"
    assert world.log.games == {}
