"""Who sits where: leaving, bots, handing over, coming back, invites; cancelling, and playing again."""

from bisect import bisect_right
from datetime import datetime, timedelta

from msgspec import Struct

from api.calls import Answer, Call, EmptyBody, KeyedCall, NoQuery
from api.house import House
from api.lobby import as_it_is, opened, replay_header, shown
from api.paths import game_id_of, seat_of
from api.requests import invalid
from api.shapes import BotRequest, HandoverRequest, InviteRequest
from services import invites, seats
from services.ports import Principal
from services.rendering import GameBody, timestamp
from services.seeing import as_listed


class InviteBody(Struct, frozen=True):
    """An invite and the game that it is for. is_hand: it gives the hand on `seat`, not just a place."""

    code: str
    game_id: str
    seat: int | None
    is_hand: bool
    expires_at: str
    game: GameBody


async def leave_seat(house: House, call: Call[NoQuery, None]) -> Answer[GameBody]:
    """Gives up the own seat of a game that waits. Doing it again changes nothing."""
    hot = await seats.leave_seat(house.tables, call.caller, game_id_of(call.path), seat_of(call.path))
    return await as_it_is(house, call.caller, hot)


async def cancel_game(house: House, call: KeyedCall[NoQuery, EmptyBody]) -> Answer[GameBody]:
    """Cancels a game that waits; only its opener may."""
    hot, outcome = await seats.cancel_game(house.tables, call.caller, game_id_of(call.path), call.request)
    return await shown(house, call.caller, hot, outcome)


async def rematch(house: House, call: KeyedCall[NoQuery, EmptyBody]) -> Answer[GameBody]:
    """Opens the same game once more: the caller and the bots sit where they sat, the other seats are open.

    Whoever played the old game may know of the new one. It waits for its start by the caller.
    """
    new = await seats.rematch_of(house.tables, call.caller, game_id_of(call.path))
    return await opened(house, call.caller, new, call.request)


async def seat_bot(house: House, call: Call[NoQuery, BotRequest]) -> Answer[GameBody]:
    """Seats a bot: while the game waits its opener, where no person sits; later a player, in their own place.

    Doing it again changes nothing but the level, where it is another one.
    """
    game_id, seat = game_id_of(call.path), seat_of(call.path)
    hot = await seats.seat_bot(house.tables, call.caller, game_id, seat, call.body.level)
    return await as_it_is(house, call.caller, hot)


async def remove_bot(house: House, call: Call[NoQuery, None]) -> Answer[GameBody]:
    """Removes a bot: while the game waits its opener; later the player in whose place it sits, who plays on.

    Doing it again changes nothing.
    """
    hot = await seats.remove_bot(house.tables, call.caller, game_id_of(call.path), seat_of(call.path))
    return await as_it_is(house, call.caller, hot)


async def abandon_seat(house: House, call: KeyedCall[NoQuery, EmptyBody]) -> Answer[GameBody]:
    """Leaves a game that is played: a bot plays on and the seat can be reclaimed, or it is out, as the rules say."""
    game_id, seat = game_id_of(call.path), seat_of(call.path)
    hot, outcome = await seats.abandon_seat(house.tables, call.caller, game_id, seat, call.request)
    return await shown(house, call.caller, hot, outcome)


async def reclaim_seat(house: House, call: KeyedCall[NoQuery, EmptyBody]) -> Answer[GameBody]:
    """Takes the own seat back from a bot, in any phase."""
    game_id, seat = game_id_of(call.path), seat_of(call.path)
    hot, outcome = await seats.reclaim_seat(house.tables, call.caller, game_id, seat, call.request)
    return await shown(house, call.caller, hot, outcome)


async def hand_over(house: House, call: KeyedCall[NoQuery, HandoverRequest]) -> Answer[GameBody]:
    """Gives the own hand to another player at once, in any phase; they see what the seat has seen.

    The score goes with it. Who wants the other to be asked first makes an invite with `is_hand` instead; so does
    who is told `hands_full`, as the other plays so many games already.
    """
    game_id, seat = game_id_of(call.path), seat_of(call.path)
    at_most = house.quotas.games_unfinished
    hot, outcome = await seats.hand_over(
        house.tables,
        house.accounts,
        house.lobby,
        call.caller,
        game_id,
        seat,
        call.body.player_id,
        call.request,
        at_most,
    )
    return await shown(house, call.caller, hot, outcome)


async def create_invite(house: House, call: KeyedCall[NoQuery, InviteRequest]) -> Answer[InviteBody]:
    """Makes a code: whoever has it may sit down at the game, private or not, or with `is_hand` take one's hand over.

    The same request again gives the same invite, with its game as it was then.
    """
    game_id, body = game_id_of(call.path), call.body
    if body.is_hand and body.seat is None:
        raise invalid("body", "/seat", "seat_needed", "A hand lies on a seat: say which.")
    wanted = invites.NewInvite(
        invites.new_code(), game_id, body.seat, body.is_hand, call.caller.player_id, body.valid_s
    )
    made = await invites.invite(
        house.tables, house.reservations, house.invites, call.caller, game_id, wanted, call.request
    )
    answer = await _shown_invite(house, call.caller, made, made.expires_at - timedelta(seconds=body.valid_s))
    headers = {"location": f"/v1/invites/{made.code}"}  # of another code, where it was made before
    return Answer(answer, headers | replay_header(is_replayed=made.code != wanted.code))


async def get_invite(house: House, call: Call[NoQuery, None]) -> Answer[InviteBody]:
    """Shows an invite and its game to whoever has the code."""
    found = await invites.invited(house.invites, call.path["code"])
    return Answer(await _shown_invite(house, call.caller, found))


async def accept_invite(house: House, call: KeyedCall[NoQuery, EmptyBody]) -> Answer[GameBody]:
    """Sits down, or takes the hand over. Who sits at the game already is shown it as it is."""
    hot, outcome = await invites.accept(house.tables, house.invites, call.caller, call.path["code"], call.request)
    return await shown(house, call.caller, hot, outcome)


async def _shown_invite(
    house: House, caller: Principal, found: invites.Invite, moment: datetime | None = None
) -> InviteBody:
    """Shows an invite with its game as it is now, or as it was at a moment: who asks may have no right to more."""
    hot = as_listed(house.tables, await house.tables.fresh(found.game_id), caller)
    if moment is not None:
        hot = hot.at(max(1, bisect_right(hot.events, moment, key=lambda recorded: recorded.occurred_at)))
    answer = await as_it_is(house, caller, hot)
    return InviteBody(
        code=found.code,
        game_id=found.game_id,
        seat=found.seat,
        is_hand=found.is_hand,
        expires_at=timestamp(found.expires_at),
        game=answer.shown,
    )
