"""From the log to deliveries: each event becomes one for every webhook of those who sit at its table.

The log is read in the order of commits; deliveries are saved together with the place that was read, and their ids
follow from what they tell, so that each is made once, whoever dies when. While nobody listens nothing is read.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Protocol
from uuid import UUID

from msgspec import Struct, field

from domain.decisions import open_decisions
from domain.events import GameOpened, NoncesDropped, SeatChanged
from domain.evolve import evolve, fold
from domain.state import Game, State
from domain.visible import kind_of
from services.handouts import HandOuts
from services.ids import public_id
from services.ports import Recorded
from services.projections import Batch
from services.relay import Position
from services.webhooks import DECISION_OPENED, is_chosen

BATCH = 500
PAUSE_S = 0.1  # messages are so much late
SWEEP_S = 1.0
UPKEEP_S = 60.0
KEPT_S = 7 * 24 * 3600  # of deliveries, whatever became of them
BEHIND = 50_000  # a webhook that has more waiting deliveries is switched off
SEATING = (GameOpened, SeatChanged, NoncesDropped)
"""The events that change who sits where."""
_KNOWN_GAMES = 10_000
_AT_ONCE = 1_000

_log = logging.getLogger(__name__)


class Listener(Struct, frozen=True):
    """A webhook that is switched on; what happened before it was made is not for it."""

    webhook_id: str
    player_id: str
    types: tuple[str, ...]
    game_id: str | None
    created_at: datetime


class NewDelivery(Struct, frozen=True):
    """A delivery to be made. happened_at: the time of the event."""

    webhook_id: str
    game_id: str
    version: int
    is_decision: bool
    type: str
    happened_at: datetime

    @property
    def delivery_id(self) -> str:
        """Names it after what it tells; later ones sort later, and those of one game and moment by version."""
        told = f"{self.webhook_id} {self.game_id} {self.version} {self.is_decision}"
        digest = int.from_bytes(sha256(told.encode()).digest()[:8], "big")
        stamp, place = int(self.happened_at.timestamp() * 1000), (2 * self.version + self.is_decision) & 0xFFF
        return public_id("msg", UUID(int=stamp << 80 | 0x7 << 76 | place << 64 | 0b10 << 62 | digest & (1 << 62) - 1))


class AnnouncedLog(Protocol):
    """The log as its one announcer reads it. Every call raises Unavailable when the leadership is lost."""

    async def place(self) -> Position:
        """Gives the place that was saved last."""
        ...

    async def barrier(self) -> tuple[Position, bool]:
        """Gives a place before which nothing is under way any more, and whether anybody listens to what follows it."""
        ...

    async def batch(self, after: Position, limit: int) -> Batch:
        """Reads in order what was committed after a place, and gives the place of the last one."""
        ...

    async def seat_changes(self, game_id: str, before: int) -> list[Recorded]:
        """Reads a game's events of SEATING before a version."""
        ...

    async def beginning(self, game_id: str, before: int) -> list[Recorded]:
        """Reads all of a game's events before a version."""
        ...

    async def listeners(self, player_ids: Sequence[str]) -> list[Listener]:
        """Lists the webhooks of these players, but for suspended ones."""
        ...

    async def save(self, new: Sequence[NewDelivery], place: Position) -> None:
        """Makes deliveries, except for those that there are already, and saves the place, together."""
        ...

    async def due(self, limit: int) -> list[str]:
        """Lists webhooks to which something is due by now."""
        ...

    async def forget_old(self, age_s: float, limit: int) -> int:
        """Removes up to `limit` deliveries of this age; gives how many."""
        ...

    async def disable_behind(self, most: int) -> list[str]:
        """Switches off the webhooks with more than `most` waiting deliveries; gives which."""
        ...


class _Followed(Struct):
    """A game of which an event was read. people: who sits where; state: only where somebody listens.

    is_lost: its events make no game any more.
    """

    people: dict[int, str] = field(default_factory=dict)
    version: int = 0
    state: State | None = None
    is_lost: bool = False


