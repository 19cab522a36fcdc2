"""Sending deliveries: each is claimed, rendered for its owner as they may see it by now, signed, sent and settled.

A delivery that was claimed by a process that died is claimed again when its lease is over, so that each is sent at
least once; its id is the same every time.
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from domain.view import DecisionView
from services.hot import Hot
from services.outcomes import GameNotFound
from services.ports import Accounts, Principal, Unavailable
from services.rendering import EventBody, names_at, render_decisions, render_event, timestamp
from services.seeing import NotSeated, as_seen, refuse_stranger
from services.tables import Tables
from services.webhooks import DECISION_OPENED, PING, Fault, signature

RETRIES_S = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400)  # after each failed attempt; then it has failed
JITTER = 0.2  # a delay is so much longer at most, so that what failed together does not come together
PAUSES_S = (5, 30, 60, 300)  # nothing at all is sent for so long after the first failure, the second in a row …
FAILING_S = 3 * 24 * 3600  # a webhook that has failed for so long without a success is switched off
BUSY_S = 5.0  # after which is tried again what this process had no means to send just now
OVERTAKEN_AFTER = 3  # failed attempts of a delivery, after which later ones of its game no longer wait for it
LEASE_S = 15  # an attempt is over long before
AT_ONCE = 4  # deliveries of one webhook that are under way together, each of another game
BODY_BYTES = 20 * 1024  # the specification's advice; decisions are told without their options where it would be more
GONE = 410

_log = logging.getLogger(__name__)
_encode = msgspec.json.Encoder().encode


class Claimed(Struct, frozen=True):
    """A delivery that this process has to send, and where to. attempt: which one this is, from 1.

    secrets: those that sign; none where they cannot be read.
    """

    delivery_id: str
    webhook_id: str
    player_id: str
    url: str
    secrets: tuple[bytes, ...]
    type: str
    game_id: str | None
    version: int | None
    attempt: int
    created_at: datetime


class Sent(Struct, frozen=True):
    """It was delivered."""

    status: int


class Failed(Struct, frozen=True):
    """It was not. retry_s: after which it is tried again, None for never; is_webhooks: the webhook is to blame."""

    status: int | None
    fault: Fault
    retry_s: float | None
    is_webhooks: bool = True


class Dropped(Struct, frozen=True):
    """It is not for its owner's eyes any more, or not of use."""


class Postponed(Struct, frozen=True):
    """It was no attempt: its owner may see it so many seconds later, or, with a fault of ours, it can be sent then."""

    seconds: float
    fault: Fault | None = None


Outcome: TypeAlias = Sent | Failed | Dropped | Postponed


class Deliveries(Protocol):
    """The deliveries as they are sent."""

    async def claim(self, webhook_id: str, limit: int) -> list[Claimed]:
        """Takes what may be sent to a webhook now, at most one delivery of each game; nobody else takes it meanwhile.

        A delivery waits for earlier ones of its game that have been tried less than OVERTAKEN_AFTER times, and all
        wait while their player is suspended.
        """
        ...

    async def settle(self, claimed: Claimed, outcome: Outcome) -> None:
        """Keeps how it went; too late for one that was claimed again since.

        A webhook that fails pauses. Where its host was not even reached, the player's other webhooks at this host rest
        for LEASE_S longer, so that one tries for all; an answer of the host, whatever it is, ends their rest.
        """
        ...


class NotSent(Exception):
    """A message could not be sent; the fault says why."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault)
        self.fault = fault


class Sender(Protocol):
    """The way out."""

    async def post(self, player_id: str, url: str, headers: Mapping[str, str], body: bytes) -> int:
        """Sends a player's message and gives the answer's status, whatever it is; bounded in time. Errors: NotSent."""
        ...


class EventMessage(Struct, frozen=True):
    """An event of a game as its owner's seat sees it. type: `game.` and the kind; timestamp: when it happened."""

    type: str
    timestamp: str
    data: EventBody


class DecisionsOpened(Struct, frozen=True):
    """Questions to the owner's seat that are open now and were asked by the event with this version, or before.

    Each option is a complete move; none are listed where they would take more than 20 KiB.
    """

    game_id: str
    version: int
    seat: int
    decisions: tuple[DecisionView, ...]


class DecisionsMessage(Struct, frozen=True, tag_field="type", tag=DECISION_OPENED):
    """Something is asked of the owner. timestamp: when it was asked."""

    timestamp: str
    data: DecisionsOpened


class Ping(Struct, frozen=True):
    """Nothing has happened: the owner wants to see whether messages arrive."""

    webhook_id: str


