"""Webhooks with their numbers: what became of each attempt, and how long their receivers took."""

import time
from collections.abc import Mapping

from infra.watching import numbers
from services.delivering import Claimed, Deliveries, Dropped, Failed, NotSent, Outcome, Postponed, Sender, Sent


class CountedDeliveries:
    """Deliveries whose attempts are counted by what became of them."""

    def __init__(self, deliveries: Deliveries) -> None:
        self._deliveries = deliveries
        self.claim = deliveries.claim

    async def settle(self, claimed: Claimed, outcome: Outcome) -> None:
        await self._deliveries.settle(claimed, outcome)
        numbers.WEBHOOK_ATTEMPTS.labels(_name(outcome)).inc()


class CountedSender:
    """A Sender that is timed."""

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    async def post(self, player_id: str, url: str, headers: Mapping[str, str], body: bytes) -> int:
        began, end = time.perf_counter(), "answered"
        try:
            return await self._sender.post(player_id, url, headers, body)
        except NotSent:
            end = "unanswered"
            raise
        finally:
            numbers.WEBHOOK_SENDING.labels(end).observe(time.perf_counter() - began)


def _name(outcome: Outcome) -> str:
    match outcome:
        case Sent():
            return "delivered"
        case Failed(fault=fault):
            return fault
        case Dropped():
            return "dropped"
        case Postponed(fault=fault):
            return fault or "postponed"
