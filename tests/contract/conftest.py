"""Every port twice: its twin in memory and its adapter over a real engine."""

from collections.abc import AsyncIterator

import pytest
from msgspec import Struct

from infra.settings import Settings
from infra.wiring import open_services
from services.invites import Invites
from services.memory import MemoryAccounts, MemoryInvites, MemoryLog, MemoryReservations, MemorySecrets, MemoryWorkList
from services.memory_desk import MemoryDesk
from services.operating import OperatorDesk
from services.ports import Accounts, GameLog, Reservations, Secrets, WorkList
from tests.engines import anyio_backend, engines, settings

__all__ = ["anyio_backend", "engines", "settings", "world"]


class World(Struct, frozen=True, kw_only=True):
    """The ports under test."""

    log: GameLog
    secrets: Secrets
    accounts: Accounts
    reservations: Reservations
    invites: Invites
    work: WorkList
    desk: OperatorDesk


@pytest.fixture(params=["memory", "postgres"])
async def world(request: pytest.FixtureRequest, settings: Settings) -> AsyncIterator[World]:
    if request.param == "memory":
        log, accounts = MemoryLog(), MemoryAccounts()
        yield World(
            log=log,
            secrets=MemorySecrets(),
            accounts=accounts,
            reservations=MemoryReservations(),
            invites=MemoryInvites(),
            work=MemoryWorkList(log),
            desk=MemoryDesk(log, accounts),
        )
        return
    async with open_services(settings, connections=20) as services:
        yield World(
            log=services.log,
            secrets=services.secrets,
            accounts=services.accounts,
            reservations=services.reservations,
            invites=services.invites,
            work=services.work,
            desk=services.desk,
        )
