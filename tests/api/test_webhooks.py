"""Webhooks as their player handles them: made, tried, changed, given another secret, removed."""

import re
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace
from standardwebhooks.webhooks import WebhookVerificationError

from services.webhooks import TYPES, WEBHOOKS_AT_MOST, UrlRefused, read_target
from tests.api.post import URL, Post, deliveries, webhook
from tests.api.problems import assert_problem
from tests.api.world import AMPLE, Player, World, new_world, players, with_token

_A_DAY = timedelta(days=1)


async def test_a_webhook_is_made_its_secret_shown_once_and_it_is_removed(anna: Player) -> None:
    wish = {"url": URL, "types": ["decision.opened", "game.round_scored"], "description": " my bot "}
    made = await anna.call("POST", "/v1/me/webhooks", wish)
    assert made.status_code == 201
    kept, secret = made.json()["webhook"], made.json()["secret"]
    path = f"/v1/me/webhooks/{kept['webhook_id']}"
    assert made.headers["location"] == path
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret)
    assert (kept["url"], kept["types"], kept["description"]) == (URL, wish["types"], "my bot")
    assert (kept["is_active"], kept["disabled_by"], kept["game_id"]) == (True, None, None)
    listed = await anna.call("GET", "/v1/me/webhooks")
    assert listed.json() == {"items": [kept]}
    assert secret not in listed.text
    assert await anna.sent("GET", path) == kept
    assert (await anna.call("DELETE", path)).status_code == 204
    assert_problem(await anna.call("DELETE", path), 404, "webhook_not_found")
    assert_problem(await anna.call("GET", path), 404, "webhook_not_found")
    assert await anna.sent("GET", "/v1/me/webhooks") == {"items": []}


@pytest.mark.parametrize(
    "url",
    [
        "http://bots.example/",
        "ftp://bots.example/",
        "bots.example",
        "https://",
        "https:///path",
        "https://bots.example:8443/",
        "https://bots.example:99999/",
        "https://anna@bots.example/",
        "https://anna:secret@bots.example/",
        "https://@bots.example/",
        "https://bots.example/#there",
        "https://bots.example/a b",
        "https://bots.example/\r\nHost: other",
        "https://bots.example\\@127.0.0.1/",
        "https://bötschaft.example/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://169.254.169.254/latest",
        "https://[64:ff9b::7f00:1]/",
        "https://[fe80::1%25eth0]/",
        "https://bots.example/" + "a" * 2_000,
    ],
)
async def test_an_address_that_is_not_of_the_public_internet_is_refused(anna: Player, url: str) -> None:
    path, _ = await webhook(anna)
    for answer in (
        await anna.call("POST", "/v1/me/webhooks", {"url": url}),
        await anna.call("PATCH", path, {"url": url}),
    ):
        assert_problem(answer, 422, "invalid_request")
        assert answer.json()["errors"][0]["pointer"] == "/url"
    assert (await anna.sent("GET", path))["url"] == URL


@pytest.mark.parametrize("host", ["localhost", "postgres", "metadata.google.internal", "nobody.example", "2130706433"])
async def test_no_name_is_looked_up_when_a_webhook_is_made_changed_or_tried(
    anna: Player, post: Post, host: str
) -> None:
    """So it takes the same time and has the same answer, whether there is such a name or not."""
    path, _ = await webhook(anna, url=f"https://{host}/")
    assert (await anna.sent("PATCH", path, {"url": f"https://{host}/other"}))["url"] == f"https://{host}/other"
    made = await anna.call("POST", f"{path}/test")
    assert (made.status_code, made.json()["fault"]) == (202, None)
    post.server.answers = ["no_public_address"]
    await post.carry()
    again = await anna.call("POST", f"{path}/deliveries/{made.json()['delivery_id']}/redeliver")
    assert (again.status_code, again.json()["fault"]) == (202, "no_public_address")
    [listed] = await deliveries(anna, path)
    assert (listed["fault"], listed["response_status"]) == ("no_public_address", None)


