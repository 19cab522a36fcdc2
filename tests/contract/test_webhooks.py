"""Webhooks: kept for their player, and every delivery claimed by one, in order, until it is settled."""

import asyncio
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from services.delivering import OVERTAKEN_AFTER, Claimed, Dropped, Failed, Postponed, Sent
from services.ids import new_uuid, public_id
from services.webhooks import DECISION_OPENED, PING, Delivery, WebhookChange
from tests.appends import new_game
from tests.contract.conftest import World
from tests.contract.hooks import SECRET, claim, kept, listed, new, player, told

OTHER = bytes(32)
REFUSED = Failed(500, "refused", 0.0, is_webhooks=False)


async def test_a_webhook_is_found_as_it_was_made_by_its_player_only(world: World) -> None:
    anna, boris = await player(world), await player(world)
    wanted = new(anna)
    made = await world.webhooks.add(wanted, SECRET, 9)
    assert made is not None
    assert (made.url, made.types, made.game_id, made.description) == (
        wanted.url, wanted.types, wanted.game_id, "Anna's",
    )  # fmt: skip
    assert (made.player_id, made.disabled, made.failing_since, made.old_secret_until) == (anna, None, None, None)
    assert await world.webhooks.find(anna, made.webhook_id) == made
    assert await world.webhooks.owned(anna) == [made]
    assert await world.webhooks.owned(boris) == []
    assert await world.webhooks.find(boris, made.webhook_id) is None
    assert await world.webhooks.change(boris, made.webhook_id, WebhookChange(url="https://boris.example")) is None
    assert await world.webhooks.rotate(boris, made.webhook_id, OTHER, 60) is None
    assert not await world.webhooks.remove(boris, made.webhook_id)
    assert await world.webhooks.find(anna, made.webhook_id) == made


async def test_a_player_has_so_many_webhooks_and_nobody_has_none(world: World) -> None:
    anna = await player(world)
    added = await asyncio.gather(*(world.webhooks.add(new(anna), SECRET, 2) for _ in range(5)))
    assert sum(each is not None for each in added) == len(await world.webhooks.owned(anna)) == 2
    assert await world.webhooks.add(new(public_id("ply", new_uuid())), SECRET, 2) is None


async def test_a_webhook_is_changed_where_it_is_to_be(world: World) -> None:
    made = await kept(world)
    other = await world.webhooks.change(made.player_id, made.webhook_id, WebhookChange(types=(), description="x"))
    assert other == replace(made, types=(), description="x")
    off = await world.webhooks.change(made.player_id, made.webhook_id, WebhookChange(is_active=False))
    assert off == replace(other, disabled="owner")
    on = await world.webhooks.change(
        made.player_id, made.webhook_id, WebhookChange(url="https://b.example", is_active=True)
    )
    assert on == replace(other, url="https://b.example")


async def test_a_removed_webhook_and_those_of_a_forgotten_player_are_sent_nothing(world: World) -> None:
    first = await kept(world)
    second = await kept(world, first.player_id)
    for each in (first, second):
        await told(world, each, new_game(), 1)
    assert await world.webhooks.remove(first.player_id, first.webhook_id)
    assert not await world.webhooks.remove(first.player_id, first.webhook_id)
    assert await claim(world, first) == []
    await world.accounts.forget(first.player_id)
    assert await world.webhooks.owned(first.player_id) == []
    assert await claim(world, second) == []
    assert second.webhook_id not in await world.announced.due(1_000)


async def test_a_claim_has_everything_that_sending_needs(world: World) -> None:
    made, game_id = await kept(world), new_game()
    await told(world, made, game_id, 7, is_decision=True)
    [claimed] = await claim(world, made)
    [delivery] = await listed(world, made)
    assert claimed == Claimed(
        delivery_id=delivery.delivery_id,
        webhook_id=made.webhook_id,
        player_id=made.player_id,
        url=made.url,
        secrets=(SECRET,),
        type=DECISION_OPENED,
        game_id=game_id,
        version=7,
        attempt=1,
        created_at=delivery.created_at,
    )


