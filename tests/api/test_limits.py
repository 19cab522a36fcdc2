"""How often one may ask: per token and per address, and what is said about it."""

from contextlib import AsyncExitStack, aclosing
from uuid import UUID

import pytest
from msgspec.structs import replace

from api.limits import neighbourhood
from services.identity import TOKEN_PREFIX
from services.ids import new_uuid
from services.limits import MemoryLimit
from services.ports import KeyedRequest, Principal
from tests.api.listening import guests, messages
from tests.api.problems import assert_problem
from tests.api.world import AMPLE, DAVIS, dealt_game, new_world, players, serving, with_token


async def test_an_address_makes_so_many_guests_and_is_told_when_to_come_back() -> None:
    world = new_world(quotas=replace(AMPLE, guests_per_minute=3))
    async with players(world, "") as [stranger]:
        left = []
        for _ in range(3):
            response = await stranger.call("POST", "/v1/players", {"name": "Anna"})
            assert response.status_code == 201
            assert response.headers["ratelimit-policy"] == '"guests";q=3;w=60'
            left.append(response.headers["ratelimit"].split(";")[1])
        assert left == ["r=2", "r=1", "r=0"]
        refused = await stranger.call("POST", "/v1/players", {"name": "Anna"})
        assert_problem(refused, 429, "rate_limited")
        assert 1 <= int(refused.headers["retry-after"]) <= 20
    assert len(world.accounts.players) == 3


async def test_a_token_may_read_and_change_so_often_and_another_one_is_counted_apart() -> None:
    world = new_world(quotas=replace(AMPLE, reads_per_s=1, reads_burst=5, moves_per_s=1, moves_burst=2))
    async with players(world, "Anna", "Boris") as [anna, boris]:
        answers = [await anna.call("GET", "/v1/me") for _ in range(6)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429]
        assert answers[0].headers["ratelimit-policy"] == '"reads";q=5;w=5'
        assert answers[5].headers["retry-after"] == "1"
        assert answers[5].headers["ratelimit"] == '"reads";r=0;t=1'
        assert (await boris.call("GET", "/v1/me")).status_code == 200
        renamed = [await anna.call("PATCH", "/v1/me", {"name": "Anna"}) for _ in range(3)]
        assert [answer.status_code for answer in renamed] == [200, 200, 429]
        assert (await anna.call("GET", "/v1/meta")).status_code == 200


async def test_an_address_may_guess_tokens_and_look_around_so_often_and_those_known_are_not_held_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = new_world(quotas=replace(AMPLE, strangers_per_s=1, strangers_burst=5))
    async with players(world, "Anna", "") as [anna, stranger]:
        assert (await anna.call("GET", "/v1/me")).headers["ratelimit-policy"].startswith('"reads"')
        guesses = [
            await stranger.call("GET", "/v1/me", authorization=f"Bearer {TOKEN_PREFIX}{number}") for number in range(4)
        ]
        assert [guess.status_code for guess in guesses] == [401] * 4
        assert guesses[0].headers["ratelimit-policy"] == '"strangers";q=5;w=5'
        looked_up: list[bytes] = []
        principal = world.accounts.principal

        async def noted(token_hash: bytes) -> Principal | None:
            looked_up.append(token_hash)
            return await principal(token_hash)

        monkeypatch.setattr(world.accounts, "principal", noted)
        for refused in (
            await stranger.call("GET", "/v1/me", authorization=f"Bearer {TOKEN_PREFIX}4"),
            await stranger.call("GET", "/v1/me"),
            await stranger.call("GET", "/v1/rulesets"),
            await stranger.call("POST", "/v1/rulesets/validate", {"ruleset": "davis"}),
            await stranger.call("GET", "/openapi.json"),
        ):
            assert_problem(refused, 429, "rate_limited")
            assert refused.headers["retry-after"] == "1"
        assert looked_up == []
        assert (await stranger.call("GET", "/health/live")).status_code == 200
        assert (await anna.call("GET", "/v1/me")).status_code == 200
        world.house.callers.forget()
        assert (await anna.call("GET", "/v1/me")).status_code == 200


async def test_what_remains_is_said_with_a_refusal_too() -> None:
    async with players(new_world(quotas=replace(AMPLE, reads_burst=50, reads_per_s=1)), "Anna") as [anna]:
        missing = await anna.call("GET", f"/v1/games/gam_{'0' * 26}")
        assert_problem(missing, 404, "game_not_found")
        assert missing.headers["ratelimit"].startswith('"reads";r=49;')


