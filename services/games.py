"""Opening games, sitting down, starting, moving: what a player may ask of the house."""

import os
from collections.abc import Container
from typing import TypeAlias

from msgspec import Struct

from domain.bots import choose
from domain.commands import (
    Answer,
    Move,
    OpenGame,
    Pace,
    RevealNonce,
    SeatPlan,
    Spectators,
    StartGame,
    TakeSeat,
    Visibility,
)
from domain.decisions import seat_named
from domain.events import SeatChanged
from domain.luck import link
from domain.refusals import Refused, SeatNotFound
from domain.ruleset import Ruleset
from domain.state import Game, Seat
from domain.view import view_for
from services.hot import Hot
from services.ids import age_s, new_uuid, public_id
from services.limits import reserved_game
from services.outcomes import Denied, GameNotFound, OtherVersion, Outcome
from services.ports import KeyedRequest, NewEvent, Principal, Recorded, Reservations, Secrets
from services.rendering import seat_held_by
from services.seeing import NotSeated, known_game, refuse_unknown, sees_late, watched_game
from services.tables import Draft, Plan, Tables

REPEATED_FOR_S = 24 * 3600  # so long a request that has opened no game may be repeated
SEATINGS_AT_MOST = 200  # of one player in one game, and of bots there


class NotYourDecision(Denied):
    """The question is asked to another seat."""


class NotYourGame(Denied):
    """Only the player who opened the game may start it."""


class HintsForbidden(Denied):
    """This game is played without hints."""


class TooManySeatings(Denied):
    """The player has sat down in this game so often that they do so no more."""


class RefusedUnseen(Denied):
    """A refusal of a request by somebody who sees the game late: at which version it was must not be told."""

    def __init__(self, refusal: Refused | OtherVersion) -> None:
        super().__init__()
        self.refusal = refusal


class Hint(Struct, frozen=True):
    """What a bot would answer to a decision."""

    decision_id: str
    move: Move


class NewGame(Struct, frozen=True):
    """A game to be opened. `you` in `seats` has become the opener's own plan."""

    rules: Ruleset
    pace: Pace
    seats: tuple[SeatPlan, ...]
    visibility: Visibility
    spectators: Spectators
    hints: bool = True
    rematch_of: str | None = None
    invited: tuple[str, ...] = ()
    spectator_delay_s: int = 0


async def open_game(
    tables: Tables,
    secrets: Secrets,
    reservations: Reservations,
    principal: Principal,
    new: NewGame,
    request: KeyedRequest,
    at_most: int,
) -> tuple[Hot, Outcome]:
    """Opens a game; the same request again gives the game that it has opened, also after a crash in between.

    at_most: games that the player has opened and that are not over. Errors: FaultyRuleset before anything is kept;
    TooManyGames; KeyReused; GameNotFound where the same request was heard more than
    REPEATED_FOR_S ago and there is no such game, be it that it lies in an archive or that it was never opened.
    """
    seed = os.urandom(32)

    def plan(game_id: str) -> OpenGame:
        return OpenGame(
            game_id=game_id,
            rules=new.rules,
            pace=new.pace,
            seats=new.seats,
            commitment=link(seed, 0).hex(),
            opened_by=principal.player_id,
            visibility=new.visibility,
            spectators=new.spectators,
            hints=new.hints,
            rematch_of=new.rematch_of,
            invited=new.invited,
            spectator_delay_s=new.spectator_delay_s,
        )

    Draft(Hot()).carry_out(plan("gam_"), "player", new_uuid())
    uuid = await reserved_game(reservations, tables, request, at_most)
    game_id = public_id("gam", uuid)
    known = await tables.log.command_range(game_id, uuid)
    replayed = known is not None
    if known is None:
        if age_s(uuid) > REPEATED_FOR_S:
            raise GameNotFound  # its id belongs to a time that may be archived
        await secrets.keep(game_id, seed)
        seed = await secrets.seed(game_id)
        try:
            await tables.carry_out(game_id, lambda draft: draft.carry_out(plan(game_id), "player", uuid))
        except Refused:  # the same request has opened it in the meantime
            replayed = True
        known = await tables.log.command_range(game_id, uuid)
        assert known is not None
    return await tables.fresh(game_id), Outcome(uuid, *known, replayed=replayed)


async def take_seat(
    tables: Tables, principal: Principal, game_id: str, seat: int, nonce_commitment: str | None = None
) -> Hot:
    """Seats the player, with a commitment to a nonce where one is given; doing it again changes nothing."""
    command = TakeSeat(seat, principal.player_id, nonce_commitment)

    def plan(draft: Draft) -> None:
        draft.carry_out(command, "player", new_uuid())

    await tables.carry_out(game_id, asked_by(principal, plan))
    return tables.in_memory(game_id)


async def reveal_nonce(tables: Tables, principal: Principal, game_id: str, seat: int, nonce: str) -> Hot:
    """Takes the nonce that the player's seat has committed itself to; doing it again changes nothing.

    Errors: NotSeated, NotYourDecision for another's seat; Refused where none is waited for, or it is the wrong one.
    """

    def plan(draft: Draft) -> None:
        refuse_unless_own(draft.game, seat, principal)
        draft.carry_out(RevealNonce(seat, nonce), "player", new_uuid())

    await tables.carry_out(game_id, asked_by(principal, plan))
    return tables.in_memory(game_id)


Versions: TypeAlias = Container[int]
"""The versions that a request was made for."""