async def test_the_secret_before_signs_too_for_a_while(world: World) -> None:
    made = await kept(world)
    rotated = await world.webhooks.rotate(made.player_id, made.webhook_id, OTHER, 60)
    assert rotated is not None
    assert rotated.old_secret_until is not None
    assert abs(rotated.old_secret_until - datetime.now(UTC) - timedelta(seconds=60)) < timedelta(seconds=10)
    await world.webhooks.ping(made.webhook_id, public_id("msg", new_uuid()))
    assert [each.secrets for each in await claim(world, made)] == [(OTHER, SECRET)]
    await world.webhooks.rotate(made.player_id, made.webhook_id, SECRET, 0)
    await world.webhooks.ping(made.webhook_id, public_id("msg", new_uuid()))
    assert [each.secrets for each in await claim(world, made)] == [(SECRET,)]


async def test_a_ping_is_sent_at_once_and_to_be_seen(world: World) -> None:
    made = await kept(world)
    delivery_id = public_id("msg", new_uuid())
    ping = await world.webhooks.ping(made.webhook_id, delivery_id)
    assert (ping.delivery_id, ping.type, ping.game_id, ping.version, ping.state, ping.attempts) == (
        delivery_id, PING, None, None, "waiting", 0,
    )  # fmt: skip
    [claimed] = await claim(world, made)
    await world.deliveries.settle(claimed, Sent(204))
    [listed_] = await listed(world, made)
    assert (listed_.state, listed_.attempts, listed_.status, listed_.fault) == ("delivered", 1, 204, None)
    assert listed_.attempted_at is not None


async def test_a_game_is_told_in_order_and_games_beside_each_other(world: World) -> None:
    made, one, other = await kept(world), new_game(), new_game()
    await told(world, made, one, 2, is_decision=True)
    await told(world, made, one, 3, 2)
    await told(world, made, other, 9)
    first = await claim(world, made)
    assert {(each.game_id, each.version, each.type) for each in first} == {
        (one, 2, "game.card_drawn"), (other, 9, "game.card_drawn"),
    }  # fmt: skip
    assert await claim(world, made) == []
    for each in first:
        await world.deliveries.settle(each, Sent(200))
    [second] = await claim(world, made)
    assert (second.version, second.type) == (2, DECISION_OPENED)
    await world.deliveries.settle(second, Dropped())
    [third] = await claim(world, made)
    assert third.version == 3
    await world.deliveries.settle(third, Sent(200))
    assert await claim(world, made) == []
    assert [each.state for each in await listed(world, made)].count("dropped") == 1


async def test_one_delivery_is_claimed_by_one(world: World) -> None:
    made = await kept(world)
    await told(world, made, new_game(), 1)
    claimed = await asyncio.gather(*(claim(world, made) for _ in range(8)))
    assert sum(map(len, claimed)) == 1


async def test_a_delivery_that_fails_is_overtaken_after_a_few_attempts(world: World) -> None:
    made, game_id = await kept(world), new_game()
    await told(world, made, game_id, 1, 2)
    for _ in range(OVERTAKEN_AFTER):
        [claimed] = await claim(world, made)
        assert claimed.version == 1
        assert await claim(world, made) == []  # however often it was tried: it may arrive just now
        await world.deliveries.settle(claimed, REFUSED)
    assert sorted(each.version or 0 for each in await claim(world, made)) == [1, 2]


async def test_an_attempt_is_settled_once_and_not_by_an_earlier_one(world: World) -> None:
    made = await kept(world)
    await told(world, made, new_game(), 1)
    [first] = await claim(world, made)
    await world.deliveries.settle(first, REFUSED)
    [second] = await claim(world, made)
    assert second.attempt == 2
    await world.deliveries.settle(first, Sent(200))
    assert [each.state for each in await listed(world, made)] == ["waiting"]
    await world.deliveries.settle(second, Sent(200))
    await world.deliveries.settle(second, REFUSED)
    assert [(each.state, each.attempts) for each in await listed(world, made)] == [("delivered", 2)]


