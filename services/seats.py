"""Who sits where: leaving, bots that sit in, handing a hand over, coming back; cancelling, and playing again.

A person's seat stays theirs while a bot plays it: the seat keeps their id, and they may reclaim it at any time.
"""

from collections.abc import Callable

from domain.commands import (
    CancelGame,
    ChangeController,
    LeaveForGood,
    LeaveSeat,
    Level,
    SeatBot,
    SeatPlan,
    TableCommand,
)
from domain.events import SeatChanged
from domain.refusals import Refused, SeatNotHeld, SeatTaken
from domain.state import Game, Seat, is_over
from services.games import NewGame, asked_by, refuse_unless_opener, refuse_unless_own, seat_at
from services.hot import Hot
from services.ids import new_uuid
from services.listings import ended_at, told_at
from services.lobby import GameFilter, Lobby
from services.outcomes import Denied, Outcome
from services.ports import Accounts, KeyedRequest, Principal
from services.seeing import NotSeated, as_listed, known_game
from services.tables import Draft, Tables

Ask = Callable[[Game], TableCommand]
"""Gives the command that a request means in this game; raises where the caller has no right to it."""


class GameNotFinished(Denied):
    """That is possible when the game is over."""


class PlayerNotFound(Denied):
    """There is no such player."""


class HandsFull(Denied):
    """The other player plays so many games that nobody may hand them one unasked."""


async def leave_seat(tables: Tables, principal: Principal, game_id: str, seat: int) -> Hot:
    """Opens the player's own seat again, while the game waits; doing it again changes nothing."""

    def ask(game: Game) -> TableCommand:
        if seat_at(game, seat).controller != "open":
            refuse_unless_own(game, seat, principal)
        return LeaveSeat(seat)

    return (await _carry_out(tables, principal, game_id, ask))[0]


async def cancel_game(tables: Tables, principal: Principal, game_id: str, request: KeyedRequest) -> tuple[Hot, Outcome]:
    """Cancels a waiting game at its opener's word."""

    def ask(game: Game) -> TableCommand:
        refuse_unless_opener(game, principal)
        return CancelGame("opener")

    return await _carry_out(tables, principal, game_id, ask, request)


async def seat_bot(tables: Tables, principal: Principal, game_id: str, seat: int, level: Level) -> Hot:
    """Seats a bot: the opener where nobody sits, while the game waits; later a player in their own place."""

    def ask(game: Game) -> TableCommand:
        if game.status == "waiting":
            refuse_unless_opener(game, principal)
            return SeatBot(seat, level)
        if seat_at(game, seat).player_id != principal.player_id:
            refuse_unless_own(game, seat, principal)  # tells which way it is another's
        return ChangeController(seat, "bot", principal.player_id, level, "sat_in")

    return (await _carry_out(tables, principal, game_id, ask))[0]


async def remove_bot(tables: Tables, principal: Principal, game_id: str, seat: int) -> Hot:
    """Removes a bot: the opener while the game waits; later the player for whom it sits in, who is back with that."""

    def ask(game: Game) -> TableCommand:
        if game.status == "waiting":
            refuse_unless_opener(game, principal)
            if seat_at(game, seat).controller == "human":
                raise Refused(SeatTaken(seat))
            return LeaveSeat(seat)
        return _coming_back(game, seat, principal)

    return (await _carry_out(tables, principal, game_id, ask))[0]


async def abandon_seat(
    tables: Tables, principal: Principal, game_id: str, seat: int, request: KeyedRequest
) -> tuple[Hot, Outcome]:
    """Leaves the game for good: a bot plays on, or the seat is out, as the rules of the game say."""

    def ask(game: Game) -> TableCommand:
        refuse_unless_own(game, seat, principal)
        return LeaveForGood(seat)

    return await _carry_out(tables, principal, game_id, ask, request)


async def reclaim_seat(
    tables: Tables, principal: Principal, game_id: str, seat: int, request: KeyedRequest
) -> tuple[Hot, Outcome]:
    """Takes the own seat back from the bot that sits in, in any phase."""
    return await _carry_out(tables, principal, game_id, lambda game: _reclaiming(game, seat, principal), request)


