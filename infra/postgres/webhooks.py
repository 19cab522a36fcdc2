"""Webhooks and their deliveries, on Postgres; secrets stand there encrypted."""

import logging
from typing import Any
from uuid import UUID

import asyncpg
from cryptography.exceptions import InvalidTag

from infra.postgres.database import Database
from infra.postgres.rows import LAST_ID
from infra.postgres.secrets import Seal
from infra.sql import statements
from services.delivering import (
    FAILING_S,
    LEASE_S,
    OVERTAKEN_AFTER,
    PAUSES_S,
    Claimed,
    Dropped,
    Failed,
    Outcome,
    Postponed,
    Sent,
)
from services.ids import public_id, public_id_if_any, uuid_if_any, uuid_of
from services.webhooks import OF_THE_HOST, PING, Delivery, NewWebhook, Webhook, WebhookChange, host_of

_SQL = statements("webhooks")
_log = logging.getLogger(__name__)


class PostgresWebhooks:
    """Webhooks and Deliveries over the tables webhook and webhook_delivery."""

    def __init__(self, database: Database, key: bytes) -> None:
        self._database = database
        self._seal = Seal(key)

    async def add(self, new: NewWebhook, secret: bytes, at_most: int) -> Webhook | None:
        game_id = uuid_if_any("gam", new.game_id)
        what = (new.url, list(new.types), game_id, new.description, self._seal.close(secret, new.webhook_id), at_most)
        asking = uuid_if_any("tok", new.asked_by)
        ids = uuid_of("whk", new.webhook_id), uuid_of("ply", new.player_id)
        return _first(await self._database.write(_SQL["add"], *ids, *what, asking))

    async def owned(self, player_id: str) -> list[Webhook]:
        return [_webhook(row) for row in await self._database.fetch(_SQL["owned"], uuid_of("ply", player_id))]

    async def find(self, player_id: str, webhook_id: str) -> Webhook | None:
        return _first(await self._database.fetch(_SQL["find"], *_own(player_id, webhook_id)))

    async def change(self, player_id: str, webhook_id: str, change: WebhookChange) -> Webhook | None:
        types = None if change.types is None else list(change.types)
        what = (change.url, types, change.description, change.is_active, uuid_if_any("tok", change.asked_by))
        return _first(await self._database.write(_SQL["change"], *_own(player_id, webhook_id), *what, again=True))

    async def rotate(
        self, player_id: str, webhook_id: str, secret: bytes, overlap_s: int, asked_by: str | None = None
    ) -> Webhook | None:
        what = self._seal.close(secret, webhook_id), float(overlap_s), uuid_if_any("tok", asked_by)
        return _first(await self._database.write(_SQL["rotate"], *_own(player_id, webhook_id), *what))

    async def remove(self, player_id: str, webhook_id: str) -> bool:
        return bool(await self._database.write(_SQL["remove"], *_own(player_id, webhook_id)))

    async def ping(self, webhook_id: str, delivery_id: str) -> Delivery:
        ids = uuid_of("msg", delivery_id), uuid_of("whk", webhook_id)
        [row] = await self._database.write(_SQL["ping"], *ids, PING)
        return _delivery(row)

    async def deliveries(self, webhook_id: str, before: str | None, limit: int) -> list[Delivery]:
        end = LAST_ID if before is None else uuid_of("msg", before)
        rows = await self._database.fetch(_SQL["deliveries"], uuid_of("whk", webhook_id), end, limit)
        return [_delivery(row) for row in rows]

    async def send_again(self, webhook_id: str, delivery_id: str) -> Delivery | None:
        ids = uuid_of("whk", webhook_id), uuid_of("msg", delivery_id)
        rows = await self._database.write(_SQL["send_again"], *ids, again=True)
        return _delivery(rows[0]) if rows else None

    async def claim(self, webhook_id: str, limit: int) -> list[Claimed]:
        bounds = (limit, OVERTAKEN_AFTER, float(LEASE_S))
        rows = await self._database.write(_SQL["claim"], uuid_of("whk", webhook_id), *bounds)
        return [self._claimed(webhook_id, row) for row in rows]

    async def settle(self, claimed: Claimed, outcome: Outcome) -> None:
        ids = uuid_of("msg", claimed.delivery_id), uuid_of("whk", claimed.webhook_id)
        *what, is_unsent = _settled(outcome)
        bounds = ([float(pause) for pause in PAUSES_S], float(FAILING_S))
        is_away = isinstance(outcome, Failed) and outcome.fault in OF_THE_HOST
        where = uuid_of("ply", claimed.player_id), host_of(claimed.url), float(LEASE_S), is_away
        await self._database.write(_SQL["settle"], *ids, claimed.attempt, *what, *bounds, is_unsent, *where)

    def _claimed(self, webhook_id: str, row: asyncpg.Record) -> Claimed:
        return Claimed(
            delivery_id=public_id("msg", row["delivery_id"]),
            webhook_id=webhook_id,
            player_id=public_id("ply", row["player_id"]),
            url=row["url"],
            secrets=self._opened(webhook_id, row),
            type=row["type"],
            game_id=public_id_if_any("gam", row["game_id"]),
            version=row["version"],
            attempt=row["attempts"],
            created_at=row["created_at"],
        )

    def _opened(self, webhook_id: str, row: asyncpg.Record) -> tuple[bytes, ...]:
        """Opens the secrets; none where they were sealed with another key."""
        try:
            return tuple(self._seal.open(row[name], webhook_id) for name in ("secret", "old_secret") if row[name])
        except InvalidTag:
            _log.error("the secret of %s was kept with another SHANGHAI_SECRET_KEY", webhook_id)
            return ()


def _settled(outcome: Outcome) -> tuple[Any, ...]:
    """Gives state, status, fault, seconds until the next attempt, what it says of the webhook, and if it was unsent."""
    match outcome:
        case Sent(status):
            return "delivered", status, None, None, True, False
        case Failed(status, fault, retry_s, is_webhooks):
            is_well = False if is_webhooks else None
            return "failed" if retry_s is None else "waiting", status, fault, retry_s, is_well, False
        case Dropped():
            return "dropped", None, None, None, None, True
        case Postponed(seconds):
            return "waiting", None, None, seconds, None, True


def _own(player_id: str, webhook_id: str) -> tuple[UUID | None, UUID | None]:
    return uuid_of("ply", player_id), uuid_of("whk", webhook_id)


def _first(rows: list[asyncpg.Record]) -> Webhook | None:
    return _webhook(rows[0]) if rows else None


def _webhook(row: asyncpg.Record) -> Webhook:
    return Webhook(
        webhook_id=public_id("whk", row["webhook_id"]),
        player_id=public_id("ply", row["player_id"]),
        url=row["url"],
        types=tuple(row["types"]),
        game_id=public_id_if_any("gam", row["game_id"]),
        description=row["description"],
        disabled=row["disabled"],
        failing_since=row["failing_since"],
        old_secret_until=row["old_secret_until"],
        created_at=row["created_at"],
    )


def _delivery(row: asyncpg.Record) -> Delivery:
    return Delivery(
        delivery_id=public_id("msg", row["delivery_id"]),
        webhook_id=public_id("whk", row["webhook_id"]),
        type=row["type"],
        game_id=public_id_if_any("gam", row["game_id"]),
        version=row["version"],
        state=row["state"],
        attempts=row["attempts"],
        status=row["status"],
        fault=row["fault"],
        created_at=row["created_at"],
        attempted_at=row["attempted_at"],
        due_at=row["due_at"],
    )
