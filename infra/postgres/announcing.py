"""The log as its announcer reads it, and the deliveries as they are made."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from infra.postgres.followed import FollowedLog
from infra.postgres.leading import ANNOUNCER_LOCK, Superseded, leading
from infra.postgres.rows import recorded_row
from infra.sql import statements
from services.announcing import SEATING, Listener, NewDelivery
from services.codec import TYPE_NUMBERS
from services.ids import public_id, public_id_if_any, uuid_of, uuids_of
from services.ports import Recorded
from services.relay import Position

_SQL = statements("webhooks")
_SEATING = [TYPE_NUMBERS[type_] for type_ in SEATING]


class PostgresAnnouncedLog(FollowedLog):
    """An AnnouncedLog on the very connection that holds the leader's lock."""

    async def barrier(self) -> tuple[Position, bool]:
        [[xid, is_wanted]] = await self._session.fetch(_SQL["barrier"])
        return (xid, -1), is_wanted

    async def seat_changes(self, game_id: str, before: int) -> list[Recorded]:
        rows = await self._session.fetch(_SQL["seat_changes"], uuid_of("gam", game_id), before, _SEATING)
        return [recorded_row(row) for row in rows]

    async def listeners(self, player_ids: Sequence[str]) -> list[Listener]:
        players = uuids_of("ply", player_ids)
        return [
            Listener(
                public_id("whk", row["webhook_id"]),
                public_id("ply", row["player_id"]),
                tuple(row["types"]),
                public_id_if_any("gam", row["game_id"]),
                row["created_at"],
            )
            for row in await self._session.fetch(_SQL["listeners"], players)
        ]

    async def save(self, new: Sequence[NewDelivery], place: Position) -> None:
        columns = (
            [uuid_of("msg", each.delivery_id) for each in new],
            [uuid_of("whk", each.webhook_id) for each in new],
            [uuid_of("gam", each.game_id) for each in new],
            [each.version for each in new],
            [each.is_decision for each in new],
            [each.type for each in new],
        )
        if not await self._session.fetch(_SQL["announce"], self._epoch, *place, *columns):
            raise Superseded("another announcer has taken over")

    async def due(self, limit: int) -> list[str]:
        return [public_id("whk", row["webhook_id"]) for row in await self._session.fetch(_SQL["due"], limit)]

    async def forget_old(self, age_s: float, limit: int) -> int:
        [[count]] = await self._session.fetch(_SQL["forget_old"], float(age_s), limit)
        return int(count)

    async def disable_behind(self, most: int) -> list[str]:
        return [public_id("whk", row["webhook_id"]) for row in await self._session.fetch(_SQL["disable_behind"], most)]


@asynccontextmanager
async def leading_announcer(url: str) -> AsyncIterator[PostgresAnnouncedLog]:
    """Waits for the leadership and takes over from the saved place. Errors: Unavailable."""
    async with leading(url, ANNOUNCER_LOCK, name="shanghai announcer") as session:
        [[epoch, xid, gseq]] = await session.fetch(_SQL["take_over"])
        yield PostgresAnnouncedLog(session, epoch, (xid, gseq))
