"""Who is suspended is told nothing by any way, and nothing that happens meanwhile."""

import pytest

from services.identity import TokenOver, create_guest, mint_token, who_is
from services.operating import revoke_tokens
from tests.appends import new_game
from tests.contract.conftest import World
from tests.contract.test_webhooks import kept, told, versions


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


async def test_a_token_that_was_ended_makes_no_other_one_where_it_is_still_known(world: World) -> None:
    guest = await create_guest(world.accounts, "Anna")
    principal = await who_is(world.accounts, guest.token)
    assert principal is not None
    await revoke_tokens(world.desk, "operator", guest.player_id)
    with pytest.raises(TokenOver):
        await mint_token(world.accounts, principal, ["play"], "", None)
