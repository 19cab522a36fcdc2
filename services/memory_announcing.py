"""Twin in memory of the log as its announcer reads it."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta

from msgspec.structs import replace

from services.announcing import SEATING, Listener, NewDelivery
from services.memory import MemoryLog
from services.memory_webhooks import MemoryWebhooks
from services.ports import Recorded
from services.projections import Batch
from services.relay import Position


class MemoryAnnouncedLog:
    """An AnnouncedLog over the games of a MemoryLog, in the order of their appends."""

    def __init__(self, log: MemoryLog, webhooks: MemoryWebhooks) -> None:
        self.webhooks = webhooks
        self.saved: Position = (0, 0)
        self.events: list[Recorded] = []
        log.listeners.append(self.events.extend)

    async def place(self) -> Position:
        return self.saved

    async def barrier(self) -> tuple[Position, bool]:
        is_wanted = any(kept.webhook.disabled is None for kept in self.webhooks.kept.values())
        return (len(self.events), 0), is_wanted

    async def batch(self, after: Position, limit: int) -> Batch:
        batch = self.events[after[0] : after[0] + limit]
        return batch, (after[0] + len(batch), 0)

    async def seat_changes(self, game_id: str, before: int) -> list[Recorded]:
        return [each for each in await self.beginning(game_id, before) if isinstance(each.event, SEATING)]

    async def beginning(self, game_id: str, before: int) -> list[Recorded]:
        return [each for each in self.events if each.game_id == game_id and each.version < before]

    async def listeners(self, player_ids: Sequence[str]) -> list[Listener]:
        return [
            Listener(each.webhook_id, each.player_id, each.types, each.game_id, each.created_at)
            for each in (kept.webhook for kept in self.webhooks.kept.values())
            if each.player_id in player_ids
            and each.player_id not in self.webhooks.accounts.suspended
            and each.disabled is None
        ]

    async def save(self, new: Sequence[NewDelivery], place: Position) -> None:
        for each in new:
            self.webhooks.make(each.delivery_id, each.webhook_id, each.type, each.game_id, each.version)
            self.webhooks.sent[each.delivery_id].is_decision = each.is_decision
        self.saved = place

    async def due(self, limit: int) -> list[str]:
        open_ = [webhook_id for webhook_id, kept in self.webhooks.kept.items() if self.webhooks.is_open(kept)]
        return [webhook_id for webhook_id in open_ if self.webhooks.has_due(webhook_id)][:limit]

    async def forget_old(self, age_s: float, limit: int) -> int:
        end = self.webhooks.accounts.now() - timedelta(seconds=age_s)
        old = [each for each, kept in self.webhooks.sent.items() if kept.delivery.created_at < end][:limit]
        for delivery_id in old:
            del self.webhooks.sent[delivery_id]
        return len(old)

    async def disable_behind(self, most: int) -> list[str]:
        states = ((kept.delivery.webhook_id, kept.delivery.state) for kept in self.webhooks.sent.values())
        waiting = Counter(webhook_id for webhook_id, state in states if state == "waiting")
        behind = [
            webhook_id
            for webhook_id, kept in self.webhooks.kept.items()
            if kept.webhook.disabled is None and waiting[webhook_id] > most
        ]
        for webhook_id in behind:
            self.webhooks.kept[webhook_id].webhook = replace(self.webhooks.kept[webhook_id].webhook, disabled="behind")
        return behind