async def hand_over(
    tables: Tables,
    accounts: Accounts,
    lobby: Lobby,
    principal: Principal,
    game_id: str,
    seat: int,
    successor: str,
    request: KeyedRequest,
    at_most: int,
) -> tuple[Hot, Outcome]:
    """Gives the own hand to another player, in any phase, who is not asked.

    at_most: games that they may play then, as far as they are projected. Errors: PlayerNotFound; HandsFull; Refused
    where they sit at this table already.
    """
    is_known = successor in await accounts.names([successor])
    playing = await lobby.page(successor, GameFilter("playing", mine=True), None, at_most)

    def ask(game: Game) -> TableCommand:
        refuse_unless_own(game, seat, principal)
        if not is_known:
            raise PlayerNotFound
        command = handing_over(game, seat, successor)
        if len(playing.games) >= at_most:
            raise HandsFull
        return command

    return await _carry_out(tables, principal, game_id, ask, request)


def handing_over(game: Game, seat: int, successor: str) -> TableCommand:
    """Is the command that gives a seat to a player who does not sit at the table yet."""
    if any(other.player_id == successor for other in game.seats):
        raise Refused(SeatTaken(seat))
    return ChangeController(seat, "human", successor, None, "handed_over")


def is_untouched(hot: Hot, player_id: str) -> bool:
    """Tells whether the player was handed a seat and has not played from it: who never wanted it has to bear nothing.

    Giving it to a bot or to somebody else is no play; coming back to it is.
    """
    given: int | None = None
    for recorded in hot.events:
        match recorded.event:
            case SeatChanged(seat, _, holder, _, reason):
                if holder == player_id and reason in ("handed_over", "opened", "taken", "reclaimed"):
                    given = seat if reason == "handed_over" else None
            case event:
                if recorded.actor == "player" and given is not None and getattr(event, "seat", None) == given:
                    given = None
    return given is not None


async def rematch_of(tables: Tables, principal: Principal, game_id: str) -> NewGame:
    """Plans the same game once more: the caller and the bots sit where they sat, the others' seats are open.

    Errors: NotSeated for who did not play it; GameNotFinished. Who played may know of the new game, private or not, but
    for those whom a bot stands for and who are not told yet that the game is over.
    """
    hot = as_listed(tables, await known_game(tables, principal, game_id), principal)
    game = hot.game
    if all(seat.player_id != principal.player_id for seat in game.seats):
        raise NotSeated
    if not is_over(game.status):
        raise GameNotFinished
    told = told_at(game, ended_at(reversed(hot.events)))
    is_told = told is None or told <= tables.now()
    return NewGame(
        rules=game.rules,
        pace=game.pace,
        seats=tuple(_again(seat, principal) for seat in game.seats),
        visibility=game.visibility,
        spectators=game.spectators,
        hints=game.hints,
        spectator_delay_s=game.spectator_delay_s,
        rematch_of=game_id,
        invited=tuple(
            seat.player_id
            for seat in game.seats
            if seat.player_id is not None and (seat.controller == "human" or is_told)
        ),
    )


def _again(seat: Seat, principal: Principal) -> SeatPlan:
    if seat.player_id == principal.player_id:
        return SeatPlan("human", principal.player_id)
    if seat.controller == "bot" and seat.player_id is None:
        return SeatPlan("bot", level=seat.level)
    return SeatPlan("open")


async def _carry_out(
    tables: Tables, principal: Principal, game_id: str, ask: Ask, request: KeyedRequest | None = None
) -> tuple[Hot, Outcome]:
    command_id = new_uuid()

    def plan(draft: Draft) -> None:
        draft.carry_out(ask(draft.game), "player", command_id)

    outcome = await tables.carry_out(game_id, asked_by(principal, plan), request)
    return tables.in_memory(game_id), outcome


def _reclaiming(game: Game, seat: int, principal: Principal) -> TableCommand:
    command = _coming_back(game, seat, principal)
    if game.seats[seat].controller != "bot":
        raise Refused(SeatNotHeld(seat))
    return command


def _coming_back(game: Game, seat: int, principal: Principal) -> TableCommand:
    if seat_at(game, seat).player_id != principal.player_id:
        raise NotSeated
    return ChangeController(seat, "human", principal.player_id, None, "reclaimed")
