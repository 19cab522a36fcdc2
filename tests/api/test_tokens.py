"""Who may ask: tokens and their scopes, and every operation for everybody who might call it."""

import re
from contextlib import aclosing
from datetime import timedelta
from typing import Any

import httpx
import pytest

from api.cors import allowing
from api.house import Callers
from api.messages import is_stream
from api.operation import Operation
from api.operations import OPERATIONS
from api.wording import EXAMPLES
from services.identity import GRANTED_BY, GUEST_SCOPES, TOKENS_AT_MOST, create_guest
from services.memory import utc_now
from services.ports import Principal
from tests.api.listening import guests, messages
from tests.api.problems import assert_problem
from tests.api.scopes import allow
from tests.api.world import DAVIS, Player, World, dealt_game, new_world, players, serving, with_token

NAMES = ("Anna", "Boris", "")


async def test_a_player_takes_another_name(anna: Player, boris: Player) -> None:
    game_id = (await anna.open_game())["game_id"]
    me = await anna.sent("PATCH", "/v1/me", {"name": " Anna Maria "})
    assert me == {"player_id": anna.player_id, "name": "Anna Maria", "scopes": ["play", "watch"]}
    assert (await anna.sent("GET", "/v1/me"))["name"] == "Anna Maria"
    assert (await boris.sent("GET", f"/v1/games/{game_id}"))["seats"][0]["name"] == "Anna Maria"
    assert_problem(await anna.call("PATCH", "/v1/me", {"name": "An\nna"}), 422, "invalid_request")


async def test_a_token_is_made_shown_once_listed_and_revoked(world: World, anna: Player, boris: Player) -> None:
    wish = {"scopes": ["watch", "bot"], "label": "my bot", "valid_s": 3600}
    made = await anna.call("POST", "/v1/me/tokens", wish)
    assert made.status_code == 201
    token = made.json()
    assert made.headers["location"] == f"/v1/me/tokens/{token['token_id']}"
    secret = token.pop("token")
    first, second = (await anna.sent("GET", "/v1/me/tokens"))["items"]
    assert second == {**token, "is_current": False}
    assert (first["is_current"], first["scopes"], first["expires_at"]) == (True, ["play", "watch"], None)
    assert secret not in str(world.accounts.kept)
    async with players(world, "") as [bot]:
        bot.http.headers["authorization"] = f"Bearer {secret}"
        assert await bot.sent("GET", "/v1/me") == {
            "player_id": anna.player_id, "name": "Anna", "scopes": ["watch", "bot"],
        }  # fmt: skip
        path = f"/v1/me/tokens/{token['token_id']}"
        assert_problem(await boris.call("DELETE", path), 404, "token_not_found")
        assert_problem(await anna.call("DELETE", "/v1/me/tokens/nonsense"), 404, "token_not_found")
        for _ in range(2):
            assert (await anna.call("DELETE", path)).status_code == 204
        assert_problem(await bot.call("GET", "/v1/me"), 401, "unauthenticated")
    assert len((await anna.sent("GET", "/v1/me/tokens"))["items"]) == 1


@pytest.mark.parametrize("scopes", [["operate"], ["watch", "operate"]])
async def test_a_token_hands_on_only_what_it_has(anna: Player, scopes: list[str]) -> None:
    assert_problem(await anna.call("POST", "/v1/me/tokens", {"scopes": scopes}), 403, "scope_not_owned")


@pytest.mark.parametrize("wish", [{"scopes": []}, {"scopes": ["god"]}, {"scopes": ["play"], "valid_s": 59}])
async def test_a_token_outside_the_bounds_is_not_made(anna: Player, wish: dict[str, Any]) -> None:
    assert_problem(await anna.call("POST", "/v1/me/tokens", wish), 422, "invalid_request")


async def test_a_token_expires_and_those_that_it_has_made_with_it(world: World, anna: Player) -> None:
    anna = await with_token(anna, "play", "watch", valid_s=60)
    anna = await with_token(anna, "play", "watch", valid_s=6000)
    assert (await anna.call("GET", "/v1/me")).status_code == 200
    world.accounts.now = lambda: utc_now() + timedelta(seconds=61)
    world.house.callers.forget()
    assert_problem(await anna.call("GET", "/v1/me"), 401, "unauthenticated")