class Announcer:
    """One leadership of the announcing."""

    def __init__(self, log: AnnouncedLog, hand_outs: HandOuts) -> None:
        self._log = log
        self._hand_outs = hand_outs
        self._place: Position | None = None
        self._games: OrderedDict[str, _Followed] = OrderedDict()
        self._swept_at = self._kept_up_at = -UPKEEP_S

    async def run(self) -> None:
        """Announces until Unavailable is raised by the log."""
        clock = asyncio.get_running_loop().time
        while True:
            if await self.step() < BATCH:
                await self.sweep(clock())
                await asyncio.sleep(PAUSE_S)

    async def step(self) -> int:
        """Announces one batch and gives how many events it had; fewer than BATCH: that was all for now."""
        barrier, is_wanted = await self._log.barrier()
        place = await self._log.place() if self._place is None else self._place
        if not is_wanted:
            self._place = max(place, barrier)
            self._games.clear()
            return 0
        batch, self._place = await self._log.batch(place, BATCH)
        if batch:
            new = await self._announced(batch)
            await self._log.save(new, self._place)
            for webhook_id in dict.fromkeys(each.webhook_id for each in new):
                self._hand_outs.hand_out(webhook_id)
        return len(batch)

    async def sweep(self, now: float) -> None:
        """Hands out again what is due, and removes what is old, each now and then."""
        if now - self._swept_at >= SWEEP_S:
            self._swept_at = now
            for webhook_id in await self._log.due(_AT_ONCE):
                self._hand_outs.hand_out(webhook_id)
        if now - self._kept_up_at >= UPKEEP_S:
            self._kept_up_at = now
            if self._place is not None:
                await self._log.save((), self._place)  # or a restart would read what nobody has listened to
            await self._log.disable_behind(BEHIND)
            while await self._log.forget_old(KEPT_S, _AT_ONCE) == _AT_ONCE:
                pass

    async def _announced(self, batch: Sequence[Recorded]) -> list[NewDelivery]:
        """Makes the deliveries of a batch."""
        await self._meet(batch)
        listeners = await self._listeners(batch)
        new: list[NewDelivery] = []
        for recorded in batch:
            followed = self._games[recorded.game_id]
            if recorded.version <= followed.version:
                continue  # read again after a loss
            before = dict(followed.people)
            _seat(followed.people, recorded)
            followed.version = recorded.version
            people = {*before.values(), *followed.people.values(), *_opener(recorded)}
            heard = [each for player in sorted(people) for each in listeners.get(player, ())]
            if heard or followed.state is not None:
                beginning: list[Recorded] = []
                if followed.state is None and not followed.is_lost:
                    beginning = await self._log.beginning(recorded.game_id, recorded.version)
                new += _deliveries(recorded, heard, _asked(followed, beginning, recorded, before))
        while len(self._games) > _KNOWN_GAMES:
            self._games.popitem(last=False)
        return new

    async def _meet(self, batch: Iterable[Recorded]) -> None:
        """Learns who sits at games that are not known yet."""
        for recorded in batch:
            if recorded.game_id not in self._games:
                followed = self._games[recorded.game_id] = _Followed(version=recorded.version - 1)
                for change in await self._log.seat_changes(recorded.game_id, recorded.version):
                    _seat(followed.people, change)
            self._games.move_to_end(recorded.game_id)

    async def _listeners(self, batch: Iterable[Recorded]) -> dict[str, list[Listener]]:
        """Finds the webhooks of all who sit at these games before or after any of the events."""
        people = {player for recorded in batch for player in self._games[recorded.game_id].people.values()}
        people |= {r.event.player_id for r in batch if isinstance(r.event, SeatChanged) and r.event.player_id}
        people |= {player for recorded in batch for player in _opener(recorded)}
        found: dict[str, list[Listener]] = {}
        for listener in await self._log.listeners(sorted(people)) if people else ():
            found.setdefault(listener.player_id, []).append(listener)
        return found


def _seat(people: dict[int, str], recorded: Recorded) -> None:
    match recorded.event:
        case SeatChanged(seat=seat, controller="human", player_id=str(player_id)):
            people[seat] = player_id
        case SeatChanged(seat=seat):
            people.pop(seat, None)
        case NoncesDropped(seats=seats):
            for seat in seats:
                people.pop(seat, None)


def _opener(recorded: Recorded) -> tuple[str, ...]:
    opened_by = recorded.event.opened_by if isinstance(recorded.event, GameOpened) else None
    return () if opened_by is None else (opened_by,)


def _asked(followed: _Followed, beginning: Sequence[Recorded], recorded: Recorded, before: dict[int, str]) -> set[str]:
    """Records an event, and gives the players of whom something is asked that was not asked of them before it."""
    if followed.is_lost:
        return set()
    try:
        state = followed.state or fold(each.event for each in beginning)
        known = _decisions(state)
        followed.state = evolve(state, recorded.event)
    except Exception as error:  # noqa: BLE001 - one broken game must not stop the messages of all
        # The error's text stays out of the log: it may tell cards.
        _log.error("%s: %s is no game any more at version %d", type(error).__name__, recorded.game_id, recorded.version)
        followed.state, followed.is_lost = None, True
        return set()
    return {
        followed.people[seat]
        for seat, decision_id in _decisions(followed.state)
        if seat in followed.people and ((seat, decision_id) not in known or before.get(seat) != followed.people[seat])
    }


def _decisions(state: State) -> set[tuple[int, str]]:
    return {(each.seat, each.decision_id) for each in open_decisions(state)} if isinstance(state, Game) else set()


def _deliveries(recorded: Recorded, heard: Iterable[Listener], asked: set[str]) -> list[NewDelivery]:
    """Lists what an event is for those who listen: itself, then the questions that it has asked them."""
    new: list[NewDelivery] = []
    type_ = f"game.{kind_of(recorded.event)}"
    for each in heard:
        if each.created_at > recorded.occurred_at or each.game_id not in (None, recorded.game_id):
            continue
        what = (each.webhook_id, recorded.game_id, recorded.version)
        if is_chosen(type_, each.types):
            new.append(NewDelivery(*what, is_decision=False, type=type_, happened_at=recorded.occurred_at))
        if each.player_id in asked and is_chosen(DECISION_OPENED, each.types):
            new.append(NewDelivery(*what, is_decision=True, type=DECISION_OPENED, happened_at=recorded.occurred_at))
    return new
