"""Quick match: a player says what they want to play, and waits with a ticket until others want the same."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, Protocol, TypeAlias
from uuid import UUID

from msgspec import Struct
from msgspec.structs import replace

from domain.commands import Pace
from domain.ruleset import Players
from services.ids import public_id
from services.limits import TooManyGames
from services.lobby import GameFilter, Lobby
from services.ports import KeyedRequest, Principal, Reservations
from services.ratings import Rating
from services.reserving import reserved_id
from services.seats import is_untouched
from services.tables import Tables

UNSEEN_S = 600  # a ticket that nobody has asked about for so long is over
MAX_BOTS_AFTER_S = 3600
TICKETS_LISTED = 50

PACES: dict[str, Pace] = {
    "live": Pace(claim_window_s=5, turn_s=60, bot_delay_ms=700),
    "correspondence": Pace(claim_window_s=12 * 3600, turn_s=3 * 24 * 3600),
}
"""What the classes of pace mean."""

TicketState: TypeAlias = Literal["waiting", "seated", "matched", "expired", "cancelled"]
"""`seated`: it has a place at a game that is just being opened; to its player it waits until the game is there."""


class NewTicket(Struct, frozen=True):
    """What a player wants. players: how many may sit at the table; bots_after_s: from when on with bots, None: never.

    token_id: it waits as long as this token lives. rating: the mean of the player's rating, by which others are chosen.
    """

    player_id: str
    token_id: str
    ruleset: str
    players: Players
    pace: Pace
    bots_after_s: int | None
    rating: float


class Ticket(Struct, frozen=True):
    """A kept ticket. waited_s: until it was over, or until now; unseen_s: since its player has asked about it."""

    ticket_id: str
    wanted: NewTicket
    state: TicketState
    created_at: datetime
    waited_s: float
    unseen_s: float
    game_id: str | None


class SeatedTable(Struct, frozen=True):
    """Tickets that have got places at one game, in the order of its seats; bots have the others of all `seats`."""

    game_id: str
    tickets: tuple[Ticket, ...]
    seats: int


class Tickets(Protocol):
    """The tickets that are kept."""

    async def keep(self, ticket_id: UUID, new: NewTicket) -> Ticket | None:
        """Keeps a ticket; where this id is kept already, gives that one. None for who waits for the ruleset already."""
        ...

    async def find(self, ticket_id: str, player_id: str) -> Ticket | None:
        """Finds a player's ticket; one that waits counts as seen."""
        ...

    async def of_player(self, player_id: str, limit: int) -> list[Ticket]:
        """Lists a player's tickets, the newest first; they count as seen."""
        ...

    async def cancel(self, ticket_id: str, player_id: str) -> Ticket | None:
        """Ends a player's ticket where it waits, and gives it as it is then."""
        ...

    async def waiting(self, limit: int) -> list[Ticket]:
        """Lists tickets that wait, the oldest first, those with a pace of none of the classes after all others.

        Those of the classes that fit nobody are few, so that nobody fills the list with what can never be seated.
        """
        ...

    async def expire(self, ticket_ids: Sequence[str]) -> None:
        """Ends those of the tickets that have no game yet."""
        ...

    async def seat(self, game_id: str, ticket_ids: Sequence[str], seats: int) -> bool:
        """Gives the tickets, all of which must wait, places at a game to be opened: all of them, or none (false)."""
        ...

    async def seated(self) -> list[SeatedTable]:
        """Lists tables whose games were not said to be there."""
        ...

    async def tell(self, game_id: str) -> None:
        """Keeps that a game is there: its players are told. Doing it again changes nothing."""
        ...

    async def release(self, game_id: str, after_s: float) -> None:
        """Lets those wait again who have places at a game that is not opened, since `after_s` at least.

        Who has asked for another one meanwhile waits with that, and this one is over.
        """
        ...

    async def forget_old(self) -> None:
        """Removes tickets that have been over for a week."""
        ...


class TicketNotFound(Exception):
    """The player has no such ticket."""


class AlreadyWaiting(Exception):
    """The player waits for a game by this ruleset already."""


class AlreadyMatched(Exception):
    """The ticket has its game."""


async def ask(
    tickets: Tickets,
    lobby: Lobby,
    tables: Tables,
    reservations: Reservations,
    wanted: NewTicket,
    request: KeyedRequest,
    at_most: int,
) -> tuple[Ticket, bool]:
    """Keeps a ticket, with the player's present rating; the same request again gives the same one, and true.

    at_most: games that the player may play meanwhile. Errors: AlreadyWaiting, TooManyGames, KeyReused.
    """
    is_waiting = await _waits(tickets, wanted)
    is_playing = await _plays(lobby, tables, wanted.player_id, at_most)
    if await reservations.is_kept(request):  # looked at last: what the player has may come of this very request
        ticket_id = await reserved_id(reservations, request)
        made = await tickets.find(public_id("tkt", ticket_id), wanted.player_id)
        if made is not None:  # else the one before has lost against another, or has died
            return made, True
    if is_waiting:
        raise AlreadyWaiting
    if is_playing:
        raise TooManyGames
    ticket_id = await reserved_id(reservations, request)
    ratings = {each.ruleset: each.rating for each in await lobby.ratings(wanted.player_id)}
    rating = ratings.get(wanted.ruleset, Rating()).mu
    kept = await tickets.keep(ticket_id, replace(wanted, rating=rating))
    if kept is None:
        raise AlreadyWaiting
    return kept, False


async def _waits(tickets: Tickets, wanted: NewTicket) -> bool:
    own = await tickets.of_player(wanted.player_id, TICKETS_LISTED)
    return any(each.state == "waiting" and each.wanted.ruleset == wanted.ruleset for each in own)


async def _plays(lobby: Lobby, tables: Tables, player_id: str, at_least: int) -> bool:
    """Tells whether the player has so many games that are played; no opener's count has those of tickets.

    A hand that they were given and never played does not count. Cost: a statement; where there are so many, the games
    are read too.
    """
    found, before = 0, None
    while True:
        page = await lobby.page(player_id, GameFilter("playing", mine=True), before, at_least)
        if found + len(page.games) < at_least and page.last_id is None:
            return False
        for game in page.games:
            found += not is_untouched(await tables.fresh(game.game_id), player_id)
        if found >= at_least or page.last_id is None:
            return found >= at_least
        before = page.last_id


async def find(tickets: Tickets, principal: Principal, ticket_id: str) -> Ticket:
    """Gives the player's own ticket. Errors: TicketNotFound."""
    found = await tickets.find(ticket_id, principal.player_id)
    if found is None:
        raise TicketNotFound
    return found


async def cancel(tickets: Tickets, principal: Principal, ticket_id: str) -> None:
    """Ends the player's own ticket; one that is over stays as it is. Errors: TicketNotFound, AlreadyMatched."""
    found = await tickets.cancel(ticket_id, principal.player_id)
    if found is None:
        raise TicketNotFound
    if found.game_id is not None:
        raise AlreadyMatched
