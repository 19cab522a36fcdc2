"""What is counted before it is added waits for whoever adds to it at this moment, in whatever process."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeVar

import asyncpg
import pytest

from infra.settings import Settings
from infra.sql import statements
from infra.wiring import Services, open_services
from services.ids import new_uuid, public_id, uuid_of
from services.invites import NewInvite, new_code
from services.ports import KeyedRequest

T = TypeVar("T")


@pytest.fixture
async def services(settings: Settings) -> AsyncIterator[Services]:
    async with open_services(settings) as services:
        yield services


async def while_adding(outsider: asyncpg.Connection, asked: Coroutine[Any, Any, T], added: str, *values: Any) -> T:
    """Gives the answer to who asks while another process has added and not committed yet."""
    async with outsider.transaction():
        assert "INSERT" in added
        await outsider.execute(added, *values)
        asking = asyncio.create_task(asked)
        while not asking.done() and not await outsider.fetch("SELECT FROM pg_locks WHERE NOT granted"):
            await asyncio.wait({asking}, timeout=0.01)
    return await asking


async def test_a_game_waits_for_the_one_before_to_be_counted(services: Services, outsider: asyncpg.Connection) -> None:
    anna = public_id("ply", new_uuid())
    adding = (statements("accounts")["reserve_game"], anna, "createGame", "one", b"", new_uuid(), 1)
    for operation, opener, is_kept in (("rematch", anna, False), ("createGame", public_id("ply", new_uuid()), True)):
        request = KeyedRequest(opener, operation, "another", b"")
        asked = services.reservations.reserve_game(request, new_uuid(), 1)
        assert (await while_adding(outsider, asked, *adding) is not None) == is_kept


async def test_an_invite_waits_for_the_one_before_to_be_counted(
    services: Services, outsider: asyncpg.Connection
) -> None:
    anna, game_id = public_id("ply", new_uuid()), public_id("gam", new_uuid())
    kept = (new_uuid(), new_code(), uuid_of("gam", game_id), None, False, uuid_of("ply", anna), 60.0, 1)
    wanted = NewInvite(new_code(), game_id, None, False, anna, 60)
    asked = services.invites.keep(new_uuid(), wanted, 1)
    assert await while_adding(outsider, asked, statements("invites")["keep"], *kept) is None
