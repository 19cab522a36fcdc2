"""The log as it is followed in the order of commits, by the one leader who makes something of all its events."""

from infra.postgres.leading import Session
from infra.postgres.rows import batch_of, recorded_row
from infra.sql import statements
from services.ids import uuid_of
from services.ports import Recorded
from services.projections import Batch
from services.relay import Position

_SQL = statements("projections")


class FollowedLog:
    """The reading half of a ProjectedLog and an AnnouncedLog, on the very connection that holds the leader's lock.

    epoch: of this leadership, which what is saved has to name; place: where it was taken over.
    """

    def __init__(self, session: Session, epoch: int, place: Position) -> None:
        self._session = session
        self._epoch = epoch
        self._place = place

    async def place(self) -> Position:
        return self._place

    async def batch(self, after: Position, limit: int) -> Batch:
        return batch_of(await self._session.fetch(_SQL["batch"], *after, limit), after)

    async def beginning(self, game_id: str, before: int) -> list[Recorded]:
        rows = await self._session.fetch(_SQL["beginning"], uuid_of("gam", game_id), before)
        return [recorded_row(row) for row in rows]
