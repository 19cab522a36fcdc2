"""Stream tickets: codes that open one stream for one viewer who cannot send headers, as a browser's EventSource.

A ticket is shown once and known afterwards by its hash only. It can do what its token can, on one path, over one
connection at a time: the newer takes the stream over.
"""

import secrets
from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from services.identity import token_hash
from services.ports import Principal

TICKET_PREFIX = "sht_"
FIRST_USE_S = 30  # a ticket that leaks later, out of a history say, opens nothing
LIFE_S = 12 * 3600
TICKETS_AT_MOST = 50  # of one token; the oldest gives way


class Opens(Struct, frozen=True):
    """The one stream that a ticket opens: a game's, or of all the player's games. with_view: with the event `view`."""

    game_id: str | None
    with_view: bool


class TicketTimes(Struct, frozen=True):
    """Until when a ticket must be used first, and until when it opens its stream again."""

    use_before_at: datetime
    ends_at: datetime


class TicketHolder(Principal, frozen=True):
    """Who calls with a ticket: as with its token. turn: how often it was used."""

    ticket: bytes = b""
    turn: int = 0


class StreamTickets(Protocol):
    """Tickets by their hashes. They end with their token; dead ones are cleared away as new ones are made."""

    async def make(self, ticket: bytes, token_id: str, opens: Opens) -> TicketTimes | None:
        """Keeps a ticket; None where the token speaks for nobody any more."""
        ...

    async def use(self, ticket: bytes, opens: Opens) -> TicketHolder | None:
        """Takes the stream over; None where the ticket is unknown or over, or opens another stream."""
        ...

    async def turns(self, tickets: Sequence[bytes]) -> dict[bytes, int]:
        """Tells how often known tickets were used."""
        ...


async def make_ticket(tickets: StreamTickets, principal: Principal, opens: Opens) -> tuple[str, TicketTimes] | None:
    """Makes a ticket of the caller's token and gives it with its times; None where the token is dead by now."""
    ticket = TICKET_PREFIX + secrets.token_urlsafe(32)
    times = await tickets.make(token_hash(ticket), principal.token_id, opens)
    return None if times is None else (ticket, times)


async def whose_ticket(tickets: StreamTickets, ticket: str, opens: Opens) -> TicketHolder | None:
    """Finds whom a ticket speaks for on this stream, or None."""
    return await tickets.use(token_hash(ticket), opens) if ticket.startswith(TICKET_PREFIX) else None
