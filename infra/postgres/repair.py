"""Making a log readable that was restored, as rows, into a cluster which had counted fewer transactions."""

import asyncpg

from infra.postgres.database import LOST_AT_FIRST, lost_is_unavailable
from infra.postgres.leading import RELAY_LOCK
from infra.sql import statements

_SQL = statements("relay")
_WAIT_MS = 10_000  # for writers and relays on their way out


class StillInUse(Exception):
    """A relay leads, or somebody writes: they have to be stopped first."""


async def repair(database_url: str) -> int | None:
    """Gives all events new places in the same order, below the cluster's barrier; None where nothing needs repair.

    Places of relay and read models are kept, all in one transaction; the relay then begins with the bus's new
    generation. Needs the owner's rights. Errors: Unavailable, StillInUse. Cost: every row is written once.
    """
    with lost_is_unavailable(lost=LOST_AT_FIRST):
        connection = await asyncpg.connect(database_url, timeout=3, server_settings={"application_name": "repair"})
        try:
            async with connection.transaction():
                return await _repair(connection)
        except asyncpg.LockNotAvailableError:
            raise StillInUse("stop every process of the server first, then repair") from None
        finally:
            await connection.close()


async def _repair(connection: asyncpg.Connection) -> int | None:
    await connection.execute(f"SET LOCAL lock_timeout = {_WAIT_MS}")
    await connection.execute("SELECT pg_advisory_xact_lock($1)", RELAY_LOCK)
    await connection.execute("LOCK TABLE event IN SHARE ROW EXCLUSIVE MODE")
    if not await connection.fetchval(_SQL["younger_cluster"]):
        return None
    for [table] in await connection.fetch(_SQL["checkpoints"]):
        await connection.execute(_SQL["renumber_checkpoint"].format(table=table))
    done: str = await connection.execute(_SQL["renumber"])
    await connection.execute(_SQL["next_number"])
    return int(done.rpartition(" ")[2])
