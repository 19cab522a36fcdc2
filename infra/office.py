"""What `shanghai admin` works with: the operators' use-cases on a database alone, and who sits at the terminal."""

import getpass
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from msgspec import Struct

from infra.postgres.accounts import PostgresAccounts
from infra.postgres.database import Database
from infra.postgres.lane import Lane
from infra.postgres.log import PostgresLog
from infra.postgres.operating import PostgresDesk
from infra.postgres.poke import Poke
from infra.postgres.secrets import PostgresSecrets
from infra.postgres.work import PostgresWork
from services.operating import OperatorDesk
from services.ports import Accounts, Secrets
from services.tables import Tables

_NAME = "shanghai admin"


class Office(Struct, frozen=True, kw_only=True):
    """The ports of an operator at a terminal. secrets: None without the key."""

    operator: str
    tables: Tables
    accounts: Accounts
    desk: OperatorDesk
    secrets: Secrets | None
    now: Callable[[], Awaitable[datetime]]


@asynccontextmanager
async def open_office(url: str, key: bytes | None) -> AsyncIterator[Office]:
    """Opens the ports on a database; it is connected when it is used first. The login acts as shanghai_app."""
    database, poke = Database(url, size=2, name=_NAME), Poke(url)
    lane = Lane(url, name=_NAME, committed=poke)
    try:
        yield Office(
            operator=f"{getpass.getuser()}@{socket.gethostname()}",
            tables=Tables(PostgresLog(database, lane)),
            accounts=PostgresAccounts(database),
            desk=PostgresDesk(database),
            secrets=None if key is None else PostgresSecrets(database, key),
            now=PostgresWork(database).now,
        )
    finally:
        await lane.settle()
        await poke.settle()
        await lane.close()
        await poke.close()
        await database.close()
