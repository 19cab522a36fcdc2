"""Quick match: saying what one wants to play, and being seated with others who want the same."""

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta, Struct

from api.calls import Answer, Call, KeyedCall, NoQuery
from api.house import House
from api.lobby import pace_of, replay_header
from api.overrides import Preset
from api.paths import ticket_id_of
from api.requests import invalid
from api.rules import ruleset_of
from api.shapes import NewPace
from domain.bounds import MAX_PLAYERS
from domain.commands import Pace
from domain.ruleset import Players
from services import tickets
from services.rendering import timestamp
from services.tickets import MAX_BOTS_AFTER_S, PACES, TICKETS_LISTED, NewTicket, Ticket

TicketStatus: TypeAlias = Literal["waiting", "matched", "expired", "cancelled"]


class PlayersWanted(Struct, frozen=True, forbid_unknown_fields=True):
    """How many may sit at the table, bots included."""

    min: Annotated[int, Meta(ge=2, le=MAX_PLAYERS)]
    max: Annotated[int, Meta(ge=2, le=MAX_PLAYERS)]


class TicketRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """What to play: a preset, with how many, and how fast.

    players: null for as many as the preset is for. pace_class: `live` has turns of a minute, `correspondence` of three
    days; an exact `pace` goes before it. bots_after_s: after so many seconds bots may fill the table; null: never.
    """

    ruleset: Preset
    players: PlayersWanted | None = None
    pace_class: Literal["live", "correspondence"] = "live"
    pace: NewPace | None = None
    bots_after_s: Annotated[int, Meta(ge=0, le=MAX_BOTS_AFTER_S)] | None = None


class TicketBody(Struct, frozen=True):
    """A ticket. waited_s: until now, or until it was over; game_id: once it is `matched`, the game has begun then."""

    ticket_id: str
    status: TicketStatus
    ruleset: str
    players: Players
    pace: Pace
    bots_after_s: int | None
    created_at: str
    waited_s: int
    game_id: str | None


class TicketList(Struct, frozen=True):
    """The caller's tickets of the last days, the newest first."""

    items: tuple[TicketBody, ...]


async def create_ticket(house: House, call: KeyedCall[NoQuery, TicketRequest]) -> Answer[TicketBody]:
    """Waits for others who want to play the same. As soon as there are enough a game is opened, and starts by itself.

    A player waits once for each ruleset, and not while they play as many games as they may open; a hand that somebody
    gave them counts only when they have played from it. Read the ticket now and then: one that nobody has asked about
    for ten minutes expires, and so does one whose token does not live any more. A pace of one's own is looked at after
    those of the classes. The game is public, played by the preset as it stands, without hints.
    """
    body, caller = call.body, call.caller
    wanted = NewTicket(
        player_id=caller.player_id,
        token_id=caller.token_id,
        ruleset=body.ruleset,
        players=_players(body),
        pace=PACES[body.pace_class] if body.pace is None else pace_of(body.pace),
        bots_after_s=body.bots_after_s,
        rating=0,
    )
    at_most = house.quotas.games_unfinished
    ticket, is_repeated = await tickets.ask(
        house.tickets, house.lobby, house.tables, house.reservations, wanted, call.request, at_most
    )
    headers = {"location": f"/v1/matchmaking/tickets/{ticket.ticket_id}"}
    return Answer(_as_made(ticket), headers | replay_header(is_replayed=is_repeated))


async def list_tickets(house: House, call: Call[NoQuery, None]) -> Answer[TicketList]:
    """Lists the caller's tickets, the newest 50 of the last days. Those that wait count as asked about."""
    own = await house.tickets.of_player(call.caller.player_id, TICKETS_LISTED)
    return Answer(TicketList(tuple(_shown(each) for each in own)))


async def get_ticket(house: House, call: Call[NoQuery, None]) -> Answer[TicketBody]:
    """Tells whether a ticket of the caller's waits, or which game it has led to."""
    found = await tickets.find(house.tickets, call.caller, ticket_id_of(call.path))
    shown = _shown(found)
    if shown.game_id is not None:
        house.at_tables.sign(shown.game_id, call.caller.player_id)  # whoever is told of the table is coming
    return Answer(shown)


async def cancel_ticket(house: House, call: Call[NoQuery, None]) -> Answer[None]:
    """Gives up waiting. Doing it again changes nothing; a ticket that has its game is not cancelled any more."""
    await tickets.cancel(house.tickets, call.caller, ticket_id_of(call.path))
    return Answer(None)


def _players(body: TicketRequest) -> Players:
    possible = ruleset_of(body.ruleset, {}).players
    wanted = possible if body.players is None else Players(body.players.min, body.players.max)
    if not possible.min <= wanted.min <= wanted.max <= possible.max:
        detail = f"{body.ruleset} is for {possible.min} to {possible.max} players, and min is not above max."
        raise invalid("body", "/players", "bad_player_number", detail)
    return wanted


def _as_made(ticket: Ticket) -> TicketBody:
    """Shows a ticket as it was when it was made, so that a repeated request has the same answer."""
    return _body(ticket, "waiting", waited_s=0, game_id=None)


def _shown(ticket: Ticket) -> TicketBody:
    if ticket.state == "seated":
        return _body(ticket, "waiting", waited_s=int(ticket.waited_s), game_id=None)
    return _body(ticket, ticket.state, waited_s=int(ticket.waited_s), game_id=ticket.game_id)


def _body(ticket: Ticket, status: TicketStatus, *, waited_s: int, game_id: str | None) -> TicketBody:
    wanted = ticket.wanted
    return TicketBody(
        ticket_id=ticket.ticket_id,
        status=status,
        ruleset=wanted.ruleset,
        players=wanted.players,
        pace=wanted.pace,
        bots_after_s=wanted.bots_after_s,
        created_at=timestamp(ticket.created_at),
        waited_s=waited_s,
        game_id=game_id,
    )