async def test_what_a_player_changes_has_no_other_player_looked_up_anew(
    anna: Player, boris: Player, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_up: list[str] = []
    principal = world.accounts.principal

    async def noted(token_hash: bytes) -> Principal | None:
        found = await principal(token_hash)
        looked_up.append(found.name if found else "")
        return found

    for player in (anna, boris):
        await player.sent("GET", "/v1/me")
    monkeypatch.setattr(world.accounts, "principal", noted)
    await anna.sent("PATCH", "/v1/me", {"name": "Annie"})
    for player in (boris, anna, boris):
        await player.sent("GET", "/v1/me")
    assert looked_up == ["Annie"]


async def test_who_was_being_looked_up_while_their_token_was_revoked_is_looked_up_again(world: World) -> None:
    token = (await create_guest(world.accounts, "Anna")).token
    callers, principal = Callers(world.accounts), world.accounts.principal

    async def overtaken(token_hash: bytes) -> Principal | None:
        found = await principal(token_hash)
        assert found is not None
        await world.accounts.revoke(found.player_id, found.token_id)
        callers.forget(found.player_id)
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world.accounts, "principal", overtaken)
        assert await callers.find(token) is not None
    assert await callers.find(token) is None


async def test_a_player_has_so_many_tokens(anna: Player) -> None:
    token = await anna.sent("POST", "/v1/me/tokens", {"scopes": ["watch"]})
    for _ in range(TOKENS_AT_MOST - 2):
        await anna.sent("POST", "/v1/me/tokens", {"scopes": ["watch"]})
    assert_problem(await anna.call("POST", "/v1/me/tokens", {"scopes": ["watch"]}), 409, "too_many_tokens")
    await anna.call("DELETE", f"/v1/me/tokens/{token['token_id']}")
    await anna.sent("POST", "/v1/me/tokens", {"scopes": ["watch"]})


async def test_a_bot_plays_with_its_own_token(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    anna, boris = await with_token(anna, "bot", "watch"), await with_token(boris, "bot", "watch")
    for player in (anna, boris):
        if (await player.view(game_id))["decisions"]:
            await player.answer(game_id)
    assert_problem(await anna.call("POST", "/v1/games", DAVIS, idempotency_key="k"), 403, "insufficient_scope")
    assert_problem(await anna.call("POST", "/v1/me/tokens", {"scopes": ["bot"]}), 403, "insufficient_scope")


@pytest.mark.parametrize("is_elsewhere", [False, True])
async def test_the_streams_of_a_revoked_token_end_and_no_others(world: World, is_elsewhere: bool) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Anna") as (anna, device):
        game_id = (await anna.open_game())["game_id"]
        made = await anna.sent("POST", "/v1/me/tokens", {"scopes": ["watch"]})
        device.http.headers["authorization"] = f"Bearer {made['token']}"
        path = f"/v1/games/{game_id}/stream"
        async with aclosing(messages(anna.http, path)) as own, aclosing(messages(device.http, path)) as others:
            assert (await anext(own))[0] == (await anext(others))[0] == "hello"
            if is_elsewhere:
                await world.accounts.revoke(anna.player_id, made["token_id"])
                await world.house.streams.dismiss_revoked(world.accounts)
            else:
                assert (await anna.call("DELETE", f"/v1/me/tokens/{made['token_id']}")).status_code == 204
            *_, (kind, _, last) = [message async for message in others]
            assert (kind, last["reason"]) == ("bye", "unauthenticated")
            assert world.house.streams.count == 1


SCOPES = tuple(GRANTED_BY)


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.id)
async def test_each_operation_knows_who_may_ask(operation: Operation) -> None:
    """Nobody, somebody unknown, one without the scope, another player and the right one are told apart."""
    world = new_world()
    async with players(world, *NAMES) as [anna, boris, nobody]:
        token_id = await allow(world, anna, SCOPES)
        await allow(world, boris, SCOPES)
        game_id = (await anna.open_game(seats=[YOU, BOT], visibility="private"))["game_id"]
        await anna.sent("POST", f"/v1/games/{game_id}/start")
        await world.tend(game_id)
        player_id = boris.player_id if operation.scope == "operate" else anna.player_id  # who asks last is not shut out
        parts = {"game_id": game_id, "player_id": player_id, "token_id": token_id, "seat": "0", "round": "1"}
        request = request_of(operation, {"name": "davis", **parts})
        if not operation.types.has_caller:
            for authorization in ("", "Bearer shg_nobody"):
                answer = await nobody.call(*request, authorization=authorization)
                assert code_of(answer) != "unauthenticated"
            return
        assert_problem(await nobody.call(*request, idempotency_key="a"), 401, "unauthenticated")
        unknown = await nobody.call(*request, authorization="Bearer shg_nobody", idempotency_key="a")
        assert_problem(unknown, 401, "unauthenticated")
        assert operation.scope is not None
        for scope in SCOPES:
            if scope not in GRANTED_BY[operation.scope]:
                await allow(world, anna, (scope,))
                refused = await anna.call(*request, idempotency_key="b")
                assert_problem(refused, 403, "insufficient_scope")
        other = await boris.call(*request, idempotency_key="c")
        if "{game_id}" in operation.path and operation.scope != "operate":
            assert_problem(other, 404, "game_not_found")
        if "{token_id}" in operation.path:
            assert_problem(other, 404, "token_not_found")
        await allow(world, anna, tuple(GRANTED_BY[operation.scope])[:1])
        right = await anna.call(*request, idempotency_key="d")
        assert right.status_code < 500
        assert code_of(right) not in {"unauthenticated", "insufficient_scope", "game_not_found", "token_not_found"}