async def test_a_failed_attempt_is_told_and_repeated_when_its_time_has_come(world: World) -> None:
    made = await kept(world)
    await told(world, made, new_game(), 1)
    [claimed] = await claim(world, made)
    await world.deliveries.settle(claimed, Failed(503, "refused", 60.0, is_webhooks=False))
    assert await claim(world, made) == []
    [delivery] = await listed(world, made)
    assert (delivery.state, delivery.status, delivery.fault) == ("waiting", 503, "refused")
    assert abs(delivery.due_at - datetime.now(UTC) - timedelta(seconds=60)) < timedelta(seconds=10)
    again = await world.webhooks.send_again(made.webhook_id, delivery.delivery_id)
    assert again is not None
    assert (again.delivery_id, again.state, again.attempts) == (delivery.delivery_id, "waiting", 0)
    [claimed] = await claim(world, made)
    await world.deliveries.settle(claimed, Failed(None, "timeout", None, is_webhooks=False))
    assert [(each.state, each.fault) for each in await listed(world, made)] == [("failed", "timeout")]
    assert await claim(world, made) == []


async def test_a_postponed_delivery_was_not_sent(world: World) -> None:
    made = await kept(world)
    await told(world, made, new_game(), 1)
    [claimed] = await claim(world, made)
    await world.deliveries.settle(claimed, Postponed(60.0))
    assert [(each.state, each.attempts) for each in await listed(world, made)] == [("waiting", 0)]
    assert await claim(world, made) == []


async def test_a_webhook_that_fails_is_left_alone_for_a_while(world: World) -> None:
    made = await kept(world)
    for _ in range(2):
        await told(world, made, new_game(), 1)
    assert made.webhook_id in await world.announced.due(1_000)
    one, other = await claim(world, made)
    await world.deliveries.settle(one, Failed(None, "unreachable", 0.0))
    await world.deliveries.settle(other, Failed(None, "unreachable", 0.0))
    assert await claim(world, made) == []
    assert made.webhook_id not in await world.announced.due(1_000)
    found = await world.webhooks.find(made.player_id, made.webhook_id)
    assert found is not None
    assert found.failing_since is not None
    assert found.disabled is None
    on = await world.webhooks.change(made.player_id, made.webhook_id, WebhookChange(is_active=True))
    assert on == made
    one, _ = await claim(world, made)
    await world.deliveries.settle(one, Sent(200))
    assert await world.webhooks.find(made.player_id, made.webhook_id) == made


async def test_the_answer_410_switches_a_webhook_off(world: World) -> None:
    made = await kept(world)
    await told(world, made, new_game(), 1)
    [claimed] = await claim(world, made)
    await world.deliveries.settle(claimed, Failed(410, "refused", None))
    found = await world.webhooks.find(made.player_id, made.webhook_id)
    assert found is not None
    assert found.disabled == "gone"
    await told(world, made, new_game(), 1)
    assert await claim(world, made) == []
    await world.webhooks.change(made.player_id, made.webhook_id, WebhookChange(is_active=True))
    assert len(await claim(world, made)) == 1


async def test_deliveries_are_listed_page_by_page_the_newest_first(world: World) -> None:
    made, other = await kept(world), await kept(world)
    await told(world, made, new_game(), *range(1, 8))
    await told(world, other, new_game(), 1)
    seen: list[Delivery] = []
    while page := await world.webhooks.deliveries(made.webhook_id, seen[-1].delivery_id if seen else None, 3):
        seen += page
    assert [each.version for each in seen] == [7, 6, 5, 4, 3, 2, 1]
    assert await world.webhooks.send_again(other.webhook_id, seen[0].delivery_id) is None


async def test_who_has_switched_a_webhook_off_themselves_is_told_so_whatever_is_answered_then(world: World) -> None:
    made = await kept(world)
    await told(world, made, new_game(), 1)
    [claimed] = await claim(world, made)
    await world.webhooks.change(made.player_id, made.webhook_id, WebhookChange(is_active=False))
    await world.deliveries.settle(claimed, Failed(410, "refused", None))
    [found] = await world.webhooks.owned(made.player_id)
    assert found.disabled == "owner"
