"""The games of a player: those that they sit at, and those that they have opened.

Found in the read models, and beside them, fresh from the log, what was opened or changed hands since.
"""

from contextlib import suppress
from typing import Protocol

from msgspec import Struct

from domain.state import Game, is_over
from domain.view import SeatView, seat_views
from services.listings import ListedGame, people_on
from services.outcomes import GameNotFound
from services.ports import Principal
from services.rendering import seat_held_by
from services.tables import Tables

LOOKED_AT = 2_000  # of a player's games so many: first those that go on, then the newest


class OwnGame(Struct, frozen=True):
    """A game of somebody's own, or one that was projected beside these. seats: empty where it is over."""

    game_id: str
    is_over: bool
    seats: tuple[SeatView, ...] = ()

    @property
    def people(self) -> tuple[tuple[int, str], ...]:
        """Lists the seats that people hold, and who they are."""
        return tuple(people_on(self.seats))

    def is_seated(self, player_id: str) -> bool:
        """Tells whether the player sits at it."""
        return any(player == player_id for _, player in self.people)


class Projected(Struct, frozen=True):
    """A player's games as they were projected; unprojected: games of anybody that must be read from the log instead."""

    games: tuple[OwnGame, ...]
    unprojected: tuple[str, ...]


class OwnGames(Protocol):
    """The read model of who has which games."""

    async def of(self, player_id: str) -> Projected:
        """Finds the games that a player sits at or has opened, LOOKED_AT at most: first those that go on.

        Also those that they are invited to, and those where a bot sits in for them: whose seats show it.
        """
        ...


async def own_games(known: OwnGames, tables: Tables, principal: Principal) -> dict[str, OwnGame]:
    """Gives a player's games by their ids, those that are over too, and what else their read model holds.

    Cost: two statements, and a read for each game that is not projected.
    """
    projected = await known.of(principal.player_id)
    found = {game.game_id: game for game in projected.games}
    for game_id in projected.unprojected:
        found.pop(game_id, None)
        with suppress(GameNotFound):
            game = (await tables.fresh(game_id)).game
            if is_own(game, principal.player_id):
                found[game_id] = own_game(game)
    return found


def own_game(game: Game | ListedGame) -> OwnGame:
    """Gives what is kept of a game of somebody's own."""
    if is_over(game.status):
        return OwnGame(game.game_id, is_over=True)
    seats = seat_views(game) if isinstance(game, Game) else game.seats
    return OwnGame(game.game_id, is_over=False, seats=seats)


def is_own(game: Game | ListedGame, player_id: str) -> bool:
    """Tells whether a player sits at a game or has opened it."""
    return game.opened_by == player_id or seat_held_by(game, player_id) is not None
