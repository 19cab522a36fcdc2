"""Who reads a game's stream: how far they were told, and telling them the next events at once.

A stream that was told everything waits. Where nothing stands in the way its reader is written to by whoever brings the
news, so that an event for a thousand streams is a loop of writes and wakes no task. In every other state the stream is
woken and sees to itself, as `streams.py` has it.
"""

import asyncio
import time
from collections.abc import Sequence

from api.connections import Outlet
from api.house import House
from domain.state import is_over
from services.hot import Hot
from services.ports import Principal, Recorded
from services.rendering import Names, has_names
from services.seeing import as_seen, refuse_stranger

BATCH = 100  # events sent in one piece


class Reader:
    """One stream's client. `news` wakes the stream.

    sent: the last version that was told; told_at: when anything was. rests: everything known was told, and the stream
    waits for no more than the next event. outlet: None where the server has none.
    """

    __slots__ = ("caller", "game_id", "house", "news", "outlet", "rests", "sent", "told_at")

    def __init__(self, house: House, caller: Principal, game_id: str, sent: int) -> None:
        self.house = house
        self.caller = caller
        self.game_id = game_id
        self.sent = sent
        self.told_at = time.monotonic()
        self.news = asyncio.Event()
        self.rests = False
        self.outlet: Outlet | None = None

    def hear(self, head: int) -> None:
        """Is told how far the game has come: passes it on at once where that can be, else wakes the stream.

        Cost: some microseconds, and a write.
        """
        try:
            is_told = self.rests and self._tell(head)
        except Exception:  # noqa: BLE001 - it goes wrong again where the stream itself tells, and ends that one only
            is_told = False
        if not is_told:
            self.news.set()

    def seen(self, game: Hot) -> tuple[Hot, int | None]:
        """Gives what the caller may see of a game by now, and their seat. Errors: GameNotFound, NotSeated."""
        refuse_stranger(self.house.tables, game, self.caller)
        return as_seen(self.house.tables, game, self.caller)

    def piece(self, events: Sequence[Recorded], seat: int | None, names: Names) -> bytes:
        """Writes the events after `sent`, and keeps the piece for others unless it holds names of players."""
        streams = self.house.streams
        piece = b"".join([streams.told(recorded, seat, names) for recorded in events])
        if not has_names(events):
            streams.keep(self.game_id, self.sent, self.sent + len(events), seat, piece)
        return piece

    def _tell(self, head: int) -> bool:
        """Passes on what is in memory, unless that is too little or too much, the end, or holds names."""
        house, outlet, sent = self.house, self.outlet, self.sent
        game = house.tables.known(self.game_id)
        if game is None or is_over(game.game.status) or outlet is None:
            return False
        hot, seat = self.seen(game)
        upto = hot.version
        if upto < max(head, sent) or upto > sent + BATCH:
            return False
        if upto == sent:
            return True
        piece = house.streams.told_before(self.game_id, sent, upto, seat)
        if piece is None:
            events = hot.events[sent:]
            if has_names(events):
                return False
            piece = self.piece(events, seat, {})
        if not outlet.push(piece):
            return False
        self.sent, self.told_at = upto, time.monotonic()
        return True