class PingMessage(Struct, frozen=True, tag_field="type", tag=PING):
    """What is sent to try a webhook. timestamp: when its owner has asked for it."""

    timestamp: str
    data: Ping


Message: TypeAlias = EventMessage | DecisionsMessage | PingMessage


class Delivering:
    """The sending process's own part: the games that it has in memory, and its way out."""

    def __init__(
        self,
        deliveries: Deliveries,
        tables: Tables,
        accounts: Accounts,
        sender: Sender,
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._deliveries = deliveries
        self._tables = tables
        self._accounts = accounts
        self._sender = sender
        self._now = now

    async def visit(self, webhook_id: str) -> str | None:
        """Sends what may be sent to a webhook now, one delivery of each of a few games.

        Names the player whose it is; None where there was nothing.
        Errors: Unavailable; what was not settled is sent again when its lease is over.
        """
        claimed = await self._deliveries.claim(webhook_id, AT_ONCE)
        for result in await asyncio.gather(*map(self._attempt, claimed), return_exceptions=True):
            if isinstance(result, BaseException):
                raise result
        return claimed[0].player_id if claimed else None

    async def _attempt(self, claimed: Claimed) -> None:
        await self._deliveries.settle(claimed, await self._outcome(claimed))

    async def _outcome(self, claimed: Claimed) -> Outcome:
        try:
            message = await self._message(claimed)
        except Unavailable:
            raise
        except Exception as error:  # noqa: BLE001 - one delivery must not hold up the others
            # The error's text stays out of the log: it may tell cards.
            _log.error("%s while rendering %s", type(error).__name__, claimed.delivery_id)
            return Failed(None, "internal_error", _retry_s(claimed.attempt), is_webhooks=False)
        if isinstance(message, Dropped | Postponed):
            return message
        if not claimed.secrets:
            return Failed(None, "internal_error", _retry_s(claimed.attempt), is_webhooks=False)
        body = _body(message)
        sent_at = int(self._now())
        headers = {
            "webhook-id": claimed.delivery_id,
            "webhook-timestamp": str(sent_at),
            "webhook-signature": signature(claimed.secrets, claimed.delivery_id, sent_at, body),
        }
        try:
            status = await self._sender.post(claimed.player_id, claimed.url, headers, body)
        except NotSent as failure:
            if failure.fault == "internal_error":
                # As an attempt, a few of these would have it wait for hours.
                return Postponed(BUSY_S, failure.fault)
            return Failed(None, failure.fault, _retry_s(claimed.attempt))
        if 200 <= status < 300:
            return Sent(status)
        return Failed(status, "refused", None if status == GONE else _retry_s(claimed.attempt))

    async def _message(self, claimed: Claimed) -> Message | Dropped | Postponed:
        if claimed.type == PING or claimed.game_id is None or claimed.version is None:
            return PingMessage(timestamp(claimed.created_at), Ping(claimed.webhook_id))
        owner = Principal(claimed.player_id, "", ())
        try:
            game = await self._tables.fresh(claimed.game_id)
            refuse_stranger(self._tables, game, owner)
            hot, seat = as_seen(self._tables, game, owner)
        except (GameNotFound, NotSeated):
            return Dropped()
        if hot.version < claimed.version:
            return Postponed(hot.game.spectator_delay_s)
        recorded = hot.events[claimed.version - 1]
        happened_at = timestamp(recorded.occurred_at)
        if claimed.type == DECISION_OPENED:
            opened = _decisions_opened(hot, seat, claimed.version)
            return Dropped() if opened is None else DecisionsMessage(happened_at, opened)
        names = await names_at(self._accounts, [hot.game], [recorded])
        return EventMessage(claimed.type, happened_at, render_event(recorded, seat, names))


def _decisions_opened(hot: Hot, seat: int | None, version: int) -> DecisionsOpened | None:
    """Gives the seat's open decisions; None where it has none of these any more."""
    asked = () if seat is None else render_decisions(hot, seat)
    opened = tuple(decision for decision in asked if decision.opened_at_version <= version)
    return DecisionsOpened(hot.game.game_id, version, opened[0].seat, opened) if opened else None


def _body(message: Message) -> bytes:
    body = _encode(message)
    if len(body) > BODY_BYTES and isinstance(message, DecisionsMessage):
        decisions = tuple(replace(decision, options=()) for decision in message.data.decisions)
        return _encode(replace(message, data=replace(message.data, decisions=decisions)))
    return body


def _retry_s(attempt: int) -> float | None:
    """Gives when to try again after this attempt, from 1; None where it was the last one."""
    if attempt > len(RETRIES_S):
        return None
    return RETRIES_S[attempt - 1] * (1 + random.random() * JITTER)