async def test_what_costs_more_counts_more() -> None:
    world = new_world(quotas=replace(AMPLE, reads_per_s=1, reads_burst=100))
    async with players(world, "Anna", "Boris") as [anna, boris]:
        game_id = await dealt_game(world, anna, boris)
        move = {"decision_id": "draw-1-0", "move": {"kind": "draw_stock"}}

        async def cost(method: str, path: str, body: object = None) -> int:
            left = [
                int((await anna.call(*request)).headers["ratelimit"].split(";")[1][2:])
                for request in (("GET", "/v1/me"), (method, path, body))
            ]
            return left[0] - left[1]

        game = f"/v1/games/{game_id}"
        assert await cost("GET", f"{game}/view") == 1
        assert await cost("GET", f"{game}/view?at_version=3") == 10
        assert await cost("GET", f"{game}/view?at%5Fversion=3") == 10
        assert await cost("GET", f"{game}/export") == 10
        assert await cost("GET", f"{game}/hint") == 10
        assert await cost("POST", f"{game}/moves/validate", move) == 10
        assert await cost("GET", f"{game}/rounds/1/fairness") == 10
        assert await cost("GET", f"{game}/replay") == 10


async def test_a_player_has_so_many_unfinished_games() -> None:
    world = new_world(quotas=replace(AMPLE, games_unfinished=2))
    async with players(world, "Anna", "Boris") as [anna, boris]:
        first = await anna.open_game()
        second = await anna.sent("POST", "/v1/games", DAVIS, idempotency_key="second")
        assert_problem(await anna.call("POST", "/v1/games", DAVIS, idempotency_key="third"), 409, "too_many_games")
        again = await anna.call("POST", "/v1/games", DAVIS, idempotency_key="second")
        assert (again.status_code, again.json()) == (201, second)
        await boris.open_game()
        await with_token(anna, "play", "watch")
        assert_problem(await anna.call("POST", "/v1/games", DAVIS, idempotency_key="third"), 409, "too_many_games")
        await anna.sent("POST", f"/v1/games/{first['game_id']}/cancel")
        await anna.sent("POST", "/v1/games", DAVIS, idempotency_key="third")
        assert_problem(await anna.call("POST", "/v1/games", DAVIS, idempotency_key="fourth"), 409, "too_many_games")


@pytest.mark.parametrize(("age_s", "status"), [(0, 409), (300, 201)], ids=["being opened", "never opened"])
async def test_a_game_that_is_just_being_opened_counts(age_s: int, status: int) -> None:
    world = new_world(quotas=replace(AMPLE, games_unfinished=2))
    async with players(world, "Anna") as [anna]:
        new_id = UUID(int=new_uuid().int - (age_s * 1000 << 80))
        under_way = KeyedRequest(anna.player_id, "createGame", "under way", b"")
        assert await world.house.reservations.reserve(under_way, new_id) == (new_id, b"")
        await anna.open_game()
        third = await anna.call("POST", "/v1/games", DAVIS, idempotency_key="third")
        assert third.status_code == status


@pytest.mark.parametrize("changed", [{"streams_per_token": 2}, {"streams_per_address": 2}])
async def test_a_token_and_an_address_have_so_many_streams(changed: dict[str, int]) -> None:
    world = new_world(quotas=replace(AMPLE, **changed))
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Boris") as (anna, boris):
        path = f"/v1/games/{await dealt_game(world, anna, boris)}/stream"
        async with AsyncExitStack() as opened:
            streams = [await opened.enter_async_context(aclosing(messages(anna.http, path))) for _ in range(2)]
            for stream in streams:
                assert (await anext(stream))[0] == "hello"
            refused = await anna.call("GET", path)
            assert_problem(refused, 429, "too_many_streams")
            assert refused.headers["retry-after"] == "5"
            if "streams_per_address" in changed:
                assert_problem(await boris.call("GET", path), 429, "too_many_streams")
            assert world.house.streams.count == 2
        async with aclosing(messages(boris.http, path)) as stream:
            assert (await anext(stream))[0] == "hello"


async def test_the_limits_are_listed() -> None:
    async with players(new_world(quotas=replace(AMPLE, moves_per_s=7)), "") as [stranger]:
        limits = (await stranger.sent("GET", "/v1/meta"))["limits"]
    assert limits["moves_per_s"] == 7
    assert set(limits) == set(AMPLE.__struct_encode_fields__)


async def test_a_quota_refills_evenly() -> None:
    now = [0.0]
    limit = MemoryLimit(quota=4, window_s=60, clock=lambda: now[0])
    assert [(await limit.take("a")).passes for _ in range(5)] == [True] * 4 + [False]
    assert (await limit.take("b")).passes
    now[0] = 15.0
    assert [(await limit.take("a")).passes for _ in range(2)] == [True, False]
    now[0] = 1_000.0
    assert (await limit.take("a")).remaining == 3


@pytest.mark.parametrize(
    ("address", "counted_as"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", "::ffff:203.0.113.7"),
        ("", ""),
    ],
)
def test_a_client_with_many_addresses_counts_once(address: str, counted_as: str) -> None:
    assert neighbourhood(address) == counted_as
