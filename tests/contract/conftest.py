"""Every port twice: its twin in memory and its adapter over a real engine."""

from collections.abc import AsyncIterator

import pytest
from msgspec import Struct

from infra.postgres.announcing import leading_announcer
from infra.settings import Settings
from infra.wiring import open_services
from services.announcing import AnnouncedLog
from services.delivering import Deliveries
from services.invites import Invites
from services.memory import MemoryLog, MemorySecrets, MemoryWorkList
from services.memory_accounts import MemoryAccounts, MemoryInvites, MemoryReservations
from services.memory_announcing import MemoryAnnouncedLog
from services.memory_desk import MemoryDesk
from services.memory_lobby import MemoryTickets
from services.memory_streams import MemoryOrder, MemoryStreamTickets
from services.memory_webhooks import MemoryWebhooks
from services.operating import OperatorDesk
from services.order import LogOrder
from services.ports import Accounts, GameLog, Reservations, Secrets, WorkList
from services.stream_tickets import StreamTickets
from services.tickets import Tickets
from services.webhooks import Webhooks
from tests.engines import anyio_backend, engines, settings

__all__ = ["anyio_backend", "engines", "settings", "world"]


class World(Struct, frozen=True, kw_only=True):
    """The ports under test."""

    log: GameLog
    secrets: Secrets
    accounts: Accounts
    reservations: Reservations
    invites: Invites
    tickets: Tickets
    stream_tickets: StreamTickets
    order: LogOrder
    work: WorkList
    desk: OperatorDesk
    webhooks: Webhooks
    deliveries: Deliveries
    announced: AnnouncedLog


@pytest.fixture(params=["memory", "postgres"])
async def world(request: pytest.FixtureRequest, settings: Settings) -> AsyncIterator[World]:
    if request.param == "memory":
        log, accounts = MemoryLog(), MemoryAccounts()
        webhooks = MemoryWebhooks(accounts)
        yield World(
            log=log,
            secrets=MemorySecrets(),
            accounts=accounts,
            reservations=MemoryReservations(),
            invites=MemoryInvites(),
            tickets=MemoryTickets(),
            stream_tickets=MemoryStreamTickets(accounts),
            order=MemoryOrder(log),
            work=MemoryWorkList(log),
            desk=MemoryDesk(log, accounts),
            webhooks=webhooks,
            deliveries=webhooks,
            announced=MemoryAnnouncedLog(log, webhooks),
        )
        return
    async with (
        open_services(settings, connections=20) as services,
        leading_announcer(settings.database_url) as announced,
    ):
        yield World(
            log=services.log,
            secrets=services.secrets,
            accounts=services.accounts,
            reservations=services.reservations,
            invites=services.invites,
            tickets=services.tickets,
            stream_tickets=services.stream_tickets,
            order=services.order,
            work=services.work,
            desk=services.desk,
            webhooks=services.webhooks,
            deliveries=services.deliveries,
            announced=announced,
        )
