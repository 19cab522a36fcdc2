"""Webhooks of a player's own, what they are told, and what is claimed of it."""

import os
from datetime import UTC, datetime

from services.announcing import NewDelivery
from services.delivering import AT_ONCE, Claimed
from services.ids import new_uuid, public_id
from services.webhooks import DECISION_OPENED, Delivery, NewWebhook, Webhook
from tests.appends import new_game
from tests.contract.conftest import World

SECRET = bytes(range(32))
NOW = datetime.now(UTC)


async def player(world: World) -> str:
    """Adds a player."""
    player_id = public_id("ply", new_uuid())
    await world.accounts.add_guest(player_id, "Anna", os.urandom(32), ["play"])
    return player_id


def new(player_id: str, url: str = "https://anna.example/") -> NewWebhook:
    """Makes a webhook that is not kept yet."""
    types = ("decision.opened", "game.card_drawn")
    return NewWebhook(public_id("whk", new_uuid()), player_id, url, types, new_game(), "Anna's")


async def kept(world: World, player_id: str | None = None) -> Webhook:
    """Keeps a webhook."""
    webhook = await world.webhooks.add(new(player_id or await player(world)), SECRET, 9)
    assert webhook is not None
    return webhook


async def told(world: World, webhook: Webhook, game_id: str, *versions: int, is_decision: bool = False) -> None:
    """Makes a delivery for each of these versions."""
    type_ = DECISION_OPENED if is_decision else "game.card_drawn"
    await world.announced.save(
        [NewDelivery(webhook.webhook_id, game_id, version, is_decision, type_, NOW) for version in versions], (0, 0)
    )


async def claim(world: World, webhook: Webhook) -> list[Claimed]:
    """Takes what is to be sent now."""
    return await world.deliveries.claim(webhook.webhook_id, AT_ONCE)


async def versions(world: World, webhook: Webhook) -> list[int | None]:
    """Takes what is to be sent now, and gives its versions."""
    return [each.version for each in await claim(world, webhook)]


async def listed(world: World, webhook: Webhook) -> list[Delivery]:
    """Lists what the player is shown of it."""
    return await world.webhooks.deliveries(webhook.webhook_id, None, 100)
