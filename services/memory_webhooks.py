"""Twins in memory of webhooks and their deliveries."""

from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from services.delivering import (
    FAILING_S,
    GONE,
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
from services.memory_accounts import MemoryAccounts
from services.webhooks import OF_THE_HOST, PING, Delivery, NewWebhook, Webhook, WebhookChange, host_of

_LONG_AGO = datetime.fromisoformat("0001-01-02T00:00:00Z")


class KeptWebhook(Struct):
    """A row of the table of webhooks."""

    webhook: Webhook
    secrets: tuple[bytes, ...]
    failures: int = 0
    resume_at: datetime = _LONG_AGO
    rests_until: datetime = _LONG_AGO


class KeptDelivery(Struct):
    """A row of the table of deliveries."""

    delivery: Delivery
    is_decision: bool = False
    leased_until: datetime = _LONG_AGO


class MemoryWebhooks:
    """Webhooks and Deliveries in two dicts, on the clock of the accounts."""

    def __init__(self, accounts: MemoryAccounts) -> None:
        self.accounts = accounts
        accounts.when_all_end.append(self._switch_off)
        self.kept: dict[str, KeptWebhook] = {}
        self.sent: dict[str, KeptDelivery] = {}

    async def add(self, new: NewWebhook, secret: bytes, at_most: int) -> Webhook | None:
        if new.player_id not in self.accounts.players or len(await self.owned(new.player_id)) >= at_most:
            return None
        if not await self._lives(new.asked_by):
            return None
        webhook = Webhook(
            webhook_id=new.webhook_id,
            player_id=new.player_id,
            url=new.url,
            types=new.types,
            game_id=new.game_id,
            description=new.description,
            disabled=None,
            failing_since=None,
            old_secret_until=None,
            created_at=self.accounts.now(),
        )
        self.kept[new.webhook_id] = KeptWebhook(webhook, (secret,))
        return webhook

    async def owned(self, player_id: str) -> list[Webhook]:
        known = player_id in self.accounts.players
        own = [kept.webhook for kept in self.kept.values() if known and kept.webhook.player_id == player_id]
        return sorted(own, key=lambda webhook: webhook.webhook_id)

    async def find(self, player_id: str, webhook_id: str) -> Webhook | None:
        return next((each for each in await self.owned(player_id) if each.webhook_id == webhook_id), None)

    async def change(self, player_id: str, webhook_id: str, change: WebhookChange) -> Webhook | None:
        webhook = await self.find(player_id, webhook_id)
        if webhook is None or not await self._lives(change.asked_by):
            return None
        kept = self.kept[webhook_id]
        given = {name: getattr(change, name) for name in ("url", "types", "description")}
        webhook = replace(webhook, **{name: value for name, value in given.items() if value is not None})
        if change.is_active or change.url is not None:
            kept.rests_until = _LONG_AGO
        if change.is_active:
            webhook = replace(webhook, disabled=None, failing_since=None)
            kept.failures, kept.resume_at = 0, _LONG_AGO
        elif change.is_active is False:
            webhook = replace(webhook, disabled=webhook.disabled or "owner")
        kept.webhook = webhook
        return webhook

    async def rotate(
        self, player_id: str, webhook_id: str, secret: bytes, overlap_s: int, asked_by: str | None = None
    ) -> Webhook | None:
        webhook = await self.find(player_id, webhook_id)
        if webhook is None or not await self._lives(asked_by):
            return None
        kept = self.kept[webhook_id]
        kept.secrets = (secret, kept.secrets[0])
        kept.webhook = replace(webhook, old_secret_until=self.accounts.now() + timedelta(seconds=overlap_s))
        return kept.webhook

    async def remove(self, player_id: str, webhook_id: str) -> bool:
        is_own = await self.find(player_id, webhook_id) is not None
        if is_own:
            del self.kept[webhook_id]
        return is_own

    async def ping(self, webhook_id: str, delivery_id: str) -> Delivery:
        return self.make(delivery_id, webhook_id, PING, None, None)

    async def deliveries(self, webhook_id: str, before: str | None, limit: int) -> list[Delivery]:
        own = [kept.delivery for _, kept in sorted(self.sent.items(), reverse=True)]
        older = [each for each in own if before is None or each.delivery_id < before]
        return [each for each in older if each.webhook_id == webhook_id][:limit]

    async def send_again(self, webhook_id: str, delivery_id: str) -> Delivery | None:
        kept = self.sent.get(delivery_id)
        if kept is None or kept.delivery.webhook_id != webhook_id:
            return None
        kept.delivery = replace(kept.delivery, state="waiting", attempts=0, due_at=self.accounts.now())
        kept.leased_until = _LONG_AGO
        return kept.delivery

    async def claim(self, webhook_id: str, limit: int) -> list[Claimed]:
        now, kept = self.accounts.now(), self.kept.get(webhook_id)
        if kept is None or not self.is_open(kept):
            return []
        due = [each for each in self.waiting(webhook_id) if self._is_due(each) and not self._is_held_up(each)]
        due.sort(key=lambda each: (each.delivery.due_at, each.delivery.delivery_id))
        for each in due[:limit]:
            each.leased_until = now + timedelta(seconds=LEASE_S)
            each.delivery = replace(each.delivery, attempts=each.delivery.attempts + 1, attempted_at=now)
        return [_claimed(each.delivery, kept, now) for each in due[:limit]]

    async def settle(self, claimed: Claimed, outcome: Outcome) -> None:
        kept = self.sent.get(claimed.delivery_id)
        if kept is None or kept.delivery.attempts != claimed.attempt or kept.delivery.state != "waiting":
            return
        now, kept.leased_until = self.accounts.now(), _LONG_AGO
        before = claimed.attempt - 1
        match outcome:
            case Sent(status):
                kept.delivery = replace(kept.delivery, state="delivered", status=status, fault=None)
                self._settle_webhook(claimed.webhook_id, None)
            case Failed(status, fault, retry_s, is_webhooks):
                due_at = kept.delivery.due_at if retry_s is None else now + timedelta(seconds=retry_s)
                kept.delivery = replace(
                    kept.delivery,
                    state="failed" if retry_s is None else "waiting",
                    status=status,
                    fault=fault,
                    due_at=due_at,
                )
                if is_webhooks:
                    self._settle_webhook(claimed.webhook_id, outcome)
            case Dropped():
                kept.delivery = replace(kept.delivery, state="dropped", status=None, fault=None, attempts=before)
            case Postponed(seconds):
                due_at = now + timedelta(seconds=seconds)
                kept.delivery = replace(kept.delivery, status=None, fault=None, attempts=before, due_at=due_at)

    def make(self, delivery_id: str, webhook_id: str, type_: str, game_id: str | None, version: int | None) -> Delivery:
        """Keeps a new delivery; one that is there stays as it is."""
        now = self.accounts.now()
        new = Delivery(delivery_id, webhook_id, type_, game_id, version, "waiting", 0, None, None, now, None, now)
        return self.sent.setdefault(delivery_id, KeptDelivery(new)).delivery

    def waiting(self, webhook_id: str) -> list[KeptDelivery]:
        """Lists what is to be sent to a webhook, now or later."""
        return [
            kept
            for kept in self.sent.values()
            if kept.delivery.webhook_id == webhook_id and kept.delivery.state == "waiting"
        ]

    def is_open(self, kept: KeptWebhook) -> bool:
        """Tells whether anything may be sent to a webhook now."""
        player_id, accounts = kept.webhook.player_id, self.accounts
        is_let_in = player_id in accounts.players and player_id not in accounts.suspended
        return is_let_in and kept.webhook.disabled is None and max(kept.resume_at, kept.rests_until) <= accounts.now()

    def has_due(self, webhook_id: str) -> bool:
        """Tells whether a delivery of the webhook is due, whether or not it waits for another one."""
        return any(map(self._is_due, self.waiting(webhook_id)))

    async def _lives(self, token_id: str | None) -> bool:
        return token_id is None or bool(await self.accounts.living([token_id]))

    def _switch_off(self, player_id: str) -> None:
        for kept in self.kept.values():
            if kept.webhook.player_id == player_id:
                kept.webhook = replace(kept.webhook, disabled="revoked")

    def _is_due(self, kept: KeptDelivery) -> bool:
        now = self.accounts.now()
        return kept.delivery.due_at <= now and kept.leased_until <= now

    def _is_held_up(self, kept: KeptDelivery) -> bool:
        mine, now = kept.delivery, self.accounts.now()
        return mine.game_id is not None and any(
            each.delivery.game_id == mine.game_id
            and (each.delivery.version, each.is_decision) < (mine.version, kept.is_decision)
            and (each.delivery.attempts < OVERTAKEN_AFTER or each.leased_until > now)
            for each in self.waiting(mine.webhook_id)
        )

    def _settle_webhook(self, webhook_id: str, failed: Failed | None) -> None:
        kept, now = self.kept.get(webhook_id), self.accounts.now()
        if kept is None:
            return
        kept.rests_until = _LONG_AGO
        is_away = failed is not None and failed.fault in OF_THE_HOST
        if not is_away:
            for each in self._at_host_of(kept):
                each.rests_until = _LONG_AGO
        if failed is None:
            kept.failures, kept.resume_at = 0, _LONG_AGO
            kept.webhook = replace(kept.webhook, failing_since=None)
            return
        since, disabled = kept.webhook.failing_since, kept.webhook.disabled
        if failed.status == GONE:
            disabled = disabled or "gone"
        elif since is not None and since < now - timedelta(seconds=FAILING_S):
            disabled = disabled or "failing"
        kept.resume_at = now + timedelta(seconds=PAUSES_S[min(kept.failures, len(PAUSES_S) - 1)])
        kept.failures += 1
        kept.webhook = replace(kept.webhook, failing_since=since or now, disabled=disabled)
        if is_away:
            for each in self._at_host_of(kept):
                each.rests_until = max(each.rests_until, kept.resume_at + timedelta(seconds=LEASE_S))

    def _at_host_of(self, kept: KeptWebhook) -> list[KeptWebhook]:
        """Lists the other webhooks of the same player at the same host."""
        player_id, host = kept.webhook.player_id, host_of(kept.webhook.url)
        own = [each for each in self.kept.values() if each is not kept and each.webhook.player_id == player_id]
        return [each for each in own if host_of(each.webhook.url) == host]


def _claimed(delivery: Delivery, kept: KeptWebhook, now: datetime) -> Claimed:
    webhook = kept.webhook
    signs_too = webhook.old_secret_until is not None and webhook.old_secret_until > now
    return Claimed(
        delivery_id=delivery.delivery_id,
        webhook_id=webhook.webhook_id,
        player_id=webhook.player_id,
        url=webhook.url,
        secrets=kept.secrets if signs_too else kept.secrets[:1],
        type=delivery.type,
        game_id=delivery.game_id,
        version=delivery.version,
        attempt=delivery.attempts,
        created_at=delivery.created_at,
    )
