"""Deliveries for webhooks, made from the log on Postgres: once, whoever leads, and none is missed."""

import asyncio
import os

import asyncpg
import pytest
from msgspec.structs import replace

from domain.commands import Pace, SeatPlan
from domain.presets import preset
from infra.postgres.announcing import leading_announcer
from infra.settings import Settings
from infra.wiring import Services, open_services
from services.announcing import Announcer
from services.delivering import AT_ONCE, Claimed, Failed
from services.games import NewGame, open_game, take_seat
from services.handouts import HandOuts
from services.ids import new_uuid, public_id, uuid_of
from services.memory import MemoryJobs
from services.ports import KeyedRequest, Principal, Unavailable
from services.tables import Tables
from services.webhooks import NewWebhook, Webhook
from tests.engines import eventually

SECRET = bytes(range(100, 132))


async def player(services: Services) -> Principal:
    player_id = public_id("ply", new_uuid())
    await services.accounts.add_guest(player_id, "Anna", os.urandom(32), ["play"])
    return Principal(player_id, "Anna", ("play",))


async def webhook(services: Services, owner: Principal) -> Webhook:
    new = NewWebhook(public_id("whk", new_uuid()), owner.player_id, "https://anna.example/", (), None, "")
    kept = await services.webhooks.add(new, SECRET, 9)
    assert kept is not None
    return kept


async def opened(services: Services, owner: Principal) -> str:
    """Opens a game where the owner and nobody else sits."""
    seats = (SeatPlan("human", owner.player_id), SeatPlan("open"))
    new = NewGame(preset("davis"), Pace(), seats, "public", "public")
    request = KeyedRequest(owner.player_id, "createGame", os.urandom(8).hex(), b"")
    hot, _ = await open_game(Tables(services.log), services.secrets, services.reservations, owner, new, request, 20)
    return hot.game.game_id


async def versions(services: Services, kept: Webhook, game_id: str) -> list[int]:
    found = await services.webhooks.deliveries(kept.webhook_id, None, 100)
    return sorted(each.version or 0 for each in found if each.game_id == game_id)


async def announce(announcer: Announcer) -> None:
    while await announcer.step():
        pass


async def test_of_two_announcers_one_goes_on_and_nothing_is_made_twice(
    services: Services, own_settings: Settings, owner: asyncpg.Connection
) -> None:
    anna, boris = await player(services), await player(services)
    kept = await webhook(services, anna)
    hand_outs = HandOuts(MemoryJobs())
    async with leading_announcer(own_settings.database_url) as log:
        first = Announcer(log, hand_outs)
        game_id = await opened(services, anna)
        await announce(first)
        before = await versions(services, kept, game_id)
        assert before == list(range(1, len(await services.log.read(game_id)) + 1))
        await owner.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'shanghai announcer'"
        )
        async with leading_announcer(own_settings.database_url) as other:
            await take_seat(Tables(services.log), boris, game_id, 1)
            await announce(Announcer(other, hand_outs))
            with pytest.raises(Unavailable):
                await first.step()
    assert await versions(services, kept, game_id) == [*before, before[-1] + 1]


async def test_an_announcer_that_was_superseded_saves_nothing(
    services: Services, own_settings: Settings, owner: asyncpg.Connection
) -> None:
    anna = await player(services)
    kept = await webhook(services, anna)
    async with leading_announcer(own_settings.database_url) as log:
        game_id = await opened(services, anna)
        await owner.execute("UPDATE webhook_place SET epoch = epoch + 1")
        with pytest.raises(Unavailable):
            await announce(Announcer(log, HandOuts(MemoryJobs())))
    assert await versions(services, kept, game_id) == []


