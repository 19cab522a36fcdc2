"""The twins in memory of what the lobby is served from."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from uuid import UUID

from msgspec import Struct

from services.ids import public_id
from services.listings import ListedGame, PlayerResult, Standing
from services.lobby import GameFilter, Page, Rated, is_wanted
from services.memory import Clock, MemoryLog, utc_now
from services.ports import Recorded
from services.projections import Follower
from services.ratings import Rating, Subject, rate
from services.tickets import PACES, NewTicket, SeatedTable, Ticket, TicketState


class MemoryLobby:
    """A Lobby that has projected every event of a MemoryLog as soon as it is appended."""

    def __init__(self, log: MemoryLog) -> None:
        self._log = log
        self._follower = Follower()
        self._ratings: dict[Subject, Rating] = {}
        self._games: dict[str, ListedGame] = {}
        self._results: dict[tuple[str, str], PlayerResult] = {}
        log.listeners.append(self._project)

    async def page(self, player_id: str, wanted: GameFilter, before: str | None, limit: int) -> Page:
        found = [
            game
            for game_id, game in sorted(self._games.items(), reverse=True)
            if (before is None or game_id < before) and is_wanted(game, player_id, wanted, self._log.now())
        ]
        return Page(tuple(found[:limit]), (), found[limit - 1].game_id if len(found) > limit else None)

    async def standings(self, player_id: str) -> list[Standing]:
        results = await self.results(player_id, len(self._results))
        return [
            Standing(ruleset, len(those), sum(each.is_won for each in those), sum(each.score for each in those))
            for ruleset in sorted({each.ruleset for each in results})
            for those in ([each for each in results if each.ruleset == ruleset],)
        ]

    async def results(self, player_id: str, limit: int) -> list[PlayerResult]:
        now = self._log.now()
        told = [each for _, each in sorted(self._results.items(), reverse=True) if (each.told_at or now) <= now]
        return [result for result in told if result.player_id == player_id][:limit]

    async def ratings(self, player_id: str) -> list[Rated]:
        rated = [Rated(*subject, rating) for subject, rating in sorted(self._ratings.items())]
        return [each for each in rated if each.player_id == player_id]

    async def leaderboard(self, ruleset: str, below: tuple[float, str] | None, limit: int) -> list[Rated]:
        places = {
            (rating.ordinal, player): rating for (player, name), rating in self._ratings.items() if name == ruleset
        }
        chosen = sorted((place for place in places if below is None or place < below), reverse=True)[:limit]
        return [Rated(place[1], ruleset, places[place]) for place in chosen]

    def _project(self, recorded: list[Recorded]) -> None:
        changes = self._follower.follow(recorded)
        self._games |= {game.game_id: game for game in changes.games}
        self._results |= {(result.game_id, result.player_id): result for result in changes.results}
        self._ratings = rate(changes.rated, self._ratings)


class MemoryTickets:
    """Tickets in a dict, in the order in which they were made."""

    def __init__(self, now: Clock = utc_now) -> None:
        self.now = now
        self.kept: dict[str, KeptTicket] = {}

    async def keep(self, ticket_id: UUID, new: NewTicket) -> Ticket | None:
        name, now = public_id("tkt", ticket_id), self.now()
        if name not in self.kept and any(
            (each.wanted.player_id, each.wanted.ruleset, each.state) == (new.player_id, new.ruleset, "waiting")
            for each in self.kept.values()
        ):
            return None
        return self._shown(self.kept.setdefault(name, KeptTicket(name, new, now, now)))

    async def find(self, ticket_id: str, player_id: str) -> Ticket | None:
        kept = self.kept.get(ticket_id)
        if kept is None or kept.wanted.player_id != player_id:
            return None
        kept.seen_at = self.now() if kept.state == "waiting" else kept.seen_at
        return self._shown(kept)

    async def of_player(self, player_id: str, limit: int) -> list[Ticket]:
        found = [await self.find(each, player_id) for each in sorted(self.kept, reverse=True)]
        return [each for each in found if each is not None][:limit]

    async def cancel(self, ticket_id: str, player_id: str) -> Ticket | None:
        if await self.find(ticket_id, player_id) is not None:
            self._end(ticket_id, "cancelled", "waiting")
        return await self.find(ticket_id, player_id)

    async def waiting(self, limit: int) -> list[Ticket]:
        waiting = [self._shown(each) for each in self.kept.values() if each.state == "waiting"]
        return sorted(waiting, key=lambda each: each.wanted.pace not in PACES.values())[:limit]

    async def expire(self, ticket_ids: Sequence[str]) -> None:
        for each in ticket_ids:
            if self._end(each, "expired", "waiting", "seated"):
                self.kept[each].game_id = self.kept[each].seats = None

    async def seat(self, game_id: str, ticket_ids: Sequence[str], seats: int) -> bool:
        if any(self.kept[each].state != "waiting" for each in ticket_ids):
            return False
        for seat, each in enumerate(ticket_ids):
            self._end(each, "seated", "waiting")
            self.kept[each].game_id, self.kept[each].seats, self.kept[each].seat = game_id, seats, seat
        return True

    async def seated(self) -> list[SeatedTable]:
        those = [each for each in self.kept.values() if each.state == "seated"]
        games = {each.game_id: each.seats for each in those}
        return [
            SeatedTable(game_id, tuple(map(self._shown, _in_order(those, game_id))), seats)
            for game_id, seats in games.items()
            if game_id is not None and seats is not None
        ]

    async def tell(self, game_id: str) -> None:
        for each in self.kept.values():
            if (each.game_id, each.state) == (game_id, "seated"):
                each.state = "matched"

    async def release(self, game_id: str, after_s: float) -> None:
        now = self.now()
        for each in self.kept.values():
            if (each.game_id, each.state) != (game_id, "seated") or each.ended_at is None:
                continue
            if each.ended_at > now - timedelta(seconds=after_s):
                continue
            is_over = any(
                (other.wanted.player_id, other.wanted.ruleset, other.state)
                == (each.wanted.player_id, each.wanted.ruleset, "waiting")
                for other in self.kept.values()
            )
            each.state, each.ended_at = ("expired", now) if is_over else ("waiting", None)
            each.seen_at, each.game_id, each.seats = now, None, None

    async def forget_old(self) -> None:
        since = self.now() - timedelta(days=7)
        is_old = [each for each, kept in self.kept.items() if kept.ended_at and kept.ended_at < since]
        for each in is_old:
            del self.kept[each]

    def _end(self, ticket_id: str, state: TicketState, *before: TicketState) -> bool:
        kept = self.kept[ticket_id]
        if kept.state not in before:
            return False
        kept.state, kept.ended_at = state, self.now()
        return True

    def _shown(self, kept: "KeptTicket") -> Ticket:
        now = self.now()
        waited_s, unseen_s = ((kept.ended_at or now) - kept.created_at), now - kept.seen_at
        spans = (waited_s.total_seconds(), unseen_s.total_seconds())
        return Ticket(kept.ticket_id, kept.wanted, kept.state, kept.created_at, *spans, kept.game_id)


class KeptTicket(Struct):
    """A row of the table of tickets."""

    ticket_id: str
    wanted: NewTicket
    created_at: datetime
    seen_at: datetime
    state: TicketState = "waiting"
    ended_at: datetime | None = None
    game_id: str | None = None
    seats: int | None = None
    seat: int = 0


def _in_order(tickets: Sequence[KeptTicket], game_id: str) -> list[KeptTicket]:
    return sorted((each for each in tickets if each.game_id == game_id), key=lambda kept: kept.seat)
