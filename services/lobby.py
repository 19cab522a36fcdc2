"""Finding games, and what became of players: answered from the read models.

Lists show what was projected, and beside it, fresh from the log, every game that was opened, started, finished or
changed hands since: whoever has just opened a game finds it, whichever process answers. Everything else in a list may
be a moment late.
"""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from domain.state import Status
from services.games import as_listed, sees_late
from services.ports import Principal
from services.projections import ListedGame, PlayerResult, Standing, listed_game
from services.rendering import seat_held_by
from services.tables import Tables

LISTED_AT_MOST = 100  # games of a page, and games that are read from the log for it
RESULTS_SHOWN = 20


class GameFilter(Struct, frozen=True):
    """Which games to list; None where it does not matter."""

    status: Status | None = None
    ruleset: str | None = None
    mine: bool = False


class Page(Struct, frozen=True):
    """Games as they were projected, the newest first, all that the player may know of.

    unprojected: games that must be read from the log instead, among them some that the list does not want.
    last_id: the oldest game of the page; None where no older one is wanted.
    """

    games: tuple[ListedGame, ...]
    unprojected: tuple[str, ...]
    last_id: str | None


class Lobby(Protocol):
    """The read models, as they are served."""

    async def page(self, player_id: str, wanted: GameFilter, before: str | None, limit: int) -> Page:
        """Lists up to `limit` games that are older than `before`."""
        ...

    async def standings(self, player_id: str) -> list[Standing]:
        """Sums up a player's public games, by ruleset in alphabetical order."""
        ...

    async def results(self, player_id: str, limit: int) -> list[PlayerResult]:
        """Lists a player's finished public games, the newest first."""
        ...


async def list_games(
    lobby: Lobby, tables: Tables, principal: Principal, wanted: GameFilter, before: str | None, limit: int
) -> tuple[Sequence[ListedGame], str | None]:
    """Lists games that the player may know of, the newest first, and the cursor of the next page.

    A page may be short, even empty, while its cursor is not None: more may follow.
    """
    page = await lobby.page(principal.player_id, wanted, before, limit)
    found = {game.game_id: game for game in page.games}
    for game_id in page.unprojected:
        found.pop(game_id, None)
        if (before is None or game_id < before) and (page.last_id is None or game_id >= page.last_id):
            hot = await tables.fresh(game_id)
            listed = listed_game(hot.game, hot.events[0].occurred_at)
            if is_wanted(listed, principal.player_id, wanted):
                found[game_id] = listed
    games = [found[game_id] for game_id in sorted(found, reverse=True)]
    shown = [await _as_listed(tables, principal, game) for game in games[:limit]]
    cursor = games[limit - 1].game_id if len(games) > limit else page.last_id
    return [game for game in shown if wanted.status in (None, game.status)], cursor


async def _as_listed(tables: Tables, principal: Principal, game: ListedGame) -> ListedGame:
    """Gives a game with delayed spectators as it was some time ago, to those who do not sit at it."""
    if not sees_late(game, principal):
        return game
    hot = as_listed(tables, await tables.fresh(game.game_id), principal)
    return listed_game(hot.game, hot.events[0].occurred_at)


def is_wanted(game: ListedGame, player_id: str, wanted: GameFilter) -> bool:
    """Tells whether a list has the game: the player may know of it, and it passes the filter."""
    is_seated = seat_held_by(game, player_id) is not None
    return (
        (game.visibility == "public" or game.opened_by == player_id or is_seated)
        and wanted.status in (None, game.status)
        and wanted.ruleset in (None, game.rules.name)
        and (is_seated or not wanted.mine)
    )
