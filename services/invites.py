"""Invites: a code that lets whoever has it sit down at a game, private or not, or take over a person's hand."""

import secrets
from datetime import datetime
from typing import Protocol
from uuid import UUID

from msgspec import Struct

from domain.commands import TableCommand, TakeSeat
from domain.refusals import GameFinished, Refused, RuleBroken, SeatNotFound, SeatNotHeld
from domain.state import Game, is_over
from services.games import NotYourDecision, RefusedUnseen, own_seat, refuse_restless
from services.hot import Hot
from services.ids import ALPHABET, new_uuid
from services.outcomes import Denied, Outcome
from services.ports import KeyedRequest, Principal, Reservations
from services.rendering import seat_held_by
from services.reserving import reserved_id
from services.seats import handing_over
from services.seeing import NotSeated, as_listed, known_game, sees_late
from services.tables import Draft, Tables

CODE_LETTERS = 16  # 80 bits: found by nobody who tries
INVITES_AT_MOST = 20  # of one player to one game, whose time is not over


class NewInvite(Struct, frozen=True):
    """An invite to be kept. seat: the only one that it is for; is_hand: for the hand that lies there."""

    code: str
    game_id: str
    seat: int | None
    is_hand: bool
    made_by: str
    valid_s: int


class Invite(Struct, frozen=True):
    """A kept invite, and whether its time is over by the database's clock."""

    code: str
    game_id: str
    seat: int | None
    is_hand: bool
    made_by: str
    expires_at: datetime
    is_expired: bool = False


class Invites(Protocol):
    """The invites that are kept."""

    async def keep(self, invite_id: UUID, new: NewInvite, at_most: int) -> Invite | None:
        """Keeps an invite; where this id is kept already, gives that one.

        None where `at_most` of this player to this game can be used already.
        """
        ...

    async def kept(self, invite_id: UUID) -> Invite | None:
        """Finds an invite by its id, also one whose time is over."""
        ...

    async def find(self, code: str) -> Invite | None:
        """Finds an invite by its code, also one whose time is over."""
        ...

    async def living(self, game_id: str, made_by: str) -> int:
        """Counts a player's invites to a game whose time is not over."""
        ...

    async def forget_old(self) -> None:
        """Removes invites whose time has been over for a month."""
        ...


class InviteNotFound(Exception):
    """There is no such invite."""


class InviteExpired(Denied):
    """The time of the invite is over."""


class TooManyInvites(Exception):
    """So many of this player's invites to this game can be used that there is room for no other one."""


class GameFull(Denied):
    """No seat is open any more."""


async def invite(
    tables: Tables,
    reservations: Reservations,
    invites: Invites,
    principal: Principal,
    game_id: str,
    wanted: NewInvite,
    request: KeyedRequest,
) -> Invite:
    """Makes an invite; the same request again gives the same one, whatever has become of its maker and the game.

    Errors: NotSeated for who neither sits at the game nor has opened it, NotYourDecision for another's hand; Refused
    or RefusedUnseen for a seat that is none or a game that is over, as far as the player sees it; TooManyInvites;
    KeyReused.
    """
    try:
        await _refuse(tables, invites, principal, game_id, wanted)
    except (Denied, Refused, TooManyInvites):
        if made := await _made_before(reservations, invites, request):
            return made
        raise
    kept = await invites.keep(await reserved_id(reservations, request), wanted, INVITES_AT_MOST)
    if kept is None:
        raise TooManyInvites
    return kept


async def _refuse(tables: Tables, invites: Invites, principal: Principal, game_id: str, wanted: NewInvite) -> None:
    """Raises what speaks against an invite."""
    hot = await known_game(tables, principal, game_id)
    game = hot.game
    if wanted.seat is not None and wanted.seat >= len(game.seats):
        raise _refusal(SeatNotFound(wanted.seat), game, principal)
    if wanted.is_hand:
        if own_seat(game, principal) != wanted.seat:
            raise NotYourDecision
    elif seat_held_by(game, principal.player_id) is None and game.opened_by != principal.player_id:
        raise NotSeated
    if is_over(as_listed(tables, hot, principal).game.status):
        raise _refusal(GameFinished(), game, principal)
    if await invites.living(game_id, principal.player_id) >= INVITES_AT_MOST:
        raise TooManyInvites  # before an id is kept for the request


async def _made_before(reservations: Reservations, invites: Invites, request: KeyedRequest) -> Invite | None:
    """Finds what the same request has made; nothing where it was refused, or has died. Errors: KeyReused."""
    if not await reservations.is_kept(request):
        return None
    return await invites.kept(await reserved_id(reservations, request))


def _refusal(broken: RuleBroken, game: Game, principal: Principal) -> Exception:
    """Is the refusal; who sees the game late is not told at which version it was."""
    refused = Refused(broken)
    return RefusedUnseen(refused) if sees_late(game, principal) else refused


def new_code() -> str:
    """Makes a code that nobody guesses."""
    return "".join(secrets.choice(ALPHABET) for _ in range(CODE_LETTERS))


async def invited(invites: Invites, code: str) -> Invite:
    """Gives an invite, whoever asks. Errors: InviteNotFound, InviteExpired."""
    found = await _found(invites, code)
    if found.is_expired:
        raise InviteExpired
    return found


async def _found(invites: Invites, code: str) -> Invite:
    found = await invites.find(code)
    if found is None:
        raise InviteNotFound
    return found


async def accept(
    tables: Tables, invites: Invites, principal: Principal, code: str, request: KeyedRequest
) -> tuple[Hot, Outcome]:
    """Sits down by an invite, or takes the hand over.

    Errors: those of `invited`; GameFull; TooManySeatings; Refused.
    """
    found = await _found(invites, code)
    command_id = new_uuid()

    def plan(draft: Draft) -> None:
        command = _accepting(draft.game, found, principal)
        if command is not None:
            draft.carry_out(command, "player", command_id)
            refuse_restless(draft)

    outcome = await tables.carry_out(found.game_id, plan, request)
    return tables.in_memory(found.game_id), outcome


def _accepting(game: Game, found: Invite, principal: Principal) -> TableCommand | None:
    """Gives what an invite means now; nothing for who has sat down already."""
    if found.is_expired:
        raise InviteExpired  # here, so that a request that was heard in time is answered again later
    held = seat_held_by(game, principal.player_id)
    if found.is_hand:
        assert found.seat is not None
        if held == found.seat:
            return None
        if game.seats[found.seat].player_id != found.made_by:
            raise Refused(SeatNotHeld(found.seat))
        return handing_over(game, found.seat, principal.player_id)
    if held is not None:
        return None
    if found.seat is not None:
        return TakeSeat(found.seat, principal.player_id)
    free = [number for number, seat in enumerate(game.seats) if seat.controller == "open"]
    if not free:
        raise GameFull
    return TakeSeat(free[0], principal.player_id)
