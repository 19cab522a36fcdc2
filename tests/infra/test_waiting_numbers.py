"""The numbers of webhooks and of quick match follow what happens."""

import os
from collections.abc import AsyncIterator, Sequence
from datetime import UTC, datetime

import asyncpg
import pytest
from msgspec.structs import replace

from domain.ruleset import Players
from infra.outbound import GuardedSender
from infra.postgres.announcing import leading_announcer
from infra.postgres.database import Database
from infra.settings import Settings
from infra.watching.counted_webhooks import CountedDeliveries, CountedSender
from infra.watching.numbers import numbers_page, reading
from infra.watching.waiting import Waiting
from infra.wiring import Services, open_services
from services.announcing import NewDelivery
from services.delivering import Dropped, Failed, NotSent, Outcome, Postponed, Sent
from services.ids import new_uuid, public_id
from services.memory_accounts import MemoryAccounts
from services.memory_webhooks import MemoryWebhooks
from services.tickets import PACES, NewTicket
from services.webhooks import NewWebhook, WebhookChange
from tests.appends import append, new_game
from tests.exported import Since, number
from tests.infra.receiver import receiving

pytestmark = pytest.mark.xdist_group("numbers")

OUTCOMES: list[tuple[Outcome, str]] = [
    (Sent(204), "delivered"),
    (Failed(503, "refused", 1.0), "refused"),
    (Failed(None, "no_public_address", 1.0), "no_public_address"),
    (Failed(None, "internal_error", 1.0, is_webhooks=False), "internal_error"),
    (Dropped(), "dropped"),
    (Postponed(1.0), "postponed"),
    (Postponed(1.0, "internal_error"), "internal_error"),
]


@pytest.fixture
async def services(own_settings: Settings, owner: asyncpg.Connection) -> AsyncIterator[Services]:
    await owner.execute("TRUNCATE webhook, webhook_delivery, match_ticket")
    async with open_services(own_settings) as services:
        yield services


@pytest.fixture
async def waiting(own_settings: Settings) -> AsyncIterator[Waiting]:
    database = Database(own_settings.database_url, size=1, name="test")
    yield Waiting(database.fetch)
    await database.close()


async def player(services: Services) -> str:
    player_id = public_id("ply", new_uuid())
    await services.accounts.add_guest(player_id, "Anna", os.urandom(32), ["play"])
    return player_id


def webhook_of(player_id: str) -> NewWebhook:
    return NewWebhook(public_id("whk", new_uuid()), player_id, "https://secret.example/path", (), None, "my bot")


@pytest.mark.parametrize(("outcome", "told"), OUTCOMES, ids=[told for _, told in OUTCOMES])
async def test_attempts_are_counted_by_what_became_of_them(outcome: Outcome, told: str) -> None:
    accounts = MemoryAccounts()
    await accounts.add_guest("ply_anna", "Anna", b"", ["play"])
    webhooks = MemoryWebhooks(accounts)
    kept = await webhooks.add(webhook_of("ply_anna"), bytes(32), 1)
    assert kept is not None
    await webhooks.ping(kept.webhook_id, public_id("msg", new_uuid()))
    deliveries, since = CountedDeliveries(webhooks), Since()
    [claimed] = await deliveries.claim(kept.webhook_id, 4)
    await deliveries.settle(claimed, outcome)
    for _, each in OUTCOMES:
        assert since("shanghai_webhook_attempts_total", outcome=each) == (each == told)


async def test_receivers_are_timed_also_those_that_do_not_answer() -> None:
    async def nobody(*_: object) -> Sequence[str]:
        return []

    since = Since()
    async with receiving() as receiver:
        url = f"http://127.0.0.1:{receiver.port}/"
        assert await CountedSender(GuardedSender(is_anywhere=True)).post("ply_anna", url, {}, b"{}") == 200
    with pytest.raises(NotSent):
        await CountedSender(GuardedSender(resolve=nobody, lookup_s=0.06)).post("ply_anna", "https://a.example", {}, b"")
    assert since("shanghai_webhook_sending_seconds_count", end="answered") == 1
    assert since("shanghai_webhook_sending_seconds_count", end="unanswered") == 1
    assert since("shanghai_webhook_sending_seconds_bucket", end="unanswered", le="0.05") == 0