YOU, BOT = {"controller": "you"}, {"controller": "bot", "level": "easy"}


def request_of(operation: Operation, parts: dict[str, str]) -> tuple[str, str, Any]:
    """Is a request of the operation; of a stream one that is refused for its query, or it would never end."""
    path = re.sub(r"\{(\w+)\}", lambda found: parts.get(found[1], f"{found[1]}-nobody-has"), operation.path)
    query = "?after=2147483647" if is_stream(operation.types.shown) else ""
    body = EXAMPLES.get(operation.id)
    if body and "player_id" in body:
        body = {**body, "player_id": parts["player_id"]}
    return operation.method, path + query, body


def code_of(answer: httpx.Response) -> str:
    is_problem = answer.headers.get("content-type") == "application/problem+json"
    return str(answer.json()["code"]) if is_problem else ""


def test_guests_may_play_and_watch() -> None:
    assert set(GUEST_SCOPES) == {"play", "watch"}


ASKS = {"origin": "https://cards.example", "access-control-request-method": "POST"}


def browser(world: World, origins: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app=allowing(world.app, origins)), base_url="http://shanghai"
    )


@pytest.mark.parametrize("path", ["/v1/games", f"/v1/games/gam_{'0' * 26}/moves", "/v1/me", "/nowhere"])
async def test_a_website_that_is_named_may_call_every_path(world: World, path: str) -> None:
    async with browser(world, "https://a.example, https://cards.example/") as http:
        answer = await http.options(path, headers=ASKS)
        assert (answer.status_code, answer.content) == (204, b"")
        assert answer.headers["access-control-allow-origin"] == "https://cards.example"
        assert {"PATCH", "DELETE"} <= set(answer.headers["access-control-allow-methods"].split(", "))
        assert {"Authorization", "Idempotency-Key"} <= set(answer.headers["access-control-allow-headers"].split(", "))
        refused = await http.get(path, headers={"origin": "https://cards.example"})
        assert refused.status_code >= 400
        exposed = set(refused.headers["access-control-expose-headers"].split(", "))
        assert {"Date", "ETag", "Location", "RateLimit", "Retry-After", "X-Request-ID"} <= exposed
        assert refused.headers["vary"] == "Origin"
        assert "access-control-allow-credentials" not in refused.headers


@pytest.mark.parametrize(
    ("origins", "told"), [("", None), ("https://a.example", None), ("https://cards.example.evil", None), ("*", "*")]
)
async def test_other_websites_are_told_nothing(world: World, origins: str, told: str | None) -> None:
    async with browser(world, origins) as http:
        for answer in (await http.options("/v1/games", headers=ASKS), await http.get("/v1/meta", headers=ASKS)):
            assert answer.headers.get("access-control-allow-origin") == told
            assert answer.status_code in (200, 204)


async def test_a_bot_needs_to_watch_as_well(world: World, anna: Player, boris: Player) -> None:
    game_id = await dealt_game(world, anna, boris)
    for scopes, status in ((["bot"], 403), (["play"], 403), (["bot", "watch"], 200)):
        made = await anna.sent("POST", "/v1/me/tokens", {"scopes": scopes})
        async with players(world, "") as [bot]:
            bot.http.headers["authorization"] = f"Bearer {made['token']}"
            assert (await bot.call("GET", f"/v1/games/{game_id}/view")).status_code == status
            assert (await bot.call("GET", f"/v1/games/{game_id}/decisions")).status_code == 200
