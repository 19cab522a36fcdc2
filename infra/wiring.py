"""The composition root: the ports, wired to their engines."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from msgspec import Struct

from infra.postgres.accounts import PostgresAccounts, PostgresReservations
from infra.postgres.database import Database
from infra.postgres.log import PostgresLog
from infra.postgres.poke import Poke
from infra.postgres.secrets import PostgresSecrets
from infra.postgres.work import PostgresWork
from infra.settings import Settings
from services.ports import Accounts, GameLog, Reservations, Secrets, WorkList


class Services(Struct, frozen=True, kw_only=True):
    """What a process of the roof works with."""

    log: GameLog
    secrets: Secrets
    accounts: Accounts
    reservations: Reservations
    work: WorkList


@asynccontextmanager
async def open_services(settings: Settings, *, name: str = "shanghai", connections: int = 8) -> AsyncIterator[Services]:
    """Is the wired ports for one event loop; no engine need be there yet, each is reached when it is used first.

    name: how Postgres shows the connections. On leaving, appends and pokes under way are brought to their end.
    """
    database = Database(settings.database_url, size=connections, name=name)
    poke = Poke(settings.database_url)
    log = PostgresLog(database, poke)
    try:
        yield Services(
            log=log,
            secrets=PostgresSecrets(database, settings.secret_key),
            accounts=PostgresAccounts(database),
            reservations=PostgresReservations(database),
            work=PostgresWork(database),
        )
    finally:
        await log.settle()
        await poke.close()
        await database.close()
