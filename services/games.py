"""Opening games, sitting down, starting, moving: what a player may ask of the house, and who may see what.

A private game is unknown to everybody but its opener and its players; without spectators, so is the table of a game
to those who do not sit at it.
"""

import os
from collections.abc import Container
from contextlib import suppress
from datetime import timedelta
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
from domain.events import GameStarted, SeatChanged
from domain.evolve import fold
from domain.luck import link
from domain.refusals import Refused, SeatNotFound
from domain.ruleset import Ruleset
from domain.state import Game, is_over
from domain.view import view_for
from services.ids import new_uuid, public_id
from services.listings import ListedGame
from services.ports import KeyedRequest, Principal, Reservations, Secrets
from services.rendering import seat_held_by
from services.tables import Denied, Draft, GameNotFound, Hot, KeyReused, OtherVersion, Outcome, Plan, Tables


class NotSeated(Denied):
    """Only those who sit at this table may do or see this."""


class NotYourDecision(Denied):
    """The question is asked to another seat."""


class NotYourGame(Denied):
    """Only the player who opened the game may start it."""


class HintsForbidden(Denied):
    """This game is played without hints."""


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
) -> tuple[Hot, Outcome]:
    """Opens a game; the same request again gives the game that it has opened, also after a crash in between.

    Errors: FaultyRuleset before anything is kept; KeyReused.
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
    uuid, fingerprint = await reservations.reserve(request, new_uuid())
    if fingerprint != request.fingerprint:
        raise KeyReused
    game_id = public_id("gam", uuid)
    known = await tables.log.command_range(game_id, uuid)
    replayed = known is not None
    if known is None:
        await secrets.keep(game_id, seed)
        seed = await secrets.seed(game_id)
        with suppress(Refused):  # the same request has opened it in the meantime
            await tables.carry_out(game_id, lambda draft: draft.carry_out(plan(game_id), "player", uuid))
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
        if not 0 <= seat < len(draft.game.seats):
            raise Refused(SeatNotFound(seat))
        if own_seat(draft.game, principal) != seat:
            raise NotYourDecision
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
        if draft.game.opened_by != principal.player_id:
            raise NotYourGame
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
        seat = own_seat(draft.game, principal)
        if seat_named(decision_id) not in (None, seat):
            raise NotYourDecision
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
    seat = own_seat(hot.game, principal)
    if seat_named(decision_id) not in (None, seat):
        raise NotYourDecision
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
    view = view_for(hot.game, seat)
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

    return asked


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


async def known_game(tables: Tables, principal: Principal, game_id: str) -> Hot:
    """Gives a game that the player may know of; raises GameNotFound."""
    hot = await tables.fresh(game_id)
    refuse_stranger(tables, hot, principal)
    return hot


def refuse_stranger(tables: Tables, hot: Hot, principal: Principal) -> None:
    """Raises GameNotFound for a game that the player may not know of, nor has played, as far as they may see it."""
    if not may_know(hot.game, principal) and not has_played(as_listed(tables, hot, principal), principal):
        raise GameNotFound


def refuse_unknown(game: Game, principal: Principal) -> None:
    """Raises GameNotFound for a game that the player may not know of."""
    if not may_know(game, principal):
        raise GameNotFound


async def watched_game(tables: Tables, principal: Principal, game_id: str) -> tuple[Hot, int | None]:
    """Gives a game whose table the player may see, as far as they may, and their seat.

    Errors: GameNotFound, NotSeated.
    """
    return as_seen(tables, await known_game(tables, principal, game_id), principal)


def as_seen(tables: Tables, hot: Hot, principal: Principal) -> tuple[Hot, int | None]:
    """Gives what of a game the player may see now: with delayed spectators its past. Errors: NotSeated."""
    seat = seat_held_by(hot.game, principal.player_id)
    is_closed = hot.game.spectators == "none" and hot.game.opened_by != principal.player_id
    if seat is None and is_closed and not has_played(hot, principal):
        raise NotSeated
    return as_listed(tables, hot, principal), seat


def as_listed(tables: Tables, hot: Hot, principal: Principal) -> Hot:
    """Gives the game of some time ago to who sees it so late, else as it is."""
    if not sees_late(hot.game, principal):
        return hot
    return hot.until(tables.now() - timedelta(seconds=hot.game.spectator_delay_s))


def sees_late(game: Game | ListedGame, principal: Principal) -> bool:
    """Tells whether the player sees the game as it was some time ago."""
    return game.spectators == "delayed" and seat_held_by(game, principal.player_id) is None


def may_know(game: Game, principal: Principal) -> bool:
    """Tells whether the player may know that the game exists."""
    return (
        game.visibility == "public"
        or game.opened_by == principal.player_id
        or principal.player_id in game.invited
        or any(seat.player_id == principal.player_id for seat in game.seats)
    )


def has_played(hot: Hot, principal: Principal) -> bool:
    """Tells whether a game is over in which the player has held a hand, whoever held it in the end."""
    if not is_over(hot.game.status):
        return False
    sitting: dict[int, str | None] = {}
    is_played = False
    for recorded in hot.events:
        match recorded.event:
            case SeatChanged(seat, controller, player_id):
                sitting[seat] = player_id if controller == "human" else None
            case GameStarted():
                is_played = True
        if is_played and principal.player_id in sitting.values():
            return True
    return False


def at_version(hot: Hot, version: int) -> Game:
    """Gives the game as it was at one of its versions, from 1."""
    if version == hot.version:
        return hot.game
    game = fold(recorded.event for recorded in hot.events[:version])
    assert isinstance(game, Game)
    return game