def test_for_development_any_host_and_port_may_be_named_but_no_user() -> None:
    target = read_target("http://localhost:8080/a?b=c", is_anywhere=True)
    assert (target.is_secure, target.host, target.port, target.path) == (False, "localhost", 8080, "/a?b=c")
    for url in ("ftp://localhost/", "http://anna@localhost/", "http://local host/"):
        with pytest.raises(UrlRefused):
            read_target(url, is_anywhere=True)


@pytest.mark.parametrize(
    ("wish", "pointer"),
    [
        ({"types": ["game.nothing"]}, "/types"),
        ({"types": ["webhook.ping"]}, "/types"),
        ({"game_id": "gam_nothing"}, "/game_id"),
        ({"description": "a\nb"}, "/description"),
        ({"description": "a" * 101}, "/description"),
        ({"secret": "whsec_mine"}, "/secret"),
    ],
)
async def test_what_is_no_wish_is_refused(anna: Player, wish: dict[str, Any], pointer: str) -> None:
    answer = await anna.call("POST", "/v1/me/webhooks", {"url": URL, **wish})
    assert_problem(answer, 422, "invalid_request")
    assert answer.json()["errors"][0]["pointer"].startswith(pointer)


async def test_every_type_of_message_may_be_chosen(anna: Player) -> None:
    path, _ = await webhook(anna, types=[*TYPES, *TYPES[:1]][: len(TYPES)])
    assert (await anna.sent("GET", path))["types"] == list(TYPES)


async def test_a_player_has_so_many_webhooks(anna: Player, boris: Player) -> None:
    [(path, _), *_] = [await webhook(anna) for _ in range(WEBHOOKS_AT_MOST)]
    assert_problem(await anna.call("POST", "/v1/me/webhooks", {"url": URL}), 409, "too_many_webhooks")
    await webhook(boris)
    await anna.call("DELETE", path)
    await webhook(anna)
    meta = await anna.sent("GET", "/v1/meta")
    assert meta["bounds"]["webhooks"] == WEBHOOKS_AT_MOST


async def test_a_webhook_is_its_players_own(anna: Player, boris: Player) -> None:
    path, _ = await webhook(anna)
    for method, there, body in (
        ("GET", path, None),
        ("PATCH", path, {"description": "mine"}),
        ("DELETE", path, None),
        ("POST", f"{path}/rotate", None),
        ("POST", f"{path}/test", None),
        ("GET", f"{path}/deliveries", None),
        ("POST", f"{path}/deliveries/msg_{'0' * 26}/redeliver", None),
        ("GET", "/v1/me/webhooks/nothing", None),
    ):
        assert_problem(await boris.call(method, there, body), 404, "webhook_not_found")
    assert (await boris.sent("GET", "/v1/me/webhooks"))["items"] == []


async def test_a_ping_arrives_signed_and_the_list_tells_how_it_went(anna: Player, post: Post) -> None:
    path, secret = await webhook(anna)
    asked = await anna.call("POST", f"{path}/test")
    assert (asked.status_code, asked.json()["state"], asked.json()["type"]) == (202, "waiting", "webhook.ping")
    await post.carry()
    [received] = post.server.received
    assert received.url == URL
    assert received.headers["webhook-id"] == asked.json()["delivery_id"]
    message = received.verified(secret)
    assert (message["type"], message["data"]) == ("webhook.ping", {"webhook_id": path.rpartition("/")[2]})
    [delivery] = await deliveries(anna, path)
    assert (delivery["state"], delivery["response_status"], delivery["attempts"]) == ("delivered", 200, 1)
    assert delivery["next_attempt_at"] is None
    with pytest.raises(WebhookVerificationError):
        received.verified("whsec_" + "A" * 43 + "=")


async def test_two_secrets_sign_for_a_day_after_a_change(anna: Player, post: Post) -> None:
    path, old = await webhook(anna)
    rotated = await anna.sent("POST", f"{path}/rotate")
    new = rotated["secret"]
    assert rotated["webhook"]["old_secret_until"] is not None
    await anna.sent("POST", f"{path}/test")
    await post.carry()
    [received] = post.server.received
    assert received.headers["webhook-signature"].count("v1,") == 2
    assert received.verified(old) == received.verified(new)
    post.server.taken()
    await anna.sent("POST", f"{path}/test")
    post.later += _A_DAY
    await post.deliver()
    [signature] = [each.headers["webhook-signature"] for each in post.server.received]
    assert " " not in signature


