"""For those who run the server, with the scope `operate`: games and players are looked into and mended.

Every change, and every look into hands, is noted with its operator before it happens; a table that plays is told.
"""

import re

from api.admin_shapes import (
    AdminEventsQuery,
    AdminGamePage,
    AdminGamesQuery,
    AdminPlayer,
    AdminPlayerPage,
    DeedBody,
    DeedPage,
    DeedsQuery,
    PlayersQuery,
    ReasonRequest,
)
from api.calls import Answer, Call, EmptyBody, KeyedCall, NoQuery
from api.house import House
from api.lobby import as_it_is, shown
from api.log import event_page
from api.paths import game_id_of, player_id_of, seat_of
from api.requests import cursor_of, invalid, strange_cursor
from api.shapes import BotRequest, EventPage
from api.texts import refuse_unshowable
from services import operating
from services.ids import uuid_of
from services.looking import GameLook, line_of, look_at
from services.paging import page_of
from services.rendering import GameBody, names_at, timestamp, timestamp_if_any


async def list_games(house: House, call: Call[AdminGamesQuery, None]) -> Answer[AdminGamePage]:
    """Lists games of all players, private ones too, the newest first.

    A game that was opened a moment ago may still be missing; adminGetGame finds it.
    """
    query = call.query
    for name, prefix, given in (("game_id", "gam", query.game_id), ("player_id", "ply", query.player_id)):
        if given is not None and uuid_of(prefix, given) is None:
            raise invalid("query", name, "invalid_value", f"This is no id that begins with {prefix}_.")
    sought = operating.GamesSought(query.game_id, query.player_id, query.status, query.stalled)
    found = await house.desk.games(sought, cursor_of(query.cursor, "gam"), query.limit + 1)
    page, cursor = page_of(found, query.limit, lambda game: game.game_id)
    return Answer(AdminGamePage(tuple(map(line_of, page)), cursor))


async def get_game(house: House, call: Call[NoQuery, None]) -> Answer[GameLook]:
    """Shows a game from outside: how far it is, who sits where, what it waits for, what is due. No hand is shown."""
    game_id = game_id_of(call.path)
    return Answer(await look_at(house.tables, house.accounts, house.desk, game_id, await house.now()))


async def read_log(house: House, call: Call[AdminEventsQuery, None]) -> Answer[EventPage]:
    """Tells a game with all hands open, running or not. While it is played, each reading is told to all seats.

    The event `operator_acted` with `log_read` is written before anything is shown, and is itself the last event that
    can be read: pages end where `next_after` is `head_version`. The stock of the round that is played, and all
    secrets that are not revealed, are shown to nobody.
    """
    after, limit = call.query.after, call.query.limit
    hot, upto = await operating.read_log(house.tables, house.desk, call.caller.player_id, game_id_of(call.path))
    names = await names_at(house.accounts, [hot.game], hot.events)
    return Answer(event_page(operating.render_log(hot, upto, after, limit, names), after, upto))


async def end_game(house: House, call: KeyedCall[NoQuery, ReasonRequest]) -> Answer[GameBody]:
    """Ends a game that waits or is played: `operator_acted` and `game_cancelled`; nobody wins it."""
    game_id, reason = game_id_of(call.path), _reason(call.body)
    outcome = await operating.end_game(house.tables, house.desk, call.caller.player_id, game_id, reason, call.request)
    return await shown(house, call.caller, house.tables.in_memory(game_id), outcome)


async def unstick_game(house: House, call: KeyedCall[NoQuery, EmptyBody]) -> Answer[GameBody]:
    """Writes anew what is due in a game, so that it is handed out again, and does it at once where its time has come.

    For a game that stands still although something is due; a game that goes on takes no harm.
    """
    game_id = game_id_of(call.path)
    outcome = await operating.unstick_game(
        house.tables, house.desk, call.caller.player_id, game_id, call.request, house.secrets, house.now
    )
    return await shown(house, call.caller, house.tables.in_memory(game_id), outcome)


async def seat_bot(house: House, call: Call[NoQuery, BotRequest]) -> Answer[GameBody]:
    """Seats a bot for a person who is away from a game that is played; they may reclaim the seat at any time."""
    game_id, seat = game_id_of(call.path), seat_of(call.path)
    hot = await operating.seat_bot(house.tables, house.desk, call.caller.player_id, game_id, seat, call.body.level)
    return await as_it_is(house, call.caller, hot)


async def list_players(house: House, call: Call[PlayersQuery, None]) -> Answer[AdminPlayerPage]:
    """Finds players by a part of their name, the newest first."""
    query = call.query
    found = await house.desk.players(query.name, cursor_of(query.cursor, "ply"), query.limit + 1)
    page, cursor = page_of(found, query.limit, lambda player: player.player_id)
    return Answer(AdminPlayerPage(tuple(map(_player, page)), cursor))


async def get_player(house: House, call: Call[NoQuery, None]) -> Answer[AdminPlayer]:
    """Shows a player as an operator sees them."""
    return Answer(_player(await operating.find_player(house.desk, player_id_of(call.path))))


async def revoke_tokens(house: House, call: Call[NoQuery, None]) -> Answer[None]:
    """Ends all tokens of a player, for ever, and switches their webhooks off. Open streams end within five seconds.

    It is for a player whose tokens somebody else has; who runs the server can give them a new one at its terminal.
    """
    player_id = player_id_of(call.path)
    await operating.revoke_tokens(house.desk, call.caller.player_id, player_id)
    house.callers.forget(player_id)
    return Answer(None)


async def suspend_player(house: House, call: Call[NoQuery, ReasonRequest]) -> Answer[AdminPlayer]:
    """Shuts a player out: their tokens speak for nobody until they are let in again. Their seats stay theirs."""
    player_id, reason = player_id_of(call.path), _reason(call.body)
    found = await operating.suspend_player(house.desk, call.caller.player_id, player_id, reason)
    house.callers.forget(player_id)
    return Answer(_player(found))


async def resume_player(house: House, call: Call[NoQuery, None]) -> Answer[AdminPlayer]:
    """Lets a suspended player in again, with the tokens they had."""
    return Answer(_player(await operating.resume_player(house.desk, call.caller.player_id, player_id_of(call.path))))


async def list_deeds(house: House, call: Call[DeedsQuery, None]) -> Answer[DeedPage]:
    """Lists what operators have asked for, the latest first: who, when, of which game or player, and why."""
    found = await house.desk.deeds(_deed_number(call.query.cursor), call.query.limit + 1)
    page, next_cursor = page_of(found, call.query.limit, lambda deed: str(deed.number))
    items = tuple(
        DeedBody(deed.number, timestamp(deed.at), deed.what, deed.operator, deed.game_id, deed.player_id, deed.reason)
        for deed in page
    )
    return Answer(DeedPage(items, next_cursor))


def _deed_number(cursor: str | None) -> int | None:
    """Reads the cursor of the list of deeds. Errors: Failed for what is none."""
    if cursor is None:
        return None
    if not re.fullmatch("[1-9][0-9]{0,8}", cursor, re.ASCII):
        raise strange_cursor()
    return int(cursor)


def _reason(body: ReasonRequest) -> str:
    refuse_unshowable(body.reason, "/reason")
    return body.reason


def _player(found: operating.FoundPlayer) -> AdminPlayer:
    suspended_at = timestamp_if_any(found.suspended_at)
    return AdminPlayer(found.player_id, found.name, timestamp(found.created_at), suspended_at, found.tokens)
