"""The open streams of one process: how many there may be, who is told goodbye, what was written for several."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager

import msgspec

from api.limits import neighbourhood
from api.problems import Failed
from api.stream_shapes import Farewell
from domain.events import SeatChanged
from services.ports import Accounts, Principal, Recorded
from services.rendering import Names, render_event
from services.stream_tickets import StreamTickets, TicketHolder

SLOW_S = 10.0  # a client that takes so long for one batch is asked to come back when it can
TOLD_KEPT = 2_000  # events written last, by seat; about 0.4 kB each
_encode = msgspec.json.Encoder().encode


class Streams:
    """The open streams of one process, and whether it is about to end."""

    def __init__(
        self,
        heartbeat_s: float = 15.0,
        *,
        per_token: int = 1_000_000,
        per_address: int = 1_000_000,
    ) -> None:
        self.heartbeat_s = heartbeat_s
        self.slow_s = SLOW_S
        self._at_most = per_token, per_address
        self._held: Counter[str] = Counter()  # streams by token and by address
        self.is_draining = False
        self.resynced = 0  # streams that were too slow
        self.gaps = 0  # times that the log had to tell what the feed had not brought
        self._open: dict[asyncio.Event, Principal] = {}  # to whoever watches
        self._dismissed: dict[asyncio.Event, Farewell] = {}
        self._by_ticket: dict[bytes, tuple[TicketHolder, asyncio.Event]] = {}
        self._told: dict[tuple[str, int, int | None], bytes] = {}
        self._last: dict[int | None, tuple[tuple[str, int, int], bytes]] = {}

    @contextmanager
    def opened(self, news: asyncio.Event, caller: Principal, address: str = "") -> Iterator[None]:
        """Counts a stream as open; `news` wakes it when it has to say goodbye.

        Errors: Failed where the token or the address has too many.
        """
        holders = [f"token {caller.token_id}", f"address {neighbourhood(address)}"]
        if any(self._held[holder] >= most for holder, most in zip(holders, self._at_most, strict=True)):
            raise Failed("too_many_streams")
        self._held.update(holders)
        self._open[news] = caller
        if isinstance(caller, TicketHolder):
            self._take_over(caller, news)
        try:
            yield
        finally:
            del self._open[news]
            self._dismissed.pop(news, None)
            if isinstance(caller, TicketHolder) and self._by_ticket.get(caller.ticket, (None, None))[1] is news:
                del self._by_ticket[caller.ticket]
            for holder in holders:
                self._held[holder] -= 1
                if not self._held[holder]:
                    del self._held[holder]

    def told(self, recorded: Recorded, seat: int | None, names: Names) -> bytes:
        """Writes an event for a seat, once for all streams that are shown the same; present names are not kept."""
        key = recorded.game_id, recorded.version, seat
        piece = self._told.get(key)
        if piece is None:
            event = render_event(recorded, seat, names)
            piece = b"id: %d\nevent: %s\ndata: %s\n\n" % (event.version, event.kind.encode(), _encode(event))
            if not isinstance(recorded.event, SeatChanged):
                if len(self._told) >= TOLD_KEPT:
                    self._told.clear()
                self._told[key] = piece
        return piece

    def told_before(self, game_id: str, after: int, upto: int, seat: int | None) -> bytes | None:
        """Gives the piece that was written last for this seat, where it is the same: a whole audience waits for it."""
        last = self._last.get(seat)
        return last[1] if last is not None and last[0] == (game_id, after, upto) else None

    def keep(self, game_id: str, after: int, upto: int, seat: int | None, piece: bytes) -> None:
        """Keeps a piece without names for the next who want it."""
        self._last[seat] = (game_id, after, upto), piece

    @property
    def count(self) -> int:
        """How many streams are open."""
        return len(self._open)

    def dismiss(self, token_ids: AbstractSet[str]) -> None:
        """Lets the streams of these tokens say goodbye."""
        for news, caller in self._open.items():
            if caller.token_id in token_ids:
                self._dismiss(news, "unauthenticated")

    def farewell(self, news: asyncio.Event) -> Farewell | None:
        """Tells why a stream has to say goodbye, where it has to."""
        return "shutting_down" if self.is_draining else self._dismissed.get(news)

    async def dismiss_replaced(self, tickets: StreamTickets) -> None:
        """Lets the streams say goodbye whose tickets were used again, in whichever process."""
        held = dict(self._by_ticket)
        turns = await tickets.turns(sorted(held)) if held else {}
        for ticket, (holder, news) in held.items():
            if turns.get(ticket, 0) > holder.turn:
                self._dismiss(news, "replaced")

    def _take_over(self, holder: TicketHolder, news: asyncio.Event) -> None:
        """Ends the stream that was opened with the same ticket before; should this one be the older, it ends itself."""
        before, other = self._by_ticket.get(holder.ticket, (holder, news))
        if before.turn > holder.turn:
            self._dismiss(news, "replaced")
            return
        self._by_ticket[holder.ticket] = holder, news
        if other is not news:
            self._dismiss(other, "replaced")

    def _dismiss(self, news: asyncio.Event, why: Farewell) -> None:
        self._dismissed[news] = why
        news.set()

    async def dismiss_revoked(self, accounts: Accounts) -> bool:
        """Looks for tokens that speak for nobody any more, wherever they were ended; tells whether there were some."""
        watching = {caller.token_id for caller in self._open.values()}
        over = watching - await accounts.living(sorted(watching)) if watching else watching
        self.dismiss(over)
        return bool(over)

    def drain(self) -> None:
        """Lets every stream say goodbye; called in the event loop."""
        self.is_draining = True
        for news in self._open:
            news.set()
