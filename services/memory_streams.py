"""Twins in memory of the ports that streams of people need."""

import time
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import asdict

from services.attendance import AWAY_S, EVERYWHERE, Sign
from services.listings import ListedGame
from services.memory import MemoryLog
from services.memory_accounts import MemoryAccounts
from services.order import SEATING, Mark, Place
from services.own_games import Projected, own_game
from services.ports import Recorded, Unavailable
from services.projections import Follower
from services.relay import Position
from services.stream_tickets import FIRST_USE_S, LIFE_S, TICKETS_AT_MOST, Opens, TicketHolder, TicketTimes


class MemoryOrder:
    """A LogOrder over a MemoryLog: events take their places when they are looked for, whoever else was told of them."""

    def __init__(self, log: MemoryLog) -> None:
        self.generation = "memory"
        self._log = log
        self._marks: list[Mark] = []
        self._heads: dict[str, int] = {}

    async def end(self) -> Place:
        self._look()
        return Place(self.generation, (len(self._marks), 0))

    async def after(self, position: Position, limit: int) -> list[Mark]:
        self._look()
        return self._marks[position[0] :][:limit]

    async def missed(self, game_ids: Sequence[str], position: Position, limit: int) -> list[Mark]:
        self._look()
        wanted = set(game_ids)
        return [mark for mark in self._marks[position[0] :] if mark.game_id in wanted][:limit]

    async def heads(self, game_ids: Sequence[str]) -> dict[str, int]:
        self._look()
        return {game_id: self._heads[game_id] for game_id in game_ids if game_id in self._heads}

    def _look(self) -> None:
        new = [
            recorded
            for game_id, events in self._log.games.items()
            for recorded in events[self._heads.get(game_id, 0) :]
        ]
        for recorded in sorted(new, key=lambda each: each.occurred_at):
            position = (len(self._marks) + 1, 0)
            event = recorded.event if isinstance(recorded.event, SEATING) else None
            self._marks.append(Mark(position, recorded.game_id, recorded.version, event))
            self._heads[recorded.game_id] = recorded.version


class MemoryOwnGames:
    """OwnGames that follow a MemoryLog as soon as it is appended to."""

    def __init__(self, log: MemoryLog) -> None:
        self._follower = Follower()
        self._games: dict[str, ListedGame] = {}
        self._known: set[tuple[str, str]] = set()  # player and game
        log.listeners.append(self._project)

    async def of(self, player_id: str) -> Projected:
        return Projected(tuple(own_game(self._games[game]) for player, game in self._known if player == player_id), ())

    def _project(self, recorded: list[Recorded]) -> None:
        changes = self._follower.follow(recorded)
        self._games |= {game.game_id: game for game in changes.games}
        for each in changes.acquaintances:
            (self._known.discard if each.tie is None else self._known.add)((each.player_id, each.game_id))


class MemoryAttendance:
    """An Attendance in a dict; with `is_lost` it is out of reach."""

    def __init__(self) -> None:
        self.is_lost = False
        self.later_s = 0.0  # that a test has gone ahead
        self._since = self.now()
        self._seen: dict[Sign, float] = {}

    async def attend(self, signs: Collection[Sign]) -> None:
        self._refuse_lost()
        self._seen |= dict.fromkeys(signs, self.now())

    async def absent(self, asked: Sequence[Sign]) -> set[Sign]:
        self._refuse_lost()
        now = self.now()
        if now - self._since <= AWAY_S:
            return set()
        there = {sign for sign, at in self._seen.items() if now - at < AWAY_S}
        return {sign for sign in asked if sign not in there and (EVERYWHERE, sign[1]) not in there}

    def now(self) -> float:
        """Is a clock in seconds."""
        return time.monotonic() + self.later_s

    def _refuse_lost(self) -> None:
        if self.is_lost:
            raise Unavailable


class KeptTicket(Struct):
    """A row of the table of tickets."""

    token_id: str
    opens: Opens
    made_at: datetime
    ends_at: datetime
    turn: int = 0


class MemoryStreamTickets:
    """Tickets of streams in a dict, by their hashes, in the order in which they were made."""

    def __init__(self, accounts: MemoryAccounts) -> None:
        self.kept: dict[bytes, KeptTicket] = {}
        self._accounts = accounts

    async def make(self, ticket: bytes, token_id: str, opens: Opens) -> TicketTimes | None:
        if not await self._accounts.living([token_id]):
            return None
        now = self._accounts.now()
        own = [each for each, kept in self.kept.items() if kept.token_id == token_id]
        surplus = set(own[: max(0, len(own) - TICKETS_AT_MOST + 1)])
        self.kept = {each: kept for each, kept in self.kept.items() if kept.ends_at > now and each not in surplus}
        made = KeptTicket(token_id, opens, now, now + timedelta(seconds=FIRST_USE_S))
        self.kept[ticket] = made
        return TicketTimes(made.ends_at, now + timedelta(seconds=LIFE_S))

    async def use(self, ticket: bytes, opens: Opens) -> TicketHolder | None:
        kept = self.kept.get(ticket)
        if kept is None or kept.ends_at <= self._accounts.now() or kept.opens != opens:
            return None
        for token, of in self._accounts.kept.items():
            if of.token.token_id == kept.token_id and (principal := await self._accounts.principal(token)):
                kept.ends_at = kept.made_at + timedelta(seconds=LIFE_S)
                kept.turn += 1
                return TicketHolder(**asdict(principal), ticket=ticket, turn=kept.turn)
        return None

    async def turns(self, tickets: Sequence[bytes]) -> dict[bytes, int]:
        return {ticket: self.kept[ticket].turn for ticket in tickets if ticket in self.kept}