async def test_a_delivery_is_sent_again_under_its_id(anna: Player, post: Post) -> None:
    path, _ = await webhook(anna)
    made = await anna.sent("POST", f"{path}/test")
    await post.carry()
    again = await anna.call("POST", f"{path}/deliveries/{made['delivery_id']}/redeliver")
    assert (again.status_code, again.json()["state"]) == (202, "waiting")
    await post.carry()
    assert [each.headers["webhook-id"] for each in post.server.received] == [made["delivery_id"]] * 2
    for unknown in (f"msg_{'0' * 26}", "nothing"):
        assert_problem(await anna.call("POST", f"{path}/deliveries/{unknown}/redeliver"), 404, "delivery_not_found")


async def test_a_webhook_is_switched_off_and_on(anna: Player, post: Post) -> None:
    path, _ = await webhook(anna)
    made = await anna.sent("POST", f"{path}/test")
    off = await anna.sent("PATCH", path, {"is_active": False})
    assert (off["is_active"], off["disabled_by"]) == (False, "owner")
    await post.carry()
    assert post.server.received == []
    for there in (f"{path}/test", f"{path}/deliveries/{made['delivery_id']}/redeliver"):
        assert_problem(await anna.call("POST", there), 409, "webhook_disabled")
    await anna.sent("PATCH", path, {"is_active": True})
    await post.carry()
    assert len(post.server.received) == 1


async def test_a_player_has_something_sent_only_so_often_whatever_the_token_and_the_webhook() -> None:
    world = new_world(quotas=replace(AMPLE, webhook_tries_per_minute=3))
    async with players(world, "Anna", "Boris") as [anna, boris]:
        path, _ = await webhook(anna)
        made = await anna.sent("POST", f"{path}/test")
        other, _ = await webhook(anna)
        assert (await anna.call("PATCH", other, {"is_active": True})).status_code == 200
        device = await with_token(anna, "play")
        again = f"{path}/deliveries/{made['delivery_id']}/redeliver"
        assert (await device.call("POST", again)).status_code == 202
        for refused in (
            await device.call("POST", again),
            await anna.call("POST", f"{other}/test"),
            await anna.call("PATCH", other, {"is_active": True, "description": "refused"}),
        ):
            assert_problem(refused, 429, "rate_limited")
            assert 1 <= int(refused.headers["retry-after"]) <= 20
            assert refused.headers["ratelimit-policy"] == '"webhook_tries";q=3;w=60'
        kept = await anna.sent("GET", other)
        assert (kept["is_active"], kept["description"]) == (True, "")
        assert len(await deliveries(anna, other)) == 0
        for method, there, change in (("PATCH", other, {"is_active": False}), ("DELETE", other, None)):
            assert (await anna.call(method, there, change)).status_code < 300
        await boris.sent("POST", f"{(await webhook(boris))[0]}/test")
        assert (await anna.sent("GET", "/v1/meta"))["limits"]["webhook_tries_per_minute"] == 3


async def test_deliveries_come_page_by_page(anna: Player, post: Post) -> None:
    path, _ = await webhook(anna)
    made = [(await anna.sent("POST", f"{path}/test"))["delivery_id"] for _ in range(3)]
    page = await anna.sent("GET", f"{path}/deliveries?limit=2")
    assert len(page["items"]) == 2
    rest = await anna.sent("GET", f"{path}/deliveries?limit=2&cursor={page['next_cursor']}")
    assert rest["next_cursor"] is None
    assert sorted(each["delivery_id"] for each in page["items"] + rest["items"]) == sorted(made)
    assert_problem(await anna.call("GET", f"{path}/deliveries?cursor=nothing"), 422, "invalid_request")


async def test_who_is_forgotten_has_no_webhooks(world: World, post: Post) -> None:
    async with players(world, "Dora") as [dora]:
        path, _ = await webhook(dora)
        await dora.sent("POST", f"{path}/test")
        assert (await dora.call("DELETE", "/v1/me")).status_code == 204
        await post.carry()
        assert post.server.received == []
