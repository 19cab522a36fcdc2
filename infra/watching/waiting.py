"""What waits for webhooks and for quick match: the leading clock reads it beside the state of the cluster."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, get_args

from infra.sql import statements
from infra.watching.numbers import Reading, reading_of
from services.ports import Unavailable
from services.webhooks import Disabled

LOOK_S = 15.0
_COUNTED = 100_000  # deliveries: a count of more takes its time, and tells no more

_SQL = statements("numbers")


class Waiting:
    """The numbers as they were seen last; NaN, or nothing, where they cannot be read."""

    def __init__(self, fetch: Callable[..., Awaitable[list[Any]]]) -> None:
        self._fetch = fetch
        self.seen: dict[str, float] = {}
        self.webhooks: dict[str, float] = {}

    async def look(self) -> None:
        """Reads once."""
        try:
            [webhooks], [tickets] = await self._fetch(_SQL["webhooks"], _COUNTED), await self._fetch(_SQL["tickets"])
            states = {row["state"]: float(row["webhooks"]) for row in await self._fetch(_SQL["webhook_states"])}
        except Unavailable:
            self.seen, self.webhooks = {}, {}
            return
        self.seen = {name: float(value) for row in (webhooks, tickets) for name, value in row.items()}
        self.webhooks = dict.fromkeys(("on", *get_args(Disabled)), 0.0) | states

    @property
    def readings(self) -> tuple[Reading, ...]:
        """Is what is exported of it."""
        one = partial(reading_of, lambda: self.seen)
        return (
            one("shanghai_webhook_deliveries_waiting", "waiting", f"Messages to be sent, up to {_COUNTED}"),
            one("shanghai_webhooks_due", "due", "Webhooks to which something may be sent now"),
            one(
                "shanghai_announcing_lag_seconds", "lag", "How long the oldest event waits to be announced to webhooks"
            ),
            one("shanghai_tickets_waiting", "tickets", "Players who wait for quick match"),
            one("shanghai_ticket_wait_longest_seconds", "longest", "How long the oldest of them waits"),
            one("shanghai_table_wait_longest_seconds", "seated", "How long a table that was found is not opened"),
            Reading(
                "gauge",
                "shanghai_webhooks",
                "Webhooks that are on, and why others are off",
                lambda: self.webhooks,
                "state",
            ),
        )
