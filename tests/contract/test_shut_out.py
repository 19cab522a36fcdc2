"""Who is suspended is told nothing by any way, and nothing that happens meanwhile."""

import asyncio
from contextlib import suppress

import pytest
from msgspec.structs import replace

from services.identity import TokenOver, create_guest, mint_token, who_is
from services.operating import revoke_tokens
from services.stream_tickets import Opens, make_ticket, whose_ticket
from services.webhooks import WebhookChange
from tests.appends import new_game
from tests.contract.conftest import World
from tests.contract.hooks import kept, new, told, versions


async def test_nothing_is_sent_to_the_webhooks_of_a_suspended_player(world: World) -> None:
    webhook, game_id = await kept(world), new_game()
    await told(world, webhook, game_id, 1)
    await world.desk.suspend(webhook.player_id, is_suspended=True)
    assert await versions(world, webhook) == []
    assert webhook.webhook_id not in await world.announced.due(1_000)
    assert await world.announced.listeners([webhook.player_id]) == []
    await world.desk.suspend(webhook.player_id, is_suspended=False)
    assert webhook.webhook_id in await world.announced.due(1_000)
    assert [each.webhook_id for each in await world.announced.listeners([webhook.player_id])] == [webhook.webhook_id]
    assert await versions(world, webhook) == [1]


async def test_no_ticket_opens_a_stream_while_its_player_is_suspended(world: World) -> None:
    guest = await create_guest(world.accounts, "Anna")
    principal = await who_is(world.accounts, guest.token)
    assert principal is not None
    opens = Opens(None, with_view=False)
    made = await make_ticket(world.stream_tickets, principal, opens)
    assert made is not None
    await world.desk.suspend(guest.player_id, is_suspended=True)
    assert await whose_ticket(world.stream_tickets, made[0], opens) is None
    assert await make_ticket(world.stream_tickets, principal, opens) is None
    await world.desk.suspend(guest.player_id, is_suspended=False)
    assert await whose_ticket(world.stream_tickets, made[0], opens) is not None


async def test_who_has_no_token_any_more_has_no_webhook_that_sends_until_it_is_switched_on_again(world: World) -> None:
    webhook, game_id = await kept(world), new_game()
    other = await kept(world)
    off = await kept(world, webhook.player_id)
    await world.webhooks.change(off.player_id, off.webhook_id, WebhookChange(is_active=False))
    await told(world, webhook, game_id, 1)
    await world.desk.revoke_all(webhook.player_id)
    assert [each.disabled for each in await world.webhooks.owned(webhook.player_id)] == ["revoked", "revoked"]
    assert [each.disabled for each in await world.webhooks.owned(other.player_id)] == [None]
    assert await versions(world, webhook) == []
    assert await world.announced.listeners([webhook.player_id]) == []
    await world.webhooks.change(webhook.player_id, webhook.webhook_id, WebhookChange(is_active=True))
    assert await versions(world, webhook) == [1]


async def test_of_all_that_an_account_does_while_its_tokens_are_ended_nothing_outlives_them(world: World) -> None:
    guest = await create_guest(world.accounts, "Anna")
    principal = await who_is(world.accounts, guest.token)
    assert principal is not None

    async def mint() -> None:
        with suppress(TokenOver):
            await mint_token(world.accounts, principal, ["play"], "", None)

    async def make_webhook() -> None:
        await world.webhooks.add(replace(new(guest.player_id), asked_by=principal.token_id), bytes(32), 50)

    tries = [each() for _ in range(12) for each in (mint, make_webhook)]
    await asyncio.gather(*tries[:12], revoke_tokens(world.desk, "operator", guest.player_id), *tries[12:])
    assert await world.accounts.tokens(guest.player_id) == []
    assert {each.disabled for each in await world.webhooks.owned(guest.player_id)} <= {"revoked"}


async def test_a_token_that_was_ended_makes_no_other_one_where_it_is_still_known(world: World) -> None:
    guest = await create_guest(world.accounts, "Anna")
    principal = await who_is(world.accounts, guest.token)
    assert principal is not None
    await revoke_tokens(world.desk, "operator", guest.player_id)
    with pytest.raises(TokenOver):
        await mint_token(world.accounts, principal, ["play"], "", None)