async def test_who_begins_to_listen_while_others_write_for_long_misses_nothing(
    services: Services, own_settings: Settings, owner: asyncpg.Connection
) -> None:
    """Also not what an earlier transaction writes later."""
    await owner.execute("DELETE FROM webhook")
    anna = await player(services)
    known, late = await opened(services, anna), public_id("gam", new_uuid())
    async with leading_announcer(own_settings.database_url) as log:
        announcer = Announcer(log, HandOuts(MemoryJobs()))
        async with owner.transaction():
            await owner.fetchval("SELECT pg_current_xact_id()")
            await opened(services, await player(services))
            await announce(announcer)
            kept = await webhook(services, anna)
            soon = await opened(services, anna)
            await announce(announcer)
            assert await versions(services, kept, soon) == []  # something may still come before it
            await owner.execute(_COPIED, uuid_of("gam", late), uuid_of("gam", known))
        await announce(announcer)
    for game_id in (soon, late):
        assert await versions(services, kept, game_id) == list(range(1, len(await services.log.read(game_id)) + 1))


_COPIED = """
INSERT INTO event (game_id, version, type, schema, actor, round, ordinal, command_id, payload)
SELECT $1, version, type, schema, actor, round, ordinal, command_id, payload FROM event WHERE game_id = $2
"""


async def test_a_place_of_another_cluster_is_left_for_the_present(
    services: Services, own_settings: Settings, owner: asyncpg.Connection
) -> None:
    anna = await player(services)
    kept = await webhook(services, anna)
    await owner.execute("UPDATE webhook_place SET xid = '1000000000000'")
    async with leading_announcer(own_settings.database_url) as log:
        game_id = await opened(services, anna)
        await announce(Announcer(log, HandOuts(MemoryJobs())))
    assert await versions(services, kept, game_id) == list(range(1, len(await services.log.read(game_id)) + 1))


async def test_a_secret_stands_encrypted_and_opens_with_its_key_only(
    services: Services, own_settings: Settings, owner: asyncpg.Connection
) -> None:
    kept = await webhook(services, await player(services))
    await services.webhooks.rotate(kept.player_id, kept.webhook_id, bytes(32), 60)
    for row in await owner.fetch("SELECT secret, old_secret FROM webhook WHERE old_secret IS NOT NULL"):
        assert SECRET not in row["old_secret"]
        assert bytes(32) not in row["secret"]
    for expected, key in ((2, own_settings.secret_key), (0, bytes(32))):
        await services.webhooks.ping(kept.webhook_id, public_id("msg", new_uuid()))
        async with open_services(replace(own_settings, secret_key=key)) as others:
            [claimed] = await others.deliveries.claim(kept.webhook_id, AT_ONCE)
        assert len(claimed.secrets) == expected


async def test_two_who_claim_at_the_very_same_moment_share_nothing(
    services: Services, owner: asyncpg.Connection
) -> None:
    kept = await webhook(services, await player(services))
    await services.webhooks.ping(kept.webhook_id, public_id("msg", new_uuid()))
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND state = 'active'"
    async with owner.transaction():  # holds the row, so that both come to it together
        await owner.execute("SELECT FROM webhook_delivery FOR UPDATE")
        both = [asyncio.create_task(services.deliveries.claim(kept.webhook_id, AT_ONCE)) for _ in range(2)]
        await eventually(lambda: _come_to(both, owner, waiting))
    claims = [*await asyncio.gather(*both), await services.deliveries.claim(kept.webhook_id, AT_ONCE)]
    assert sum(map(len, claims)) == 1


async def _come_to(tasks: list[asyncio.Task[list[Claimed]]], owner: asyncpg.Connection, waiting: str) -> bool:
    return all(task.done() for task in tasks) or await owner.fetchval(waiting) == len(tasks)


async def test_a_webhook_that_has_failed_for_days_is_switched_off(
    services: Services, owner: asyncpg.Connection
) -> None:
    kept = await webhook(services, await player(services))
    failure = Failed(None, "timeout", 0.0)
    for since, disabled in (("2 days", None), ("4 days", "failing")):
        await services.webhooks.ping(kept.webhook_id, public_id("msg", new_uuid()))
        await owner.execute(f"UPDATE webhook SET failing_since = now() - interval '{since}', resume_at = '-infinity'")
        claimed = await services.deliveries.claim(kept.webhook_id, AT_ONCE)
        await services.deliveries.settle(claimed[0], failure)
        found = await services.webhooks.find(kept.player_id, kept.webhook_id)
        assert found is not None
        assert found.disabled == disabled