async def test_what_waits_for_webhooks_is_told_and_why_they_are_off(services: Services, waiting: Waiting) -> None:
    with reading(*waiting.readings):
        anna, boris = await player(services), await player(services)
        [one, other] = [await services.webhooks.add(webhook_of(each), bytes(32), 1) for each in (anna, boris)]
        assert one is not None
        assert other is not None
        for _ in range(2):
            await services.webhooks.ping(one.webhook_id, public_id("msg", new_uuid()))
        await waiting.look()
        assert number("shanghai_webhook_deliveries_waiting") == 2
        assert (number("shanghai_webhooks_due"), number("shanghai_webhooks", state="on")) == (1, 2)
        first, _ = await services.deliveries.claim(one.webhook_id, 4)
        await services.deliveries.settle(first, Failed(None, "unreachable", 60.0))
        await services.webhooks.change(boris, other.webhook_id, WebhookChange(is_active=False))
        await services.desk.revoke_all(anna)
        await waiting.look()
        assert (number("shanghai_webhooks_due"), number("shanghai_webhooks", state="on")) == (0, 0)
        assert (number("shanghai_webhooks", state="owner"), number("shanghai_webhooks", state="revoked")) == (1, 1)
        page = numbers_page()[2].decode()
        assert not any(secret in page for secret in ("secret.example", "my bot", anna, one.webhook_id, "Anna"))
        assert number("shanghai_announcing_lag_seconds") == 0  # nobody listens


async def test_a_webhook_whose_messages_wait_for_one_that_has_failed_could_not_be_sent_to(
    own_settings: Settings, services: Services, waiting: Waiting
) -> None:
    webhook = await services.webhooks.add(webhook_of(await player(services)), bytes(32), 1)
    assert webhook is not None
    game_id, now = new_game(), datetime.now(UTC)
    told = [NewDelivery(webhook.webhook_id, game_id, version, False, "game.turn_began", now) for version in (1, 2)]
    async with leading_announcer(own_settings.database_url) as log:
        await log.save(told, (await log.barrier())[0])
    await waiting.look()
    assert waiting.seen["due"] == 1
    [first] = await services.deliveries.claim(webhook.webhook_id, 4)
    await services.deliveries.settle(first, Failed(None, "internal_error", 300.0, is_webhooks=False))
    await waiting.look()
    assert (waiting.seen["due"], waiting.seen["waiting"]) == (0, 2)


async def test_events_that_are_not_announced_are_told_while_somebody_listens(
    own_settings: Settings, services: Services, waiting: Waiting
) -> None:
    anna = await player(services)
    assert await services.webhooks.add(webhook_of(anna), bytes(32), 1)
    async with leading_announcer(own_settings.database_url) as log:
        await log.save((), (await log.barrier())[0])
        await waiting.look()
        assert waiting.seen["lag"] == 0
        await services.log.append(append(new_game()))
        await waiting.look()
        assert waiting.seen["lag"] > 0
        await log.save((), (await log.barrier())[0])
        await waiting.look()
        assert waiting.seen["lag"] == 0


async def test_quick_match_tells_who_waits_for_others_for_a_table_and_what_was_found(
    services: Services, waiting: Waiting, owner: asyncpg.Connection
) -> None:
    since = Since()
    wanted = NewTicket("", public_id("tok", new_uuid()), "davis", Players(2, 4), PACES["live"], None, 25.0)
    kept = [
        await services.tickets.keep(new_uuid(), replace(wanted, player_id=await player(services))) for _ in range(3)
    ]
    tickets = [ticket.ticket_id for ticket in kept if ticket is not None]
    with reading(*waiting.readings):
        await owner.execute("UPDATE match_ticket SET created_at = created_at - interval '90 seconds'")
        await waiting.look()
        assert number("shanghai_tickets_waiting") == 3
        assert 90 <= number("shanghai_ticket_wait_longest_seconds") < 120
        assert number("shanghai_table_wait_longest_seconds") == 0
        game_id = new_game()
        assert await services.tickets.seat(game_id, tickets[:2], 2)
        assert not await services.tickets.seat(new_game(), tickets[1:], 2)
        await owner.execute("UPDATE match_ticket SET ended_at = ended_at - interval '40 seconds'")
        await waiting.look()
        assert number("shanghai_tickets_waiting") == 1
        assert 40 <= number("shanghai_table_wait_longest_seconds") < 70
        assert since("shanghai_matches_total") == 1
        await services.tickets.tell(game_id)
        await waiting.look()
        assert number("shanghai_table_wait_longest_seconds") == 0


async def test_without_a_database_nothing_is_told() -> None:
    database = Database("postgresql://nobody@127.0.0.1:1/nothing", size=1, name="test")
    waiting = Waiting(database.fetch)
    waiting.seen, waiting.webhooks = {"due": 1.0}, {"on": 1.0}
    await waiting.look()
    assert (waiting.seen, waiting.webhooks) == ({}, {})
    await database.close()
