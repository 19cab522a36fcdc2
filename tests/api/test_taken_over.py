"""An account that somebody else has had a token of: what ends with tokens, and what its player has afterwards."""

from contextlib import aclosing

import pytest

from services.identity import GUEST_SCOPES
from services.operating import give_token
from tests.api.listening import guests, messages
from tests.api.post import URL, Post, webhook
from tests.api.problems import assert_problem
from tests.api.scopes import allow
from tests.api.world import Json, Player, World, serving


async def test_who_has_taken_an_account_over_is_sent_nothing_more(
    world: World, anna: Player, clara: Player, post: Post
) -> None:
    await allow(world, clara, ("operate",))
    path, _ = await webhook(anna)
    await anna.sent("POST", f"{path}/test")
    await clara.call("DELETE", f"/v1/admin/players/{anna.player_id}/tokens")
    await post.carry()
    assert post.server.received == []
    secret = await give_token(world.house.desk, world.accounts, "terminal", anna.player_id, GUEST_SCOPES)
    anna.http.headers["authorization"] = f"Bearer {secret}"
    found = await anna.sent("GET", path)
    assert (found["is_active"], found["disabled_by"]) == (False, "revoked")
    assert_problem(await anna.call("POST", f"{path}/test"), 409, "webhook_disabled")
    found = await anna.sent("PATCH", path, {"is_active": True})
    assert (found["is_active"], found["disabled_by"]) == (True, None)
    await post.carry()
    assert [each.message["type"] for each in post.server.received] == ["webhook.ping"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/me/webhooks", {"url": URL}),
        ("PATCH", "", {"is_active": True, "url": "https://thief.example/"}),
        ("POST", "/rotate", None),
    ],
)
async def test_a_token_that_was_ended_elsewhere_a_moment_ago_changes_no_webhook(
    world: World, anna: Player, post: Post, method: str, path: str, body: Json | None
) -> None:
    there, _ = await webhook(anna)
    await world.house.desk.revoke_all(
        anna.player_id
    )  # by another process: this one knows the token for two seconds more
    refused = await anna.call(method, path if path.startswith("/v1") else there + path, body)
    assert_problem(refused, 401, "unauthenticated")
    [kept] = await world.webhooks.owned(anna.player_id)
    assert (kept.url, kept.disabled, kept.old_secret_until) == (URL, "revoked", None)


async def test_open_streams_of_all_that_a_token_has_made_end_with_it(world: World) -> None:
    async with serving(world) as (_, base_url), guests(base_url, "Anna", "Anna") as (anna, device):
        bot = await anna.sent("POST", "/v1/me/tokens", {"scopes": ["play", "watch"]})
        device.http.headers["authorization"] = f"Bearer {bot['token']}"
        made = await device.sent("POST", "/v1/me/tokens", {"scopes": ["watch"]})
        device.http.headers["authorization"] = f"Bearer {made['token']}"
        path = f"/v1/games/{(await anna.open_game())['game_id']}/stream"
        async with aclosing(messages(device.http, path)) as told:
            assert (await anext(told))[0] == "hello"
            assert (await anna.call("DELETE", f"/v1/me/tokens/{bot['token_id']}")).status_code == 204
            *_, (kind, _, last) = [message async for message in told]
            assert (kind, last["reason"]) == ("bye", "unauthenticated")
        assert [each["is_current"] for each in (await anna.sent("GET", "/v1/me/tokens"))["items"]] == [True]


async def test_who_changes_to_another_token_keeps_it_and_who_signs_out_leaves_the_others(anna: Player) -> None:
    [first] = (await anna.sent("GET", "/v1/me/tokens"))["items"]
    made = await anna.sent("POST", "/v1/me/tokens", {"scopes": ["play", "watch"]})
    for _ in range(2):
        anna.http.headers["authorization"] = f"Bearer {made['token']}"
        assert (await anna.call("DELETE", f"/v1/me/tokens/{first['token_id']}")).status_code == 204
        first, made = made, await anna.sent("POST", "/v1/me/tokens", {"scopes": ["play", "watch"]})
    assert (await anna.call("DELETE", f"/v1/me/tokens/{first['token_id']}")).status_code == 204
    anna.http.headers["authorization"] = f"Bearer {made['token']}"
    assert len((await anna.sent("GET", "/v1/me/tokens"))["items"]) == 1
