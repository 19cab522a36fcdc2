"""A player who is forgotten at the very moment at which something is made for them."""

import asyncio

import asyncpg

from infra.settings import Settings
from infra.wiring import open_services
from services.identity import create_guest, who_is
from services.ids import uuid_of
from services.stream_tickets import Opens, make_ticket
from tests.engines import eventually

WAITING = """
    SELECT count(*) FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%INSERT INTO stream_ticket%'
"""


async def test_no_ticket_is_made_for_a_token_that_goes_meanwhile(
    settings: Settings, outsider: asyncpg.Connection
) -> None:
    async with open_services(settings) as services:
        guest = await create_guest(services.accounts, "Anna")
        principal = await who_is(services.accounts, guest.token)
        assert principal is not None
        async with outsider.transaction():
            await outsider.execute("DELETE FROM player WHERE player_id = $1", uuid_of("ply", guest.player_id))
            made = asyncio.create_task(make_ticket(services.stream_tickets, principal, Opens(None, with_view=False)))

            async def is_waiting() -> bool:
                return made.done() or await outsider.fetchval(WAITING) == 1

            await eventually(is_waiting)
        assert await made is None
