"""What the endpoints work with: the use-cases' ports, and what one process knows besides."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from api.open_streams import Streams
from services.attendance import AtTables
from services.feed import Feed
from services.following import Following
from services.identity import who_is
from services.invites import Invites
from services.lag import Lag
from services.limits import Limit, Policy, Quotas
from services.lobby import Lobby
from services.operating import OperatorDesk
from services.own_games import OwnGames
from services.ports import Accounts, Principal, Reservations, Secrets
from services.stream_tickets import StreamTickets
from services.tables import Tables
from services.tickets import Tickets
from services.webhooks import Webhooks

Processes: TypeAlias = Callable[[], Awaitable[Mapping[str, bool]]]
"""Tells of each kind of the other processes whether one is alive."""

Numbers: TypeAlias = Callable[[], tuple[int, str, bytes]]
"""Gives status, media type and text of this process's numbers."""

CALLERS_KNOWN_S = 2.0  # a revoked or expired token works so much longer at most
_CALLERS_KEPT = 10_000


class Callers:
    """Whom tokens speak for; an answer is kept for a moment, so that a busy player is not looked up at every move."""

    def __init__(self, accounts: Accounts, clock: Callable[[], float] = time.monotonic) -> None:
        self._accounts = accounts
        self._clock = clock
        self._known: dict[str, tuple[Principal, float]] = {}
        self._forgotten = 0  # how often something has changed

    async def find(self, token: str) -> Principal | None:
        """Finds whom a token speaks for, or None where it is unknown or revoked."""
        known = self._known.get(token)
        now, forgotten = self._clock(), self._forgotten
        if known is not None and now < known[1]:
            return known[0]
        principal = await who_is(self._accounts, token)
        if principal is None:
            self._known.pop(token, None)
            return None
        if len(self._known) >= _CALLERS_KEPT:
            self._known.clear()
        # What was asked before something changed may be the answer from before it.
        self._known[token] = (principal, now + CALLERS_KNOWN_S if forgotten == self._forgotten else 0.0)
        return principal

    def has_met(self, token: str) -> bool:
        """Tells whether a token spoke for somebody when it was looked up last."""
        return token in self._known

    def forget(self, player_id: str | None = None) -> None:
        """Has every token of a player, or of all, looked up anew."""
        self._forgotten += 1
        for token, (principal, _) in self._known.items():
            if player_id in (None, principal.player_id):
                self._known[token] = principal, 0.0


@dataclass(frozen=True, kw_only=True)
class House:
    """Everything that one API process serves from. now: the database's clock, by which work becomes due.

    sends_anywhere: webhooks may have any address, for development.
    """

    tables: Tables
    secrets: Secrets
    accounts: Accounts
    reservations: Reservations
    invites: Invites
    webhooks: Webhooks
    lobby: Lobby
    tickets: Tickets
    desk: OperatorDesk
    now: Callable[[], Awaitable[datetime]]
    feed: Feed
    following: Following
    at_tables: AtTables
    own_games: OwnGames
    stream_tickets: StreamTickets
    quotas: Quotas
    limits: Mapping[Policy, Limit]
    processes: Processes
    relay_lag: Callable[[], Awaitable[Lag]]
    numbers: Numbers = lambda: (200, "text/plain", b"")
    sends_anywhere: bool = False
    streams: Streams = field(default_factory=Streams)
    callers: Callers = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "callers", Callers(self.accounts))
