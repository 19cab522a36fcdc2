"""The work rows, on Postgres."""

import logging
from datetime import datetime

from infra.migrations import MONTHS_AHEAD
from infra.postgres.database import Database
from infra.postgres.leading import Session
from infra.postgres.rows import WORK_KINDS
from infra.sql import statements
from services.ids import public_id
from services.ports import DueWork

_SQL = statements("work")

_log = logging.getLogger(__name__)


class PostgresWork:
    """A WorkList over the table work; the rows are written by PostgresLog's appends."""

    def __init__(self, database: Database | Session) -> None:
        self._database = database

    async def due(self, limit: int) -> list[DueWork]:
        rows = await self._database.fetch(_SQL["due"], limit)
        return [DueWork(public_id("gam", row["game_id"]), row["version"], WORK_KINDS[row["kind"]]) for row in rows]

    async def now(self) -> datetime:
        [[now]] = await self._database.fetch(_SQL["now"])
        return now  # type: ignore[no-any-return]

    async def forget_overtaken(self, limit: int) -> int:
        [[count]] = await self._database.fetch(_SQL["forget_overtaken"], limit)
        return int(count)

    async def keep_up(self) -> None:
        """Makes the coming partitions, and says so where the default one, which stays empty, holds events."""
        await self.make_partitions()
        for [game] in await self._database.fetch(_SQL["astray"]):
            _log.error(
                "event_default holds events, those of %s among them: their months can be neither made nor restored",
                public_id("gam", game),
            )

    async def make_partitions(self) -> int:
        """Makes those partitions of the log that the coming months will need; gives how many."""
        [[count]] = await self._database.fetch(_SQL["make_partitions"], MONTHS_AHEAD)
        return int(count)
