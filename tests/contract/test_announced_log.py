"""The log as its announcer reads it, and the deliveries that it makes and clears away."""

import asyncio

import pytest
from msgspec.structs import replace

from services.announcing import NewDelivery
from services.webhooks import DECISION_OPENED, WebhookChange
from tests.appends import append, new_game
from tests.contract.conftest import World
from tests.contract.hooks import NOW, kept, listed, told


async def test_what_is_told_twice_is_made_once(world: World) -> None:
    made, game_id = await kept(world), new_game()
    for _ in range(2):
        await told(world, made, game_id, 1, 2)
        await told(world, made, game_id, 2, is_decision=True)
    assert sorted((each.version, each.type) for each in await listed(world, made)) == [
        (1, "game.card_drawn"), (2, DECISION_OPENED), (2, "game.card_drawn"),
    ]  # fmt: skip


async def test_a_webhook_that_is_too_far_behind_is_switched_off(world: World) -> None:
    made, other = await kept(world), await kept(world)
    await told(world, made, new_game(), *range(1, 42))
    await told(world, other, new_game(), *range(1, 41))
    assert await world.announced.disable_behind(40) == [made.webhook_id]
    assert await world.announced.disable_behind(40) == []
    found = await world.webhooks.find(made.player_id, made.webhook_id)
    assert found is not None
    assert found.disabled == "behind"


async def test_old_deliveries_are_removed_some_at_a_time(world: World) -> None:
    made = await kept(world)
    await told(world, made, new_game(), 1, 2, 3)
    assert await world.announced.forget_old(3600, 100) == 0
    await asyncio.sleep(0.01)
    assert await world.announced.forget_old(0, 2) == 2
    while await world.announced.forget_old(0, 100):
        pass
    assert await listed(world, made) == []


async def test_the_log_is_read_in_order_from_any_place(world: World) -> None:
    made = await kept(world)
    barrier, is_wanted = await world.announced.barrier()
    assert is_wanted
    game_id = new_game()
    await world.log.append(append(game_id, 0))
    await world.log.append(append(game_id, 1))
    batch, place = await world.announced.batch(barrier, 1)
    assert [each.version for each in batch] == [1]
    rest, place = await world.announced.batch(place, 100)
    assert [each.version for each in rest] == [2]
    assert (await world.announced.batch(place, 100))[0] == []
    assert await world.announced.beginning(game_id, 2) == batch
    assert [each.webhook_id for each in await world.announced.listeners([made.player_id])] == [made.webhook_id]
    await world.webhooks.change(made.player_id, made.webhook_id, WebhookChange(is_active=False))
    assert await world.announced.listeners([made.player_id]) == []


@pytest.mark.parametrize("is_decision", [False, True])
def test_a_delivery_has_its_id_for_ever(is_decision: bool) -> None:
    one = NewDelivery("whk_a", "gam_a", 5, is_decision, "x", NOW)
    later = replace(one, version=6)
    assert one.delivery_id == replace(one).delivery_id
    assert one.delivery_id < later.delivery_id
    assert one.delivery_id != replace(one, webhook_id="whk_b").delivery_id
