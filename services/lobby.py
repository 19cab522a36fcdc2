"""Finding games, and what became of players: answered from the read models.

Lists show what was projected, and beside it, fresh from the log, every game that was opened, started, finished or
changed hands since: whoever has just opened a game finds it, whichever process answers. Everything else in a list may
be a moment late.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from msgspec import Struct

from domain.state import Status
from services.listings import ListedGame, PlayerResult, Standing, ended_at, listed_game
from services.paging import page_of
from services.ports import Accounts, Principal
from services.ratings import Rating
from services.rendering import seat_held_by
from services.seeing import as_listed, sees_late
from services.tables import Tables

LISTED_AT_MOST = 100  # games of a page, and games that are read from the log for it
RESULTS_SHOWN = 20


class GameFilter(Struct, frozen=True):
    """Which games to list; None where it does not matter.

    mine: with a seat of the player's, also where a bot plays it for them, or an invitation while they wait.
    """

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


class Rated(Struct, frozen=True):
    """A player's rating in a ruleset."""

    player_id: str
    ruleset: str
    rating: Rating


class Lobby(Protocol):
    """The read models, as they are served."""

    async def page(self, player_id: str, wanted: GameFilter, before: str | None, limit: int) -> Page:
        """Lists up to `limit` games that are older than `before`."""
        ...

    async def standings(self, player_id: str) -> list[Standing]:
        """Sums up a player's public games, by ruleset in alphabetical order; delayed ones when their end is told."""
        ...

    async def results(self, player_id: str, limit: int) -> list[PlayerResult]:
        """Lists a player's finished public games, the newest first; delayed ones when their end is told."""
        ...

    async def ratings(self, player_id: str) -> list[Rated]:
        """Lists a player's ratings, by ruleset in alphabetical order."""
        ...

    async def leaderboard(self, ruleset: str, below: tuple[float, str] | None, limit: int) -> list[Rated]:
        """Lists up to `limit` rated players, the best first, from below an ordinal and, of equal ones, a player."""
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
            listed = listed_game(hot.game, hot.events[0].occurred_at, ended_at(reversed(hot.events)))
            if is_wanted(listed, principal.player_id, wanted, tables.now()):
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


def is_wanted(game: ListedGame, player_id: str, wanted: GameFilter, now: datetime) -> bool:
    """Tells whether a list has the game: the player may know of it, and what they may know passes the filter."""
    is_seated = seat_held_by(game, player_id) is not None
    is_own = any(seat.player_id == player_id for seat in game.seats)
    is_invited = player_id in game.invited
    is_untold = game.told_at is not None and now < game.told_at and not is_seated
    return (
        (game.visibility == "public" or game.opened_by == player_id or is_own or is_invited)
        and wanted.status in (None, "playing" if is_untold else game.status)
        and wanted.ruleset in (None, game.rules.name)
        and (is_own or (is_invited and game.status == "waiting") or not wanted.mine)
    )


async def leaderboard(
    lobby: Lobby, accounts: Accounts, ruleset: str, below: tuple[float, str] | None, limit: int
) -> tuple[list[tuple[Rated, str]], tuple[float, str] | None]:
    """Lists the rated players of a ruleset with their names, the best first, and where the next page begins.

    Who has been forgotten is left out, so that a page may be short while there is a next one.
    """
    found = await lobby.leaderboard(ruleset, below, limit + 1)
    page, cursor = page_of(found, limit, lambda each: (each.rating.ordinal, each.player_id))
    names = await accounts.names([each.player_id for each in page])
    shown = [(each, names[each.player_id]) for each in page if each.player_id in names]
    return shown, cursor
