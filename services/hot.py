"""A game in memory: its state, all its events, what they asked, and what a delayed spectator may see of it."""

import asyncio
from collections.abc import Sequence
from datetime import datetime

from domain.events import RoundDealt
from domain.evolve import fold
from domain.state import Game, State, Unopened
from domain.view import DecisionView, decisions_of
from services.outcomes import GameNotFound
from services.ports import Recorded

# What a game takes in memory, measured: itself with its rules, and each of its events.
GAME_BYTES = 16_000
EVENT_BYTES = 450


class Hot:
    """A game with all its events, and what was worked out of it.

    lock: held while a command is decided and appended; commands: how many hold it or wait for it. reading: of the log,
    under way.
    """

    __slots__ = ("_asked", "_past", "commands", "events", "lock", "reading", "state")

    def __init__(self) -> None:
        self.state: State = Unopened()
        self.events: list[Recorded] = []
        self.lock = asyncio.Lock()
        self.commands = 0
        self.reading: asyncio.Task[None] | None = None
        self._past: Hot | None = None
        self._asked: dict[int, tuple[DecisionView, ...]] = {}

    @property
    def version(self) -> int:
        """Number of the last event known here."""
        return len(self.events)

    @property
    def game(self) -> Game:
        """The game; raises GameNotFound before its first event is known."""
        if not isinstance(self.state, Game):
            raise GameNotFound
        return self.state

    def when(self, version: int) -> datetime | None:
        """Time of an event; None for a later one than is known."""
        return self.events[version - 1].occurred_at if 0 < version <= len(self.events) else None

    def until(self, moment: datetime) -> "Hot":
        """Gives the game as it was at a moment that never goes back, but at least up to its first deal."""
        past = self._past = self._past or Hot()
        known = past.version
        waits = known == 0 or past.game.round is None  # there is nothing to hide yet
        for recorded in self.events[known:]:
            waits = waits and not isinstance(recorded.event, RoundDealt)
            if not waits and recorded.occurred_at > moment:
                break
            known += 1
        past.record(self.events[past.version : known])
        return past

    def at(self, version: int) -> "Hot":
        """Gives the game as it was at one of its versions, from 1; at the last one it is the game itself.

        Cost: all events up to a version before the last are folded.
        """
        if version == self.version:
            return self
        then = Hot()
        then.record(self.events[:version])
        return then

    def still(self) -> "Hot":
        """Gives the game as it is now, which does not go on."""
        still = Hot()
        still.state, still.events = self.state, self.events[:]
        return still

    def asked(self, seat: int) -> tuple[DecisionView, ...]:
        """Lists the seat's open questions with all their options.

        Cost: once for each version, a tenth of a second where a contract of somebody's own asks for the plain search.
        """
        if seat not in self._asked:
            self._asked[seat] = decisions_of(self.game, seat)
        return self._asked[seat]

    @property
    def size(self) -> int:
        """Bytes that the game takes in memory, nearly."""
        return GAME_BYTES + EVENT_BYTES * len(self.events)

    def record(self, told: Sequence[Recorded], state: State | None = None) -> None:
        """Records the next events; those that are known already, or would leave a gap, are left alone.

        state: the game as it is after the last of them, where the caller has it.
        """
        new = [recorded for recorded in told if recorded.version > self.version]
        if new and new[0].version == self.version + 1:
            self.state = state or fold((recorded.event for recorded in new), self.state)
            self.events += new
            self._asked.clear()
