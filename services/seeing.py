"""Who may see what of a game, and how late.

A private game is unknown to everybody but its opener and its players; without spectators, so is the table of a game
to those who do not sit at it.
"""

from datetime import timedelta

from domain.events import GameStarted, SeatChanged
from domain.state import Game, is_over
from services.hot import Hot
from services.listings import ListedGame
from services.outcomes import Denied, GameNotFound
from services.ports import Principal
from services.rendering import seat_held_by
from services.tables import Tables


class NotSeated(Denied):
    """Only those who sit at this table may do or see this."""


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
    game = hot.game
    seat = seat_held_by(game, principal.player_id)
    if seat is not None:
        return hot, seat
    if game.spectators == "none" and game.opened_by != principal.player_id and not has_played(hot, principal):
        raise NotSeated
    return as_listed(tables, hot, principal), None


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