async def start_game(
    tables: Tables, principal: Principal, game_id: str, request: KeyedRequest, made_for: Versions | None = None
) -> tuple[Hot, Outcome]:
    """Starts a game at its opener's word; where `made_for` is given, only at such a version."""
    command_id = new_uuid()

    def plan(draft: Draft) -> None:
        refuse_unless_opener(draft.game, principal)
        refuse_other_version(draft, made_for)
        draft.carry_out(StartGame(), "player", command_id)

    outcome = await tables.carry_out(game_id, asked_by(principal, plan), request)
    return tables.in_memory(game_id), outcome


async def make_move(
    tables: Tables,
    principal: Principal,
    game_id: str,
    decision_id: str,
    move: Move,
    request: KeyedRequest,
    made_for: Versions | None = None,
) -> tuple[Hot, int, Outcome]:
    """Answers a decision for the player's seat; where `made_for` is given, only at such a version.

    Gives the game, the seat and what was written. Errors: NotSeated, NotYourDecision, and those of Tables.carry_out.
    """
    command_id = new_uuid()

    def plan(draft: Draft) -> None:
        seat = _seat_asked(draft.game, principal, decision_id)
        refuse_other_version(draft, made_for)
        draft.carry_out(Answer(seat, decision_id, move), "player", command_id)

    outcome = await tables.carry_out(game_id, asked_by(principal, plan), request)
    seat = seat_named(decision_id)  # theirs when it was asked, whoever holds it by now
    assert seat is not None
    return tables.in_memory(game_id), seat, outcome


async def try_move(tables: Tables, principal: Principal, game_id: str, decision_id: str, move: Move) -> Refused | None:
    """Judges a move as `make_move` would, and changes nothing; gives the refusal, or None for a legal move.

    Errors: GameNotFound, NotSeated, NotYourDecision. What the move would bring to light stays hidden.
    """
    hot = await known_game(tables, principal, game_id)
    seat = _seat_asked(hot.game, principal, decision_id)
    try:
        Draft(hot).carry_out(Answer(seat, decision_id, move), "player", new_uuid())
    except Refused as refused:
        return refused
    return None


async def hints(tables: Tables, principal: Principal, game_id: str) -> tuple[Hot, tuple[Hint, ...]]:
    """Tells what a bot of level normal would answer in the player's place; it sees the player's view only."""
    hot, seat = await watched_game(tables, principal, game_id)
    if seat is None:
        raise NotSeated
    if not hot.game.hints:
        raise HintsForbidden
    view = view_for(hot.game, seat, hot.asked(seat))
    asked = [decision.decision_id for decision in view.decisions]
    return hot, tuple(Hint(each, choose(view, each, hot.game.rules, "normal")) for each in asked)


def asked_by(principal: Principal, plan: Plan) -> Plan:
    """Is the plan of a player: who may not know of the game is told so, who sees it late not how far it is."""

    def asked(draft: Draft) -> None:
        refuse_unknown(draft.game, principal)
        try:
            plan(draft)
        except (Refused, OtherVersion) as refusal:
            raise RefusedUnseen(refusal) if sees_late(draft.game, principal) else refusal from None
        refuse_restless(draft)

    return asked


def refuse_restless(draft: Draft) -> None:
    """Lets nobody sit down again and again, nor the opener seat bots so: a game's log would grow without end.

    Errors: TooManySeatings.
    """
    for new in draft.events:
        if _is_seating(new):
            before = sum(_is_seating(each) and _seated(each) == _seated(new) for each in draft.hot.events)
            if before >= SEATINGS_AT_MOST:
                raise TooManySeatings


def _is_seating(told: NewEvent | Recorded) -> bool:
    return isinstance(told.event, SeatChanged) and told.event.controller != "open" and told.actor == "player"


def _seated(told: NewEvent | Recorded) -> str | None:
    """Gives who has sat down; nobody for a bot, but for one that sits in for somebody."""
    return told.event.player_id if isinstance(told.event, SeatChanged) else None


def refuse_other_version(draft: Draft, made_for: Versions | None) -> None:
    """Raises OtherVersion where the game is not at a version that the request was made for."""
    if made_for is not None and draft.game.version not in made_for:
        raise OtherVersion


def own_seat(game: Game, principal: Principal) -> int:
    """Finds the player's seat; raises NotSeated."""
    seat = seat_held_by(game, principal.player_id)
    if seat is None:
        raise NotSeated
    return seat


def seat_at(game: Game, seat: int) -> Seat:
    """Gives one of a game's seats. Errors: Refused where there is none such."""
    if not 0 <= seat < len(game.seats):
        raise Refused(SeatNotFound(seat))
    return game.seats[seat]


def refuse_unless_own(game: Game, seat: int, principal: Principal) -> None:
    """Lets only the player pass who holds this seat.

    Errors: Refused where there is none such; NotSeated, NotYourDecision.
    """
    seat_at(game, seat)
    if own_seat(game, principal) != seat:
        raise NotYourDecision


def refuse_unless_opener(game: Game, principal: Principal) -> None:
    """Lets only the player pass who has opened the game. Errors: NotYourGame."""
    if game.opened_by != principal.player_id:
        raise NotYourGame


def _seat_asked(game: Game, principal: Principal, decision_id: str) -> int:
    """Gives the player's seat, which answers. Errors: NotSeated, NotYourDecision where another one is asked."""
    seat = own_seat(game, principal)
    if seat_named(decision_id) not in (None, seat):
        raise NotYourDecision
    return seat
